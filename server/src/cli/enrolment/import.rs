//! `portico enrolment import`.
use super::checks::{ImportError, authority, check_issuers, check_name, ensure_distinct, imported};
use super::{all, record};
use crate::cli::migrate::with_next_step;
use crate::cli::read_text;
use crate::config::Config;
use crate::config::enrolment::EnrolmentConfig;
use clap::Args;
use jiff::Timestamp;
use portico_domain::enrolled_cluster::{API_SERVER_AUDIENCES, ClusterSource, EnrolledCluster};
use portico_store::{Outcome, Store};
use std::path::{Path, PathBuf};
use uuid::Uuid;

const ACTION: &str = "cluster.import";
/// A file may have texts between its certificates, which are left out.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Import a cluster that Magnum does not have, and print what its API server needs
///
/// The address must be in enrolment.api_networks. The record is stored without a connection to the
/// cluster; users have access after the last of the printed steps. The same command with --id replaces
/// the record, for example with the authority of a rotation, and prints the steps again.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  portico --config portico.toml enrolment import --name shop --server https://203.0.113.7:6443 \\
    --ca shop-ca.crt --owner-project 2b7f85af...")]
pub(in crate::cli) struct ImportArgs {
    /// The name that users see, also the kubeconfig's context
    #[arg(long, value_name = "NAME")]
    pub(super) name: String,
    /// The API server: https://, an IP address and a port
    #[arg(long, value_name = "URL")]
    pub(super) server: String,
    /// The authority of the API server's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub(super) ca: PathBuf,
    /// The authority of the certificate with which the API server authenticates to kube-auth (PEM); it
    /// must issue certificates for this cluster only. Default: that of --ca
    #[arg(long, value_name = "FILE")]
    pub(super) client_ca: Option<PathBuf>,
    /// ID of the Keystone project that owns the cluster and whose users may use it
    #[arg(long, value_name = "PROJECT_ID")]
    pub(super) owner_project: String,
    /// ID of another project whose users may use the cluster; may be repeated
    #[arg(long = "accepted-project", value_name = "PROJECT_ID")]
    pub(super) accepted_projects: Vec<String>,
    /// ID of a role, one of which a user must have; may be repeated. Default: any role is sufficient
    #[arg(long = "accepted-role", value_name = "ROLE_ID")]
    pub(super) accepted_roles: Vec<String>,
    /// An audience of the API server, as in its --api-audiences or --service-account-issuer; may be
    /// repeated
    #[arg(long = "api-audience", value_name = "AUDIENCE", default_values = API_SERVER_AUDIENCES)]
    pub(super) api_audiences: Vec<String>,
    /// Replace the record of this imported cluster
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<Uuid>,
}

/// Stores the record of a cluster, and returns it.
pub(super) async fn import(
    store: &Store,
    config: &Config,
    section: &EnrolmentConfig,
    arguments: &ImportArgs,
) -> anyhow::Result<EnrolledCluster> {
    let enrolled = all(store).await?;
    let id = match arguments.id {
        Some(id) => imported(&enrolled, id)?.id,
        None => Uuid::new_v4(),
    };
    let cluster = cluster(section, arguments, id)?;
    ensure_distinct(&cluster, &enrolled, &config.clusters)?;
    let now = Timestamp::now();
    // an action that cannot be recorded is not carried out
    record(store, ACTION, &cluster, Outcome::Intended, now).await?;
    let stored = store.enrolled_clusters().put(&cluster, now).await;
    let outcome = match stored {
        Ok(_) => Outcome::Succeeded,
        Err(_) => Outcome::Failed,
    };
    record(store, ACTION, &cluster, outcome, now).await?;
    stored.map_err(|error| with_next_step("store the record", &error))?;
    Ok(cluster)
}

/// Returns the record, if every part of it can be used.
fn cluster(
    section: &EnrolmentConfig,
    arguments: &ImportArgs,
    id: Uuid,
) -> anyhow::Result<EnrolledCluster> {
    check_name(&arguments.name)?;
    section
        .permit(&arguments.server)
        .map_err(ImportError::Address)?;
    let ca = read_authority("--ca", &arguments.ca)?;
    let (option, client_ca) = match &arguments.client_ca {
        Some(path) => ("--client-ca", read_authority("--client-ca", path)?),
        None => ("--ca", ca.clone()),
    };
    check_issuers(option, &client_ca)?;
    let cluster = EnrolledCluster {
        id,
        name: arguments.name.clone(),
        owner_project: arguments.owner_project.clone(),
        accepted_projects: accepted_projects(arguments),
        accepted_roles: arguments.accepted_roles.clone(),
        api_url: arguments.server.trim_end_matches('/').to_owned(),
        ca,
        client_ca,
        api_audiences: arguments.api_audiences.clone(),
        source: ClusterSource::Operator,
    };
    cluster.check().map_err(ImportError::Record)?;
    Ok(cluster)
}

fn read_authority(option: &'static str, path: &Path) -> anyhow::Result<String> {
    let text = read_text(path, MAX_FILE_BYTES)?;
    Ok(authority(option, text.as_bytes())?)
}

/// Returns the owner's project and the others, each once.
fn accepted_projects(arguments: &ImportArgs) -> Vec<String> {
    let mut projects = vec![arguments.owner_project.clone()];
    for project in &arguments.accepted_projects {
        if !projects.contains(project) {
            projects.push(project.clone());
        }
    }
    projects
}
