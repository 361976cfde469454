//! `portico cluster list`, `show`, `templates` and `watch`: commands that change nothing.
use super::arguments::{ClusterOutput, WatchArgs};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::follow::{Following, follow};
use super::running::PorticoView;
use super::views::{ClusterView, GroupView, TemplateView, print_list, print_object};
use crate::output::{self, OutputFormat};
use portico_cluster_operations::{explanation, health, mapping};
use portico_lifecycle::model::Cluster;
use portico_lifecycle::progress::Followed;
use portico_openstack::rest::Cut;
use serde::Serialize;
use std::collections::BTreeMap;

/// Lists the clusters of the project.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn list(
    connection: &Connection,
    console: &mut Console,
    format: ClusterOutput,
) -> Result<(), ClusterError> {
    let listing = connection
        .clients
        .magnum
        .clusters(&connection.token)
        .await?;
    warn_of_cut(console, listing.cut);
    let now = connection.clock.now();
    let row = |found| {
        let model = connection.model(found, None);
        ClusterView::new(found, PorticoView::new(&model, None, now))
    };
    let rows: Vec<_> = listing.items.iter().map(row).collect();
    print_list(console, format, &rows, |row| (&row.name, &row.uuid))
}

/// Lists the templates that the project may use.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn templates(
    connection: &Connection,
    console: &mut Console,
    format: ClusterOutput,
) -> Result<(), ClusterError> {
    let listing = connection
        .clients
        .magnum
        .templates(&connection.token)
        .await?;
    warn_of_cut(console, listing.cut);
    let drivers = &connection.clients.drivers;
    let templates = listing.items.iter();
    let rows: Vec<_> = templates
        .map(|template| TemplateView::new(template, drivers))
        .collect();
    print_list(console, format, &rows, |row| (&row.name, &row.uuid))
}

fn warn_of_cut(console: &mut Console, cut: Option<Cut>) {
    if let Some(cut) = cut {
        console.say(format!(
            "The list is incomplete, because {cut}; what is missing in it may exist."
        ));
    }
}

/// A cluster with its parts.
#[derive(Serialize)]
struct Details {
    #[serde(flatten)]
    cluster: ClusterView,
    keypair: Option<String>,
    flavor_id: Option<String>,
    master_flavor_id: Option<String>,
    labels: BTreeMap<String, String>,
    faults: BTreeMap<String, String>,
    node_groups: Vec<GroupView>,
}

/// Shows a cluster.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn show(
    connection: &Connection,
    console: &mut Console,
    format: ClusterOutput,
    wanted: &str,
) -> Result<(), ClusterError> {
    let magnum = &connection.clients.magnum;
    let found = magnum.cluster_named(&connection.token, wanted).await?;
    // a list does not have the faults
    let cluster = magnum.cluster(&connection.token, found.uuid).await?;
    let groups = connection.detailed_groups(cluster.uuid).await?;
    // it only adds to what is shown
    let template = connection.template_of(&cluster).await.unwrap_or_default();
    let model = connection.model(&cluster, template.as_ref());
    let parts: Vec<_> = groups.iter().map(mapping::detailed_group).collect();
    let portico = PorticoView::new(&model, Some(&parts), connection.clock.now());
    let details = Details {
        cluster: ClusterView::new(&cluster, portico),
        keypair: cluster.keypair.clone(),
        flavor_id: cluster.flavor_id.clone(),
        master_flavor_id: cluster.master_flavor_id.clone(),
        labels: cluster.labels.applied.clone(),
        faults: cluster.faults.clone(),
        node_groups: groups.iter().map(GroupView::from).collect(),
    };
    print_object(console, format, &details, &cluster.name, || {
        text(&details, &model, format)
    })
}

fn text(details: &Details, model: &Cluster, format: ClusterOutput) -> Result<String, ClusterError> {
    let cluster = &details.cluster;
    let unset = || "-".to_owned();
    let fields = [
        ("Name", cluster.name.clone()),
        ("UUID", cluster.uuid.clone()),
        ("State", cluster.status.clone()),
        (
            "Reason",
            cluster.status_reason.clone().unwrap_or_else(unset),
        ),
        ("Health", cluster.health.clone()),
        ("Version", cluster.coe_version.clone().unwrap_or_else(unset)),
        ("API", cluster.api_address.clone().unwrap_or_else(unset)),
        ("Template", cluster.cluster_template_id.clone()),
        ("Driver", model.driver.family.name().to_owned()),
        ("Key pair", details.keypair.clone().unwrap_or_else(unset)),
    ];
    let mut text = String::new();
    let line = |text: &mut String, name: &str, value: &str| {
        text.push_str(&format!("{name:<10}{}\n", crate::one_line(value)));
    };
    for (name, value) in &fields {
        line(&mut text, name, value);
    }
    for part in health::parts(&cluster.health_status_reason) {
        line(&mut text, "", &format!("{}: {}", part.name, part.text));
    }
    if let Some(step) = &cluster.portico.step {
        line(&mut text, "Step", step);
    }
    if let Some(reason) = &cluster.portico.blocked_reason {
        line(&mut text, "Blocked", reason);
    }
    for explanation in explanation::lines(model) {
        line(&mut text, "Failure", &explanation);
    }
    if !details.node_groups.is_empty() {
        text.push('\n');
        text.push_str(&match format {
            ClusterOutput::Wide => output::wide(&details.node_groups),
            _ => output::list(OutputFormat::Table, &details.node_groups)?,
        });
    }
    Ok(text)
}

/// Follows the running operation of a cluster.
///
/// # Errors
/// How the operation ended, unless it succeeded; see [`follow`].
pub async fn watch(
    connection: &mut Connection,
    console: &mut Console,
    args: &WatchArgs,
) -> Result<(), ClusterError> {
    let magnum = &connection.clients.magnum;
    let found = magnum
        .cluster_named(&connection.token, &args.cluster)
        .await?;
    // the steps have other names only
    let template = connection.template_of(&found).await.unwrap_or_default();
    let cluster = connection.model(&found, template.as_ref());
    let Some(followed) = Followed::running(&cluster, found.create_timeout) else {
        if cluster.status.is_failed() {
            let detailed = magnum.cluster(&connection.token, found.uuid).await?;
            let detailed = connection.model(&detailed, None);
            return Err(ClusterError::Failed(explanation::of_failure(&detailed)));
        }
        console.say(format!(
            "Nothing is running: the cluster {} is {}.",
            cluster.name, cluster.status
        ));
        return Ok(());
    };
    let now = connection.clock.now();
    let since = match followed {
        Followed::Creation { .. } => cluster.created_at.unwrap_or(now).min(now),
        _ => now,
    };
    let following = Following {
        uuid: found.uuid,
        name: cluster.name.clone(),
        family: cluster.driver.family,
        followed,
        versions: None,
        since,
        timeout: args.timeout,
        has_json_lines: args.shared.output == ClusterOutput::Json,
    };
    follow(connection, console, following).await?;
    console.say(format!("The operation on {} has ended.", cluster.name));
    Ok(())
}
