//! `portico enrolment import`.
use super::checks::{
    ImportError, address, authority, check_issuers, check_name, ensure_distinct, imported,
};
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
/// the record, for example with the authority of a rotation, and prints the steps again. What is then left
/// out stays as it is stored: the accepted projects and roles, the audiences, and another --client-ca.
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
    /// must issue certificates for this cluster only. Default: that of --ca; with --id, the stored one if
    /// it was another than the stored --ca
    #[arg(long, value_name = "FILE")]
    pub(super) client_ca: Option<PathBuf>,
    /// ID of the Keystone project that owns the cluster and whose users may use it
    #[arg(long, value_name = "PROJECT_ID")]
    pub(super) owner_project: String,
    /// ID of another project whose users may use the cluster; may be repeated. Default: none; with --id,
    /// the stored ones
    #[arg(long = "accepted-project", value_name = "PROJECT_ID")]
    pub(super) accepted_projects: Vec<String>,
    /// With --id: only the users of the owner's project may use the cluster from now on
    #[arg(long, requires = "id", conflicts_with = "accepted_projects")]
    pub(super) owner_only: bool,
    /// ID of a role, one of which a user must have; may be repeated. Default: any role is sufficient;
    /// with --id, the stored ones
    #[arg(long = "accepted-role", value_name = "ROLE_ID")]
    pub(super) accepted_roles: Vec<String>,
    /// With --id: any role is sufficient from now on
    #[arg(long, requires = "id", conflicts_with = "accepted_roles")]
    pub(super) any_role: bool,
    /// An audience of the API server, as in its --api-audiences or --service-account-issuer; may be
    /// repeated. Default: https://kubernetes.default.svc,
    /// https://kubernetes.default.svc.cluster.local and kubernetes; with --id, the stored ones
    #[arg(long = "api-audience", value_name = "AUDIENCE")]
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
    now: Timestamp,
) -> anyhow::Result<EnrolledCluster> {
    let enrolled = all(store).await?;
    let stored = arguments.id.map(|id| imported(&enrolled, id)).transpose()?;
    let cluster = cluster(section, arguments, stored)?;
    ensure_distinct(&cluster, &enrolled, &config.clusters)?;
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

/// Returns the record, if every part of it can be used. What the arguments leave out is taken from the
/// stored record, which a replacement must not widen in silence.
fn cluster(
    section: &EnrolmentConfig,
    arguments: &ImportArgs,
    stored: Option<&EnrolledCluster>,
) -> anyhow::Result<EnrolledCluster> {
    check_name(&arguments.name)?;
    let api_url = address(section, &arguments.server)?;
    if let Some(stored) = stored {
        ensure_owner(arguments, stored)?;
    }
    let ca = read_authority("--ca", &arguments.ca)?;
    let separate = stored.filter(|stored| stored.client_ca != stored.ca);
    let (option, client_ca) = match (&arguments.client_ca, separate) {
        (Some(path), _) => ("--client-ca", read_authority("--client-ca", path)?),
        (None, Some(stored)) => ("--client-ca", stored.client_ca.clone()),
        (None, None) => ("--ca", ca.clone()),
    };
    check_issuers(option, &client_ca)?;
    let cluster = EnrolledCluster {
        id: stored.map_or_else(Uuid::new_v4, |stored| stored.id),
        name: arguments.name.clone(),
        owner_project: arguments.owner_project.clone(),
        accepted_projects: accepted_projects(arguments, stored),
        accepted_roles: accepted_roles(arguments, stored),
        api_url,
        ca,
        client_ca,
        api_audiences: api_audiences(arguments, stored),
        source: ClusterSource::Operator,
    };
    cluster.check().map_err(ImportError::Record)?;
    Ok(cluster)
}

/// Checks that a record keeps its owner: the accepted projects and the journal are those of one owner.
fn ensure_owner(arguments: &ImportArgs, stored: &EnrolledCluster) -> Result<(), ImportError> {
    if stored.owner_project == arguments.owner_project {
        return Ok(());
    }
    Err(ImportError::OtherOwner {
        name: stored.name.clone(),
        id: stored.id,
        owner: stored.owner_project.clone(),
        asked: arguments.owner_project.clone(),
    })
}

fn read_authority(option: &'static str, path: &Path) -> anyhow::Result<String> {
    let text = read_text(path, MAX_FILE_BYTES)?;
    Ok(authority(option, text.as_bytes())?)
}

/// Returns the owner's project and the others, each once.
fn accepted_projects(arguments: &ImportArgs, stored: Option<&EnrolledCluster>) -> Vec<String> {
    let others = match stored {
        Some(stored) if arguments.accepted_projects.is_empty() && !arguments.owner_only => {
            &stored.accepted_projects
        }
        _ => &arguments.accepted_projects,
    };
    let mut projects = vec![arguments.owner_project.clone()];
    for project in others {
        if !projects.contains(project) {
            projects.push(project.clone());
        }
    }
    projects
}

fn accepted_roles(arguments: &ImportArgs, stored: Option<&EnrolledCluster>) -> Vec<String> {
    match stored {
        Some(stored) if arguments.accepted_roles.is_empty() && !arguments.any_role => {
            stored.accepted_roles.clone()
        }
        _ => arguments.accepted_roles.clone(),
    }
}

fn api_audiences(arguments: &ImportArgs, stored: Option<&EnrolledCluster>) -> Vec<String> {
    match (arguments.api_audiences.as_slice(), stored) {
        ([], Some(stored)) => stored.api_audiences.clone(),
        ([], None) => API_SERVER_AUDIENCES.map(str::to_owned).to_vec(),
        (given, _) => given.to_vec(),
    }
}
