//! `portico cluster quota` and `stats`.
use super::arguments::{ClusterOutput, DryRunArgs, SharedArgs};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::{print_list, print_object};
use crate::output::TableRow;
use clap::Args;
use portico_cluster_operations::usages::usages;
use portico_lifecycle::quota::{Limit, Resource, Usage};
use portico_openstack::magnum::Quota;
use portico_openstack::rest::Error;
use serde::Serialize;
use serde_json::json;

/// Show what the project uses of its quotas, or set its quota of clusters
#[derive(Args, Debug)]
#[command(
    mut_arg("dry_run", |dry_run| dry_run.help(
        "With --set: show the quota now and then; send nothing. Exit code 1: it would change something"
    )),
    after_help = "\
Examples:
  portico cluster quota
  portico cluster quota --set 10 --of shop     # for administrators of the cloud"
)]
pub struct QuotaArgs {
    /// Set the maximum number of clusters (administrators of the cloud only)
    #[arg(long, value_name = "NUMBER")]
    pub set: Option<u32>,
    /// The ID of the project to set it for. Default: the project of the token
    #[arg(long = "of", value_name = "PROJECT-ID", requires = "set")]
    pub project_id: Option<String>,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// One resource.
#[derive(Debug, Serialize)]
struct QuotaView {
    resource: &'static str,
    used: u64,
    /// `None`: unlimited.
    limit: Option<u64>,
}

impl TableRow for QuotaView {
    const HEADINGS: &'static [&'static str] = &["RESOURCE", "USED", "LIMIT"];

    fn cells(&self) -> Vec<String> {
        let limit = self.limit.map(|limit| limit.to_string());
        vec![
            self.resource.to_owned(),
            self.used.to_string(),
            limit.unwrap_or_else(|| "unlimited".to_owned()),
        ]
    }
}

/// Shows or sets quotas, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses. Other services that cannot be asked are reported.
pub async fn quota(
    connection: &Connection,
    console: &mut Console,
    args: &QuotaArgs,
) -> Result<u8, ClusterError> {
    if let Some(limit) = args.set {
        let own = connection.token.project_id.clone();
        let project = args.project_id.clone().unwrap_or(own);
        if args.dry_run.is_on() {
            return not_set(connection, console, args, &project, limit).await;
        }
        let quota = set(connection, &project, limit).await?;
        let object = json!({"project_id": quota.project_id, "resource": quota.resource,
                            "hard_limit": quota.hard_limit});
        return print_object(
            console,
            args.shared.output,
            &object,
            &quota.project_id,
            || {
                Ok(format!(
                    "The project {} may have {} clusters.\n",
                    quota.project_id, quota.hard_limit
                ))
            },
        )
        .map(|()| 0);
    }
    let (clients, token) = (&connection.clients, &connection.token);
    let clusters = clients.magnum.clusters(token).await?;
    let count = clusters.cut.is_none().then_some(clusters.items.len());
    let usages = usages(clients, token, count).await;
    let missing: Vec<_> = Resource::ALL
        .iter()
        .filter(|resource| !usages.contains_key(resource))
        .map(|resource| resource.name())
        .collect();
    let rows: Vec<_> = usages
        .iter()
        .map(|(one, usage)| view(*one, *usage))
        .collect();
    print_list(console, args.shared.output, &rows, |row| {
        (row.resource, row.resource)
    })?;
    if !missing.is_empty() {
        console.say(format!("Could not be read: {}.", missing.join(", ")));
    }
    Ok(0)
}

/// Shows the quota of clusters now and then, and returns the exit code.
async fn not_set(
    connection: &Connection,
    console: &mut Console,
    args: &QuotaArgs,
    project: &str,
    limit: u32,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let now = match magnum.quota(token, project).await {
        Ok(quota) => Some(quota.hard_limit),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(error.into()),
    };
    let object = json!({"project_id": project, "resource": "Cluster", "hard_limit": now,
                        "wanted_hard_limit": limit});
    let shown = now.map_or_else(|| "no quota of its own".to_owned(), |now| now.to_string());
    print_object(console, args.shared.output, &object, project, || {
        Ok(format!(
            "Clusters of the project {project}: {shown} to {limit}\n"
        ))
    })?;
    console.say("Nothing was sent.");
    Ok(match now == Some(i64::from(limit)) {
        true => 0,
        false => exit_code::NEGATIVE,
    })
}

fn view(resource: Resource, usage: Usage) -> QuotaView {
    QuotaView {
        resource: resource.name(),
        used: usage.used,
        limit: match usage.limit {
            Limit::Max(limit) => Some(limit),
            Limit::Unlimited => None,
        },
    }
}

/// Changes the quota of a project, or sets its first one.
async fn set(connection: &Connection, project: &str, limit: u32) -> Result<Quota, Error> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    match magnum.change_quota(token, project, limit).await {
        Err(error) if error.is_not_found() => magnum.create_quota(token, project, limit).await,
        answer => answer,
    }
}

/// Shows the numbers of clusters and nodes of the project.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn stats(
    connection: &Connection,
    console: &mut Console,
    format: ClusterOutput,
) -> Result<(), ClusterError> {
    let token = &connection.token;
    let project = token.project_id.as_str();
    let stats = connection
        .clients
        .magnum
        .stats(token, Some(project))
        .await?;
    let object = json!({"project_id": project, "clusters": stats.clusters, "nodes": stats.nodes});
    print_object(console, format, &object, project, || {
        Ok(format!(
            "{} clusters, {} nodes with those of the control planes\n",
            stats.clusters, stats.nodes
        ))
    })
}
