//! The API of the command line: its sign-in flows (loopback redirect with PKCE, device code), its
//! tokens, and what it fetches with them.
pub(crate) mod authorize;
pub(crate) mod bearer;
pub(crate) mod clusters;
pub(crate) mod device;
pub(crate) mod direct;
pub(crate) mod pkce;
pub(crate) mod revoke;
pub(crate) mod token;
pub(crate) mod whoami;

use std::sync::Arc;

use portico_clock::Clock;
use portico_openstack::keystone;
use portico_store::Store;

use crate::{
    audit::AuditLog,
    authentication::Authentication,
    clusters::{Clusters, tokens::ClusterTokens},
    hosts::Hosts,
    sessions::{Sessions, live::Live},
};

/// Serves command lines.
#[derive(Debug)]
pub(crate) struct ClientApi {
    pub clusters: Arc<Clusters>,
    pub store: Store,
    pub clock: Clock,
    pub keystone: keystone::Client,
    pub hosts: Arc<Hosts>,
    pub sessions: Arc<Sessions>,
    pub authentication: Arc<Authentication>,
    pub cluster_tokens: Arc<ClusterTokens>,
    pub audit: AuditLog,
}

/// The ID of the only client.
const CLIENT_ID: &str = "portico-cli";
const MAX_CLIENT_CHARS: usize = 80;

/// Returns a client's name in a form that is safe to show.
fn shown_client(given: &str) -> String {
    let name: String = given
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_CLIENT_CHARS)
        .collect();
    if name.trim().is_empty() {
        "portico on an unnamed machine".to_owned()
    } else {
        name
    }
}

/// Returns the names of the projects that a command line can use.
fn project_names(live: &Live) -> Vec<String> {
    live.root()
        .projects
        .iter()
        .map(|project| project.name.clone())
        .collect()
}
