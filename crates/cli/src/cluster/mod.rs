//! `portico cluster`: the lifecycle of clusters, through a gateway or in direct mode. Magnum is called with the
//! user's own token; plans, checks and explanations are those of `portico-lifecycle`, which the panel uses too.
mod age;
mod apply;
mod arguments;
mod autoscale;
mod certificate_view;
mod certificates;
mod checks;
mod connection;
mod console;
mod create;
mod creation;
mod delete;
mod describe;
mod error;
mod event_names;
mod events;
mod exit_code;
mod export;
mod expression;
mod follow;
mod follow_nodes;
mod gateway_session;
mod heal;
mod health;
mod import;
mod kubeconfig;
mod kubernetes;
mod leftovers;
mod nodegroups;
mod nodes;
mod part;
mod plan_output;
mod pods;
mod preconfigure;
mod printing;
mod probe;
mod protection;
mod quota;
mod read;
mod review;
mod running;
mod schema;
mod services;
mod shrinking;
mod specification;
mod steps;
mod templates;
#[cfg(test)]
mod tests;
mod tree;
mod upgrade;
mod validate;
mod versions;
mod views;
mod wait;

pub use arguments::ClusterArgs;

use crate::direct::{self, CloudChoice};
use crate::profile::Profile;
use arguments::{ClusterCommand, ClusterOutput, SharedArgs};
use connection::Connection;
use console::Console;
use creation::Attempts;
use error::ClusterError;
use gateway_session::GatewayChoice;
use portico_clock::Clock;
use specification::Specification;

/// Runs `portico cluster`, and returns the exit code of the program.
pub async fn cluster(args: &ClusterArgs, clock: &Clock) -> u8 {
    let mut console = Console::of_process();
    let result = run(&args.command, &mut console, clock).await;
    finish(&mut console, args.command.shared().output, result)
}

async fn run(
    command: &ClusterCommand,
    console: &mut Console,
    clock: &Clock,
) -> Result<u8, ClusterError> {
    // it is about Portico's own types: there is no cloud to sign in to
    if let ClusterCommand::Schema(args) = command {
        schema::schema(console, args.kind)?;
        return Ok(0);
    }
    // before the sign-in: a file names cloud and project, and may be invalid
    let specification = specification(command)?;
    let shared = command.shared();
    let choice = match (&specification, command) {
        (Some(specification), _) => specification.choice(shared)?,
        (None, ClusterCommand::Preconfigure(args)) => args.choice()?,
        (None, _) => choice(shared),
    };
    let mut connection = open(command, choice, specification.as_ref(), console, clock).await?;
    let attempts = Attempts::of_user()?;
    let specification = specification.as_ref();
    dispatch(command, &mut connection, console, specification, &attempts).await
}

/// Returns what a command describes; `None` for a command that takes no specification.
fn specification(command: &ClusterCommand) -> Result<Option<Specification>, ClusterError> {
    match command {
        ClusterCommand::Create(args) => Specification::of_arguments(args).map(Some),
        ClusterCommand::Apply(args) => Specification::of_file(&args.file).map(Some),
        ClusterCommand::Diff(args) => Specification::of_file(&args.file).map(Some),
        _ => Ok(None),
    }
}

/// Connects to the cloud: directly if the command or the environment names it, else by the session at a
/// gateway.
async fn open(
    command: &ClusterCommand,
    choice: CloudChoice,
    specification: Option<&Specification>,
    console: &mut Console,
    clock: &Clock,
) -> Result<Connection, ClusterError> {
    let shared = command.shared();
    let is_direct = match &shared.gateway {
        Some(_) => false,
        // without any, the message about OS_* is the more helpful one
        None => direct::is_selected(&choice) || Profile::all()?.is_empty(),
    };
    if !is_direct {
        let of_file = || specification.and_then(Specification::reason);
        let wanted = GatewayChoice {
            gateway: shared.gateway.clone(),
            project: choice.project,
            reason: command.reason().or_else(of_file).map(str::to_owned),
        };
        return Connection::through_gateway(wanted, shared.drivers(), clock).await;
    }
    if matches!(command, ClusterCommand::Events(_)) {
        return Err(ClusterError::NoJournal);
    }
    if command.reason().is_some() && !command.keeps_reason() {
        return Err(ClusterError::Usage(
            "--reason is for Portico's journal, and this command calls Magnum directly: remove it, or use the \
             session of `portico login` with --gateway URL"
                .to_owned(),
        ));
    }
    let connection = Connection::open(choice, shared.drivers(), clock).await?;
    // with JSON, standard error has one object or nothing
    if shared.output != ClusterOutput::Json {
        console.say("Using Magnum directly; changes are not in Portico's journal.");
    }
    Ok(connection)
}

