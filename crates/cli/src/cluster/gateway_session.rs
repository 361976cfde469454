//! The cloud's services by the session of `portico login` (ADR 0026): the gateway gets Portico's access
//! token, and the panel calls the services with the user's own Keystone token.
use super::error::ClusterError;
use crate::direct::CloudAccess;
use crate::error::CommandError;
use crate::profile::{self, Profile};
use crate::session::Session;
use portico_clock::Clock;
use portico_domain::identity::Project;
use portico_domain::panel::lifecycle::{
    DeleteProtection, EnrolmentOutcome, EnrolmentState, RemovedRecord,
};
use portico_openstack::keystone::{Catalog, CatalogEndpoint};
use portico_openstack::rest::{
    Authentication, BuildError, RestClient, ScopedToken, Service, ServiceOptions,
};
use secrecy::SecretString;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use url::Url;
use uuid::Uuid;

/// The lifetime that is left of the token with which a command begins.
const TOKEN_AHEAD_SECONDS: i64 = 120;
/// Time limits for calls. Each is longer than the panel's own for the service, so that the panel reports
/// which of them did not answer.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const CHANGE_TIMEOUT: Duration = Duration::from_secs(90);

/// The gateway and the project that a command uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayChoice {
    /// The URL; `None`: the only one that this machine has signed in at.
    pub gateway: Option<String>,
    /// A name or an ID; `None`: the only one of the session.
    pub project: Option<String>,
    /// Why something is changed.
    pub reason: Option<String>,
}

/// The session at a gateway, in one project.
pub struct GatewaySession {
    session: Session,
    project_id: String,
    /// Why something is changed.
    reason: Option<String>,
}

impl GatewaySession {
    /// Opens the session, and returns it with the access to the services.
    ///
    /// # Errors
    /// If this machine has no session, or the gateway has ended it or does not respond;
    /// [`ClusterError::Usage`] if the project is not one of the session, or one has to be named.
    pub async fn open(
        wanted: GatewayChoice,
        clock: &Clock,
    ) -> Result<(Self, CloudAccess), ClusterError> {
        let profile = Profile::choose(wanted.gateway.as_deref())?;
        let gateway = profile.gateway.clone();
        let authority = profile.ca.clone();
        let mut session = Session::new(profile, clock)?;
        let project = project(session.whoami().await?.projects, wanted.project.as_deref())?;
        let token = ScopedToken {
            token: session.access_token(TOKEN_AHEAD_SECONDS).await?,
            project_id: project.id.clone(),
            catalog: Arc::new(catalog(&gateway, &project.id)),
        };
        let access = CloudAccess {
            cloud: profile::display(&gateway),
            token,
            rest: client(wanted.reason.clone(), authority.as_deref()).map_err(unusable)?,
            gateway: Some(gateway),
        };
        let project_id = project.id;
        Ok((
            Self {
                session,
                project_id,
                reason: wanted.reason,
            },
            access,
        ))
    }

    /// Returns another token in place of one that was refused or is about to end.
    ///
    /// # Errors
    /// If the session has ended, or the gateway does not respond.
    pub async fn replace_token(&mut self) -> Result<SecretString, CommandError> {
        self.session.replace_token().await
    }

    /// Returns the journal of a cluster as JSON lines, the oldest entry first: the whole, or what follows a
    /// sequence number.
    ///
    /// # Errors
    /// If the gateway or the panel refuses, or does not respond.
    pub async fn journal(
        &mut self,
        cluster: Uuid,
        after: Option<i64>,
    ) -> Result<String, CommandError> {
        let project = &self.project_id;
        let path = format!("/projects/{project}/cloud/portico/clusters/{cluster}/journal.jsonl");
        let mut url = self.session.endpoint(&path);
        if let Some(after) = after {
            url.query_pairs_mut()
                .append_pair("after", &after.to_string());
        }
        self.session.text(url).await
    }

    /// Returns whether a cluster is protected from deletion in Portico.
    ///
    /// # Errors
    /// As [`Self::journal`].
    pub async fn protection(&mut self, cluster: Uuid) -> Result<DeleteProtection, CommandError> {
        let url = self.protection_url(cluster);
        self.session.get(url).await
    }

    /// Protects a cluster of this name from deletion, or removes its protection.
    ///
    /// # Errors
    /// As [`Self::journal`].
    pub async fn set_protection(
        &mut self,
        cluster: Uuid,
        name: &str,
        is_on: bool,
    ) -> Result<DeleteProtection, CommandError> {
        let url = self.protection_url(cluster);
        let body = json!({"is_on": is_on, "name": name});
        self.session.put(url, &body, self.reason.as_deref()).await
    }

    /// Returns whether a cluster of the project can be used through Portico; changes nothing.
    ///
    /// # Errors
    /// As [`Self::journal`].
    pub async fn enrolment(&mut self, cluster: Uuid) -> Result<EnrolmentState, CommandError> {
        let url = self.enrolment_url(cluster);
        self.session.get(url).await
    }

    /// Enrols a cluster of the project, so that it can be used through Portico. It is safe to call it again.
    ///
    /// # Errors
    /// As [`Self::journal`]. Refusals, and that it is too early, are in the answer.
    pub async fn enrol(&mut self, cluster: Uuid) -> Result<EnrolmentOutcome, CommandError> {
        let url = self.enrolment_url(cluster);
        let reason = self.reason.as_deref();
        self.session.put_slowly(url, reason, CHANGE_TIMEOUT).await
    }

