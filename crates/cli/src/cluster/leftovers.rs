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
/// are resources that carry the UUID: volumes of claims, load balancers of Services, networks. Exit code 1 if
/// something was found.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  portico cluster leftovers 900e3758-8071-430e-a8cf-5c48f428dc0e"
)]
pub struct LeftoversArgs {
    /// The UUID of the cluster
    pub cluster: Uuid,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// A resource that still exists.
#[derive(Debug, Serialize)]
struct LeftoverView {
    kind: &'static str,
    name: String,
    id: String,
    /// `None`: there is none, or it must not be deleted.
    command: Option<String>,
}

impl TableRow for LeftoverView {
    const HEADINGS: &'static [&'static str] = &["KIND", "NAME", "COMMAND"];

    fn cells(&self) -> Vec<String> {
        let command = self.command.clone();
        vec![
            self.kind.to_owned(),
            self.name.clone(),
            command.unwrap_or_else(|| self.id.clone()),
        ]
    }
}

impl From<Item> for LeftoverView {
    fn from(item: Item) -> Self {
        Self {
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
    match clients.magnum.cluster(token, args.cluster).await {
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
    let uuid = args.cluster.to_string();
    let cluster = Cluster::deleted(uuid.clone(), uuid);
    let found = items::find(clients, token, &cluster, &[]).await;
    for gap in &found.gaps {
        console.say(gap);
    }
    let views: Vec<_> = found.items.into_iter().map(LeftoverView::from).collect();
    if views.is_empty() {
        console.say("Nothing of it was found in what was checked.");
        return Ok(0);
    }
    print_list(console, args.shared.output, &views, |view| {
        (&view.name, &view.id)
    })?;
    Ok(exit_code::NEGATIVE)
}
