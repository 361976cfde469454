//! `portico enrolment`: lists the enrolled clusters, and imports those that Magnum does not have, on the
//! store itself.
mod api_server;
mod checks;
mod import;
mod list;
mod remove;
#[cfg(test)]
mod tests;

use super::error::CliError;
use super::migrate::{open_store, with_next_step};
use super::operator;
use super::print_for_people;
use crate::config::Config;
use crate::config::enrolment::EnrolmentConfig;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use import::ImportArgs;
use jiff::Timestamp;
use portico_cli::output::OutputFormat;
use portico_clock::Clock;
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_runtime::config::{ConfigError, Problem};
use portico_store::{NewAuditEvent, Outcome, Store};
use serde_json::json;
use uuid::Uuid;

#[derive(Debug, Subcommand)]
pub(super) enum EnrolmentCommand {
    /// List the clusters that users enrolled and those that operators imported
    List {
        /// How to print the list
        #[arg(short, long, value_enum, default_value_t)]
        output: OutputFormat,
    },
    Import(Box<ImportArgs>),
    Remove(RemoveArgs),
}

/// Remove the record of an imported cluster: from then on kube-auth refuses its API server
///
/// The cluster itself is left as it is. The records of Magnum's clusters belong to their projects, which
/// remove them on the page of the cluster.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  portico --config portico.toml enrolment remove --id 0b5c54a4-...")]
pub(super) struct RemoveArgs {
    /// The ID of the cluster, as portico enrolment list prints it
    #[arg(long, value_name = "ID")]
    id: Uuid,
}

pub(super) async fn enrolment(config: &Config, command: &EnrolmentCommand) -> Result<(), CliError> {
    let missing =
        |key: &str| ConfigError::Invalid(vec![Problem::new(key, "the section is missing")]);
    let store = config.store.as_ref().ok_or_else(|| missing("store"))?;
    let section = config.enrolment.as_ref();
    let section = section.ok_or_else(|| missing("enrolment"))?;
    let store = open_store(store).await?;
    store.ensure_migrated().await.context("look at the store")?;
    let now = Clock::system().now();
    let text = run(&store, config, section, command, now).await?;
    store.close().await;
    print_for_people(&text)
}

async fn run(
    store: &Store,
    config: &Config,
    section: &EnrolmentConfig,
    command: &EnrolmentCommand,
    now: Timestamp,
) -> anyhow::Result<String> {
    match command {
        EnrolmentCommand::List { output } => list::list(store, section, *output).await,
        EnrolmentCommand::Import(arguments) => {
            // before anything is stored
            let webhook = api_server::Webhook::read(section)?;
            let record = import::import(store, config, section, arguments, now).await?;
            Ok(api_server::after_import(&record, section, webhook.as_ref()))
        }
        EnrolmentCommand::Remove(arguments) => remove::remove(store, arguments.id, now).await,
    }
}

/// Returns all records.
async fn all(store: &Store) -> anyhow::Result<Vec<EnrolledCluster>> {
    let all = store.enrolled_clusters().all().await;
    let all = all.map_err(|error| with_next_step("read the enrolled clusters", &error))?;
    Ok(all.clusters)
}

/// Records what is done to a cluster.
async fn record(
    store: &Store,
    action: &str,
    cluster: &EnrolledCluster,
    outcome: Outcome,
    now: Timestamp,
) -> anyhow::Result<()> {
    let event = NewAuditEvent {
        user_name: Some(operator::audit_name()),
        project_id: Some(cluster.owner_project.clone()),
        cluster_id: Some(cluster.id.to_string()),
        target: cluster.name.clone(),
        detail: json!({
            "reason": operator::REASON,
            "api_url": cluster.api_url,
            "accepted_projects": cluster.accepted_projects,
            "accepted_roles": cluster.accepted_roles,
        }),
        ..NewAuditEvent::new(action, outcome)
    };
    store
        .audit()
        .append(&event, now)
        .await
        .context("record who changes which cluster")
}