    /// Removes the record of an enrolled cluster that Magnum no longer has.
    ///
    /// # Errors
    /// As [`Self::journal`]; the refusal while Magnum still has the cluster.
    pub async fn remove_record(&mut self, cluster: Uuid) -> Result<RemovedRecord, CommandError> {
        let url = self.enrolment_url(cluster);
        self.session.delete(url).await
    }

    fn enrolment_url(&self, cluster: Uuid) -> Url {
        let project = &self.project_id;
        let path = format!("/projects/{project}/cloud/portico/clusters/{cluster}/enrolment");
        self.session.endpoint(&path)
    }

    fn protection_url(&self, cluster: Uuid) -> Url {
        let project = &self.project_id;
        let path = format!("/projects/{project}/cloud/portico/clusters/{cluster}/protection");
        self.session.endpoint(&path)
    }
}

/// Returns the services of the gateway in the place of the cloud's catalogue.
fn catalog(gateway: &Url, project_id: &str) -> Catalog {
    let endpoints = Service::ALL.into_iter().filter_map(|service| {
        let mut url = gateway.clone();
        let path = service.gateway_path();
        url.set_path(&format!("/projects/{project_id}/cloud/{path}"));
        Some(CatalogEndpoint {
            service_type: (*service.types().first()?).to_owned(),
            interface: "public".to_owned(),
            region: None,
            url,
        })
    });
    Catalog {
        endpoints: endpoints.collect(),
    }
}

fn client(reason: Option<String>, authority: Option<&str>) -> Result<RestClient, BuildError> {
    let options = ServiceOptions {
        timeout: READ_TIMEOUT,
        change_timeout: CHANGE_TIMEOUT,
        authentication: Authentication::Gateway { reason },
        ..ServiceOptions::default()
    };
    RestClient::for_command_line(options, authority)
}

fn unusable(error: BuildError) -> ClusterError {
    ClusterError::Usage(error.to_string())
}

/// Returns the project with this name or ID, or the only one.
fn project(mut all: Vec<Project>, wanted: Option<&str>) -> Result<Project, ClusterError> {
    let names = |all: &[Project]| {
        let names: Vec<_> = all.iter().map(|one| crate::one_line(&one.name)).collect();
        names.join(", ")
    };
    let Some(wanted) = wanted else {
        return match (all.pop(), all.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(ClusterError::Usage(
                "you have no role in any project: ask a project administrator for access"
                    .to_owned(),
            )),
            (Some(last), false) => {
                all.push(last);
                Err(ClusterError::Usage(format!(
                    "you have a role in several projects ({}): name one with --project",
                    names(&all)
                )))
            }
        };
    };
    if let Some(found) = all.iter().find(|one| one.id == wanted) {
        return Ok(found.clone());
    }
    let known = names(&all);
    all.retain(|one| one.name == wanted);
    match (all.pop(), all.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(ClusterError::Usage(format!(
            "you have no role in a project called {wanted}; you have one in: {known}"
        ))),
        (Some(_), false) => Err(ClusterError::Usage(format!(
            "several projects are called {wanted}: name one by its ID with --project"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::Named;

    fn of(id: &str, name: &str) -> Project {
        Project {
            id: id.to_owned(),
            name: name.to_owned(),
            domain: Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        }
    }

    fn chosen(all: &[(&str, &str)], wanted: Option<&str>) -> Result<String, String> {
        let all = all.iter().map(|(id, name)| of(id, name)).collect();
        let found = project(all, wanted);
        found
            .map(|project| project.id)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_project_is_named_unless_there_is_only_one() {
        let two = [("1", "shop"), ("2", "lab")];
        assert_eq!(chosen(&two[..1], None).as_deref(), Ok("1"));
        assert_eq!(chosen(&two, Some("lab")).as_deref(), Ok("2"));
        assert_eq!(chosen(&two, Some("1")).as_deref(), Ok("1"));
        let several = chosen(&two, None).unwrap_err();
        assert!(several.contains("shop, lab") && several.contains("--project"));
        let unknown = chosen(&two, Some("other")).unwrap_err();
        assert!(unknown.contains("shop, lab"), "{unknown}");
        assert!(chosen(&[], None).unwrap_err().contains("no role"));
        let same = [("1", "shop"), ("2", "shop")];
        assert!(chosen(&same, Some("shop")).unwrap_err().contains("its ID"));
    }

    #[test]
    fn every_service_is_below_the_project_at_the_gateway() {
        let gateway = "https://portico.example.org".parse().unwrap();
        let catalog = catalog(&gateway, "p1");
        assert_eq!(catalog.endpoints.len(), Service::ALL.len());
        for endpoint in &catalog.endpoints {
            let url = endpoint.url.as_str();
            assert!(
                url.starts_with("https://portico.example.org/projects/p1/cloud/"),
                "{url}"
            );
        }
        let options = ServiceOptions::default();
        let magnum = options.endpoint(Service::Magnum, &catalog, "p1").unwrap();
        assert_eq!(magnum.path(), "/projects/p1/cloud/container-infra/v1");
    }
}
