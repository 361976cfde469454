//! Passes the user's own cluster token to apps that call the cluster's API server on the user's
//! behalf.
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use portico_domain::identity::Project;
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Stopped, UpstreamIdentity,
    credential::authorization,
    refusal::{Refusal, of_session},
};
use crate::{
    clusters::{Cluster, project_at},
    config::IdentityFault,
    hosts::App,
    sessions::live::{Caller, ProjectToken},
};

/// Returns the cluster with an ID, or with a name that only one cluster has.
pub(super) fn find(clusters: &[Cluster], named: &str) -> Result<Uuid, IdentityFault> {
    let id: Option<Uuid> = named.parse().ok();
    let mut found = clusters
        .iter()
        .map(|cluster| &cluster.record)
        .filter(|record| record.name == named || Some(record.id) == id)
        .map(|record| record.id);
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        _ => Err(IdentityFault::Cluster(named.to_owned())),
    }
}

impl UpstreamIdentity {
    /// Returns a bearer token for the cluster, and until when it is used: two thirds of its
    /// lifetime at most. It is the same token as a command line gets, and ends with the session.
    pub(super) async fn cluster_bearer(
        &self,
        app: &App,
        caller: &Caller,
        cluster: Uuid,
        token: Option<&ProjectToken>,
    ) -> Result<((HeaderName, HeaderValue), Instant), Stopped> {
        let cluster = self
            .cluster_tokens
            .clusters
            .find(cluster)
            .ok_or(Refusal::NoCluster)?;
        if !caller.live.root().has_keystone() {
            return Err(Refusal::NoKeystone.into());
        }
        let project = project_for(&cluster, caller, token)
            .ok_or_else(|| Refusal::NoProject(cluster.record.name.clone()))?;
        let now = self.clock.now();
        let sealed = self
            .cluster_tokens
            .cluster_token(&of_session(caller), caller, &cluster, &project)
            .await?;
        tracing::debug!(upstream = app.config.id, cluster_id = %cluster.record.id, "a cluster token");
        let left = sealed.expires_at.as_second() - now.as_second();
        let used_for = Duration::from_secs(u64::try_from(left * 2 / 3).unwrap_or_default());
        let bearer = authorization("Bearer", sealed.token.expose_secret())?;
        Ok((bearer, Instant::now() + used_for))
    }
}

/// Returns the project that gave access to the app, where the cluster accepts it; else the one used
/// last.
fn project_for(
    cluster: &Cluster,
    caller: &Caller,
    token: Option<&ProjectToken>,
) -> Option<Project> {
    token
        .map(|token| &token.project)
        .filter(|project| cluster.record.accepts_project(project))
        .cloned()
        .or_else(|| project_at(cluster, &caller.live))
}
