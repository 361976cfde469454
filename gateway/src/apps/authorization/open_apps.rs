//! Determines which apps are open to a user ahead of a request: for the launchpad, and for what the
//! panel reads from an app on its own pages. The same rules apply as to a request.
use http::{HeaderMap, Method};
use portico_assertion::claims::{AppAccess, OpenApps};
use portico_request::client_address::ClientAddress;

use super::{
    Authorization,
    decide::{Asked, Decision},
};
use crate::{config::AppKind, hosts::App, sessions::live::Caller};

impl Authorization {
    /// Returns the apps of a project that are open to a user at an address.
    pub async fn open_apps(
        &self,
        project: &str,
        caller: &Caller,
        client: ClientAddress,
    ) -> OpenApps {
        let mut open = OpenApps::new();
        for app in self.hosts.of_project(project) {
            if let Some(access) = self.access_to(app, caller, client).await {
                open.insert(app.config.id.clone(), access);
            }
        }
        open
    }

    /// Returns the user's access to an app; `None` without access.
    pub async fn access_to(
        &self,
        app: &App,
        caller: &Caller,
        client: ClientAddress,
    ) -> Option<AppAccess> {
        let path = app.config.first_path();
        let headers = HeaderMap::new();
        let asked = Asked {
            method: &Method::GET,
            path: &path,
            headers: &headers,
            client,
        };
        match self.weigh(app, &asked, Some(caller)).await {
            Ok((Decision::Open(_) | Decision::Public, _)) => {
                // the panel reads more paths of a registry than the first one
                let deeper = app.config.kind == AppKind::Registry
                    && self.rules.of(app).distinguishes_paths(&Method::GET);
                Some(if deeper {
                    AppAccess::InPart
                } else {
                    AppAccess::Open
                })
            }
            Ok((Decision::SignInAgain(_), _)) => Some(AppAccess::SignInAgain),
            Ok((Decision::Refused(_) | Decision::SignIn | Decision::Preflight, _)) => None,
            Err(_) => Some(AppAccess::Unknown),
        }
    }
}
