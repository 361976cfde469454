//! The clusters that users get tokens for.
mod snapshot;
pub(crate) mod tokens;

pub(crate) use snapshot::Clusters;

use portico_assertion::PublicKey;
use portico_domain::{cluster::ClusterRecord, identity::Project};

use crate::{
    build_error::{BuildError, read_file},
    sessions::live::Live,
};

/// A cluster with the key that its tokens are sealed to.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub record: ClusterRecord,
    pub sealing_key: PublicKey,
    /// The API server's certificate authority in PEM, for kubeconfigs.
    pub ca: Option<String>,
}

impl Cluster {
    /// Reads the key and certificate files that a record names.
    ///
    /// # Errors
    /// [`BuildError::Key`] for the sealing key, [`BuildError::File`] for the certificate file.
    pub fn read(record: ClusterRecord) -> Result<Self, BuildError> {
        let sealing_key = PublicKey::read(&record.sealing_key_file)?;
        let ca = record.ca_file.as_deref().map(read_file).transpose()?;
        Ok(Self {
            record,
            sealing_key,
            ca,
        })
    }
}

/// Returns the project with which the session's user accesses the cluster: the last one used where
/// the cluster accepts several.
pub(crate) fn project_at(cluster: &Cluster, live: &Live) -> Option<Project> {
    let root = live.root();
    let accepted = |project: &&Project| cluster.record.accepts_project(project);
    let last = root.last_project.as_deref();
    root.projects
        .iter()
        .filter(accepted)
        .find(|project| Some(project.id.as_str()) == last)
        .or_else(|| root.projects.iter().find(accepted))
        .cloned()
}
