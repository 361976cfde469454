//! Lists and shows node groups.
use super::arguments::{ListArgs, ShowArgs};
use crate::cluster::connection::Connection;
use crate::cluster::console::Console;
use crate::cluster::error::ClusterError;
use crate::cluster::views::{GroupView, print_list, print_object};
use crate::output::{self, OutputFormat};
use std::fmt::Write as _;

/// Lists the node groups of a cluster.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn list(
    connection: &Connection,
    console: &mut Console,
    args: &ListArgs,
) -> Result<(), ClusterError> {
    let magnum = &connection.clients.magnum;
    let cluster = magnum
        .cluster_named(&connection.token, &args.cluster)
        .await?;
    let groups = connection.detailed_groups(cluster.uuid).await?;
    let rows: Vec<_> = groups.iter().map(GroupView::from).collect();
    print_list(console, args.shared.output, &rows, |row| {
        (&row.name, &row.uuid)
    })
}

/// Shows a node group.
///
/// # Errors
/// As [`list`]; if the cluster has no such group.
pub async fn show(
    connection: &Connection,
    console: &mut Console,
    args: &ShowArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let named = magnum.node_group_named(token, cluster.uuid, &args.group);
    let named = named.await?;
    let group = magnum.node_group(token, cluster.uuid, named.uuid).await?;
    let view = GroupView::from(&group);
    print_object(console, args.shared.output, &view, &view.name, || {
        Ok(text(&view)?)
    })
}

fn text(view: &GroupView) -> Result<String, output::OutputError> {
    let mut text = output::list(OutputFormat::Table, std::slice::from_ref(view))?;
    // writing to a string cannot fail
    if let Some(reason) = &view.status_reason {
        let _ = writeln!(text, "\n{}", crate::one_line(reason));
    }
    if !view.node_labels.is_empty() || !view.node_taints.is_empty() {
        text.push('\n');
    }
    for (key, value) in &view.node_labels {
        let _ = writeln!(
            text,
            "label  {}",
            crate::one_line(&format!("{key}={value}"))
        );
    }
    for taint in &view.node_taints {
        let _ = writeln!(text, "taint  {}", crate::one_line(taint));
    }
    Ok(text)
}
