//! Enrolment of a cluster that Magnum created (ADR 0022), as one run that belongs to the request of
//! one user: it reads what the cluster's record needs, and binds the pre-defined roles with a
//! certificate that Magnum signs for this user.
//!
//! The key of the certificate exists in memory until the run ends, whatever its result, and is
//! written nowhere. Each step is idempotent: a run that was interrupted is repeated with a new key.
mod access;
mod error;
mod record;
mod roles;
#[cfg(test)]
mod tests;

pub use error::EnrolmentError;

use crate::bootstrap::{self, Options, Report};
use access::RunKey;
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_openstack::{
    magnum::{self, Authority},
    rest::ScopedToken,
};
use std::time::Duration;
use uuid::Uuid;

/// Time limit for a run. A call of Magnum's that waits for its conductor takes up to 65 s.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// The roles that are bound in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultRoles {
    /// Keystone role ID that becomes a developer.
    pub developer: String,
    /// Keystone role ID that becomes a viewer.
    pub viewer: String,
    /// Namespaces left out besides `kube-*` and those labelled to opt out.
    pub exclude_namespaces: Vec<String>,
}

/// Returns why Portico may not connect to the address of an API server.
pub type AddressCheck<'a> = dyn Fn(&str) -> Result<(), String> + Send + Sync + 'a;

/// A run of one user.
pub struct Enrolment<'a> {
    pub magnum: &'a magnum::Client,
    /// The user's token; its project is the one that the cluster accepts.
    pub token: &'a ScopedToken,
    /// The user's Keystone ID, for the audit log of the cluster.
    pub user_id: &'a str,
    pub roles: &'a DefaultRoles,
    /// The projects that an earlier record of the cluster accepts; empty for a new one.
    pub accepted_projects: &'a [String],
    /// The operator's allow-list: addresses come from tenants.
    pub permit: &'a AddressCheck<'a>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Enrolled {
    /// The record to store.
    pub record: EnrolledCluster,
    /// What was bound.
    pub bindings: Report,
}

impl Enrolment<'_> {
    /// Reads the cluster and binds the roles in it. The record is the caller's to store.
    ///
    /// # Errors
    /// The step that failed; see [`EnrolmentError`]. What earlier steps have made stays.
    pub async fn run(&self, cluster: Uuid) -> Result<Enrolled, EnrolmentError> {
        // the key is dropped with the future
        tokio::time::timeout(RUN_TIMEOUT, Box::pin(self.steps(cluster)))
            .await
            .unwrap_or(Err(EnrolmentError::Timeout(RUN_TIMEOUT.as_secs())))
    }

    async fn steps(&self, cluster: Uuid) -> Result<Enrolled, EnrolmentError> {
        let found = self.magnum.cluster(self.token, cluster).await?;
        let api_url = record::api_url(&found, &self.token.project_id)?;
        (self.permit)(&api_url).map_err(EnrolmentError::Address)?;
        self.check_engine(&found).await?;
        let authority = Authority::Kubernetes;
        let ca = self
            .magnum
            .authority(self.token, cluster, authority)
            .await?;
        let record = record::record(&found, api_url, &ca)?;
        access::ensure_answers(&record).await?;
        let key = RunKey::generate()?;
        let request = key.request(self.user_id)?;
        let certificate = self
            .magnum
            .sign_certificate(self.token, cluster, &request, authority)
            .await?;
        let client = access::client(&record, Some(key.identity(&certificate)))?;
        roles::create_missing(&client).await?;
        let bindings = bootstrap::run_with(client, &self.options()).await?;
        Ok(Enrolled { record, bindings })
    }

    /// Checks that the template is one for Kubernetes. A template that the user cannot read is no
    /// obstacle: the API server shows soon enough what it is.
    async fn check_engine(&self, found: &magnum::Cluster) -> Result<(), EnrolmentError> {
        let Ok(template) = found.cluster_template_id.parse() else {
            return Ok(());
        };
        match self.magnum.template(self.token, template).await {
            Ok(template) => record::check_engine(template.coe.as_deref()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn options(&self) -> Options {
        Options {
            developer_role: self.roles.developer.clone(),
            viewer_role: self.roles.viewer.clone(),
            exclude_namespaces: self.roles.exclude_namespaces.clone(),
            projects: bound_projects(&self.token.project_id, self.accepted_projects),
            ..Options::default()
        }
    }
}

/// Returns the projects whose roles are bound; empty for one project, whose bare role IDs are sufficient.
fn bound_projects(own: &str, accepted: &[String]) -> Vec<String> {
    let others: Vec<_> = accepted.iter().filter(|one| *one != own).cloned().collect();
    if others.is_empty() {
        return Vec::new();
    }
    std::iter::once(own.to_owned()).chain(others).collect()
}
