//! `portico cluster leftovers`: what still exists of a deleted cluster.
use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::print_list;
use crate::output::TableRow;
use clap::Args;
use portico_cluster_operations::items;
use portico_lifecycle::inventory::{Item, deletion_command};
use portico_lifecycle::model::Cluster;
use serde::Serialize;
use uuid::Uuid;

/// Show what still exists of a deleted cluster, with the commands that delete it
///
/// Magnum forgets a deleted cluster, so its UUID is needed: `delete` shows it, and the audit log has it. Found
/// are resources that carry the UUID: volumes of claims, load balancers of Services, networks. Without a UUID,
/// everything in the project that names a cluster which Magnum does not have is shown; a command is shown
/// only where the name is a UUID, as a cluster of others than Magnum can have another one. Exit code 1 if
/// something was found.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster leftovers 900e3758-8071-430e-a8cf-5c48f428dc0e
  portico cluster leftovers --project shop        # of all clusters of the project")]
pub struct LeftoversArgs {
    /// The UUID of the cluster. Default: all deleted clusters of the project
    pub cluster: Option<Uuid>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// A resource that still exists.
#[derive(Debug, Serialize)]
struct LeftoverView {
    /// The cluster that it names.
    cluster: String,
    kind: &'static str,
    name: String,
    id: String,
    /// `None`: there is none, or it must not be deleted.
    command: Option<String>,
}

impl TableRow for LeftoverView {
    const HEADINGS: &'static [&'static str] = &["CLUSTER", "KIND", "NAME", "COMMAND"];

    fn cells(&self) -> Vec<String> {
        let command = self.command.clone();
        vec![
            self.cluster.clone(),
            self.kind.to_owned(),
            self.name.clone(),
            command.unwrap_or_else(|| self.id.clone()),
        ]
    }
}

impl LeftoverView {
    fn new(cluster: String, item: Item) -> Self {
        Self {
            cluster,
            kind: item.kind.name(),
            command: deletion_command(&item),
            name: item.name,
            id: item.id,
        }
    }
}

/// Shows what still exists, and returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if Magnum still has the cluster; if Magnum cannot be asked.
pub async fn leftovers(
    connection: &Connection,
    console: &mut Console,
    args: &LeftoversArgs,
) -> Result<u8, ClusterError> {
    let (clients, token) = (&connection.clients, &connection.token);
    let Some(wanted) = args.cluster else {
        return of_project(connection, console, args).await;
    };
    match clients.magnum.cluster(token, wanted).await {
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(error.into()),
        Ok(found) => {
            return Err(ClusterError::Blocked {
                exit: exit_code::CONFLICT,
                text: format!(
                    "Magnum still has the cluster {} ({}); delete it first",
                    found.name, found.status
                ),
            });
        }
    }
    let uuid = wanted.to_string();
    let cluster = Cluster::deleted(uuid.clone(), uuid.clone());
    let found = items::find(clients, token, &cluster, &[]).await;
    let found_items = found.items.into_iter();
    let views = found_items.map(|item| LeftoverView::new(uuid.clone(), item));
    show(console, args, &found.gaps, &views.collect::<Vec<_>>())
}

/// Shows what names a cluster that Magnum does not have.
async fn of_project(
    connection: &Connection,
    console: &mut Console,
    args: &LeftoversArgs,
) -> Result<u8, ClusterError> {
    let (clients, token) = (&connection.clients, &connection.token);
    let listing = clients.magnum.clusters(token).await?;
    // the resources of one that is missing in it would be shown
    if let Some(cut) = listing.cut {
        return Err(ClusterError::Incomplete(cut));
    }
    let clusters = listing.items.iter();
    let clusters: Vec<_> = clusters.map(|one| connection.model(one, None)).collect();
    let found = items::orphans(clients, token, &clusters).await;
    let views = found.items.into_iter().map(|orphan| {
        let is_uuid = orphan.owner.parse::<Uuid>().is_ok();
        let view = LeftoverView::new(orphan.owner, orphan.item);
        LeftoverView {
            command: view.command.filter(|_| is_uuid),
            ..view
        }
    });
    show(console, args, &found.gaps, &views.collect::<Vec<_>>())
}

/// Shows what was found, and returns the exit code.
fn show(
    console: &mut Console,
    args: &LeftoversArgs,
    gaps: &[String],
    views: &[LeftoverView],
) -> Result<u8, ClusterError> {
    for gap in gaps {
        console.say(gap);
    }
    if views.is_empty() {
        console.say("Nothing of it was found in what was checked.");
        return Ok(0);
    }
    print_list(console, args.shared.output, views, |view| {
        (&view.name, &view.id)
    })?;
    Ok(exit_code::NEGATIVE)
}
