//! `portico cluster services`: which managed services run in a cluster.
mod known;
mod state;
#[cfg(test)]
mod tests;
mod workload;

use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::kubernetes::{self, AccessError, ApiError, Kubernetes};
use super::views::{print_list, print_object};
use crate::output::{self, OutputFormat};
use clap::{Args, Subcommand};
use known::{ManagedService, NAMESPACES};
use state::{Seen, ServiceView, WorkloadView};
use workload::{Kind, Workload};

/// Show which managed services run in a cluster, such as monitoring and backup
///
/// Portico does not deploy services yet: `list` and `status` recognise what Magnum's driver, Helm or you have
/// deployed, by labels, names and namespaces.
#[derive(Debug, Subcommand)]
pub enum ServicesCommand {
    List(ServicesListArgs),
    Status(ServicesStatusArgs),
}

/// List the managed services, also absent ones
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster services list shop")]
pub struct ServicesListArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show the workloads of the managed services
///
/// Exit code 1 if a service is degraded, or one that you name does not run.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster services status shop
  portico cluster services status shop ingress -o json")]
pub struct ServicesStatusArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// One service. Default: all
    #[arg(value_enum)]
    pub service: Option<ManagedService>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

impl ServicesCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(args) => &args.shared,
            Self::Status(args) => &args.shared,
        }
    }

    fn cluster(&self) -> &str {
        match self {
            Self::List(args) => &args.cluster,
            Self::Status(args) => &args.cluster,
        }
    }
}

/// Runs a command about services, and returns the exit code.
///
/// # Errors
/// If Magnum or the API server cannot be asked or refuses, or this machine has no access to the cluster.
pub async fn run(
    command: &ServicesCommand,
    connection: &Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.cluster_named(token, command.cluster()).await?;
    let access = kubernetes::find(connection, found.uuid).await;
    let access = access.map_err(of_access)?;
    let api = Kubernetes::new(&access).map_err(of_api)?;
    let seen = look(&api).await.map_err(of_api)?;
    show(command, console, &seen)
}

fn show(command: &ServicesCommand, console: &mut Console, seen: &Seen) -> Result<u8, ClusterError> {
    let services = state::services(seen);
    let code = match command {
        ServicesCommand::List(args) => {
            print_list(console, args.shared.output, &services, |one| {
                (one.name, one.name)
            })?;
            0
        }
        ServicesCommand::Status(args) => status(console, args, services)?,
    };
    for gap in &seen.gaps {
        console.say(format!("Not checked: {gap}."));
    }
    if matches!(command, ServicesCommand::List(_)) {
        console.say("Portico does not deploy services yet; use Helm for those that are absent.");
    }
    Ok(code)
}

fn status(
    console: &mut Console,
    args: &ServicesStatusArgs,
    mut services: Vec<ServiceView>,
) -> Result<u8, ClusterError> {
    if let Some(service) = args.service {
        services.retain(|one| one.name == service.name());
    }
    let code = state::exit_code(&services, args.service.is_some());
    let name = match args.service {
        Some(service) => service.name(),
        None => args.cluster.as_str(),
    };
    print_object(console, args.shared.output, &services, name, || {
        let workloads = services
            .iter()
            .flat_map(|one| one.workloads.iter().cloned());
        let workloads: Vec<WorkloadView> = workloads.collect();
        let services = output::list(OutputFormat::Table, &services)?;
        let workloads = output::list(OutputFormat::Table, &workloads)?;
        Ok(format!("{services}\n{workloads}"))
    })?;
    Ok(code)
}

/// Reads the workloads of all namespaces, or of the well-known ones where the user may not list all.
async fn look(api: &Kubernetes) -> Result<Seen, ApiError> {
    let mut seen = Seen::default();
    for kind in Kind::ALL {
        let resource = kind.resource();
        match api.list(&format!("/apis/apps/v1/{resource}"), &[]).await {
            Ok(objects) => add(&mut seen, kind, &objects),
            Err(ApiError::Forbidden(_)) => {
                let text = format!(
                    "{}s outside of the well-known namespaces, which you may not list",
                    kind.name()
                );
                seen.gaps.push(text);
                look_in_namespaces(api, kind, &mut seen).await?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(seen)
}

async fn look_in_namespaces(api: &Kubernetes, kind: Kind, seen: &mut Seen) -> Result<(), ApiError> {
    let resource = kind.resource();
    for namespace in NAMESPACES {
        let path = format!("/apis/apps/v1/namespaces/{namespace}/{resource}");
        match api.list(&path, &[]).await {
            Ok(objects) => add(seen, kind, &objects),
            // a namespace that does not exist is forbidden too
            Err(ApiError::Forbidden(_) | ApiError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn add(seen: &mut Seen, kind: Kind, objects: &[serde_json::Value]) {
    let workloads = objects.iter();
    let workloads = workloads.filter_map(|object| Workload::read(kind, object));
    seen.workloads.extend(workloads);
}

/// Returns the error of a command that needs access to the cluster.
fn of_access(error: AccessError) -> ClusterError {
    let exit = match error {
        AccessError::Command(error) => return ClusterError::Command(error),
        AccessError::NoSession => exit_code::SIGN_IN,
        AccessError::NotListed(_) => exit_code::NOT_FOUND,
        AccessError::Address(_) | AccessError::Authority => exit_code::INVALID,
    };
    ClusterError::Blocked {
        exit,
        text: error.to_string(),
    }
}

/// Returns the error of a request to the API server.
fn of_api(error: ApiError) -> ClusterError {
    let exit = match error {
        ApiError::Token(error) => return ClusterError::Command(error),
        ApiError::Unauthorized => exit_code::SIGN_IN,
        ApiError::Forbidden(_) => exit_code::FORBIDDEN,
        ApiError::NotFound(_) => exit_code::NOT_FOUND,
        ApiError::Unreachable(_)
        | ApiError::Certificate(_)
        | ApiError::Client(_)
        | ApiError::Refused { .. }
        | ApiError::Malformed(_)
        | ApiError::TooMany => exit_code::UNAVAILABLE,
    };
    ClusterError::Blocked {
        exit,
        text: error.to_string(),
    }
}