fn choice(shared: &SharedArgs) -> CloudChoice {
    CloudChoice {
        cloud: shared.cloud.clone(),
        project: shared.project.clone(),
    }
}

/// Runs a command with a connection, and returns the exit code.
async fn dispatch(
    command: &ClusterCommand,
    connection: &mut Connection,
    console: &mut Console,
    specification: Option<&Specification>,
    attempts: &Attempts,
) -> Result<u8, ClusterError> {
    let format = command.shared().output;
    match (command, specification) {
        (ClusterCommand::List(_), _) => read::list(connection, console, format).await?,
        (ClusterCommand::Templates(_), _) => read::templates(connection, console, format).await?,
        (ClusterCommand::Show(args), _) => {
            read::show(connection, console, format, &args.cluster).await?;
        }
        (ClusterCommand::Describe(args), _) => {
            describe::describe(connection, console, args).await?;
        }
        (ClusterCommand::Watch(args), _) => read::watch(connection, console, args).await?,
        (ClusterCommand::Events(args), _) => events::events(connection, console, args).await?,
        (ClusterCommand::Wait(args), _) => wait::wait(connection, console, args).await?,
        (ClusterCommand::Resize(args), _) => {
            return nodegroups::resize(connection, console, args).await;
        }
        (ClusterCommand::Nodegroup(command), _) => {
            return nodegroups::run(command, connection, console).await;
        }
        (ClusterCommand::Nodes(command), _) => {
            return nodes::run(command, connection, console).await;
        }
        (ClusterCommand::Autoscale(args), _) => {
            return autoscale::autoscale(connection, console, args).await;
        }
        (ClusterCommand::Heal(args), _) => heal::heal(connection, console, args).await?,
        (ClusterCommand::Upgrade(args), _) => {
            return upgrade::upgrade(connection, console, args).await;
        }
        (ClusterCommand::Versions(args), _) => {
            versions::versions(connection, console, args).await?;
        }
        (ClusterCommand::Ca(command), _) => {
            return certificates::ca(command, connection, console).await;
        }
        (ClusterCommand::Cert(command), _) => {
            return certificates::cert(command, connection, console).await;
        }
        (ClusterCommand::Kubeconfig(args), _) => {
            kubeconfig::kubeconfig(connection, console, args).await?;
        }
        (ClusterCommand::Credential(command), _) => {
            return certificates::credential(command, connection, console).await;
        }
        (ClusterCommand::Template(command), _) => {
            return templates::run(command, connection, console).await;
        }
        (ClusterCommand::Health(args), _) => {
            return health::health(connection, console, args).await;
        }
        (ClusterCommand::Services(command), _) => {
            return services::run(command, connection, console).await;
        }
        (ClusterCommand::Preconfigure(args), _) => {
            return preconfigure::preconfigure(connection, console, args).await;
        }
        (ClusterCommand::Validate(args), _) => {
            return validate::validate(connection, console, args).await;
        }
        (ClusterCommand::Import(args), _) => {
            return import::import(connection, console, args).await;
        }
        (ClusterCommand::Export(args), _) => export::export(connection, console, args).await?,
        (ClusterCommand::Schema(args), _) => schema::schema(console, args.kind)?,
        (ClusterCommand::Leftovers(args), _) => {
            return leftovers::leftovers(connection, console, args).await;
        }
        (ClusterCommand::Quota(args), _) => {
            return quota::quota(connection, console, args).await;
        }
        (ClusterCommand::Stats(shared), _) => {
            quota::stats(connection, console, shared.output).await?;
        }
        (ClusterCommand::Delete(args), _) => delete::delete(connection, console, args).await?,
        (ClusterCommand::Create(args), Some(specification)) => {
            create::create(connection, console, args, specification, attempts).await?;
        }
        (ClusterCommand::Apply(args), Some(specification)) => {
            return apply::apply(connection, console, args, specification, attempts).await;
        }
        (ClusterCommand::Diff(args), Some(specification)) => {
            return apply::diff(connection, console, args, specification).await;
        }
        (ClusterCommand::Create(_) | ClusterCommand::Apply(_) | ClusterCommand::Diff(_), None) => {
            return Err(ClusterError::Usage("there is no specification".to_owned()));
        }
    }
    Ok(0)
}

/// Writes an error to standard error, and returns the exit code.
fn finish(console: &mut Console, format: ClusterOutput, result: Result<u8, ClusterError>) -> u8 {
    match result {
        Ok(code) => code,
        Err(error) => {
            if format == ClusterOutput::Json {
                console.say(error.to_json().to_string());
            } else {
                console.say(format!("portico: {}", error.sentence()));
            }
            error.exit_code()
        }
    }
}
