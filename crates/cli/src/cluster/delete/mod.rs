//! `portico cluster delete`: shows what will be deleted and what remains, asks for the name, then deletes.
mod contents;
mod record;
mod rights;

use super::arguments::DeleteArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::follow::{Following, follow};
use super::views::print_object;
use contents::Contents;
use portico_cluster_operations::{items, mapping};
use portico_domain::panel::lifecycle::{ACCEPTED_ARGUMENT, DeletionOptions};
use portico_lifecycle::driver::Family;
use portico_lifecycle::inventory::{DeleteOptions, Inventory, Item, Kind, inventory, leftovers};
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_lifecycle::preflight::{DeletionContext, Level, before_deletion};
use portico_lifecycle::progress::{Followed, Mark};
use serde_json::{Value, json};
use std::fmt::Write as _;
use uuid::Uuid;

/// A cluster to delete, with what belongs to it.
struct Doomed {
    uuid: Uuid,
    cluster: Cluster,
    groups: Vec<NodeGroup>,
    inventory: Inventory,
    /// What is deleted in the cluster first; `None`: nothing.
    contents: Option<Contents>,
    gaps: Vec<String>,
}

/// Deletes a cluster.
///
/// # Errors
/// [`ClusterError::NotConfirmed`] or [`ClusterError::Usage`] without the name: nothing was sent then.
pub async fn delete(
    connection: &mut Connection,
    console: &mut Console,
    args: &DeleteArgs,
) -> Result<(), ClusterError> {
    if args.force_record {
        return record::forget(connection, console, args).await;
    }
    let mut doomed = read(connection, args).await?;
    let name = doomed.cluster.name.clone();
    let format = args.shared.output;
    print_object(console, format, &to_json(&doomed), &name, || {
        Ok(text(&doomed))
    })?;
    ensure_kept(&doomed, args)?;
    let status = &doomed.cluster.status;
    let is_running = status.is_deletion() && status.is_in_progress();
    // of a deletion that is running, nothing is sent again
    if let Some(contents) = doomed.contents.as_mut().filter(|_| !is_running) {
        contents.announce(console).await?;
    }
    if args.dry_run.is_on() {
        console.say("Nothing was sent.");
        return Ok(());
    }
    if let Some(contents) = doomed.contents.as_mut().filter(|_| !is_running) {
        contents.accept(console)?;
    }
    let typed = typed_name(console, args, &name)?;
    let checks = before_deletion(&DeletionContext {
        cluster: &doomed.cluster,
        // the panel has the protection, and refuses a session's request; without a session nothing does
        is_protected: false,
        typed_name: &typed,
        is_api_reachable: doomed.contents.is_some(),
        has_creator: None,
    });
    let blocking = checks.0.iter().find(|check| check.level == Level::Blocks);
    if let Some(check) = blocking {
        return Err(match check.subject {
            "Name" => ClusterError::NotConfirmed { typed },
            _ => ClusterError::Blocked {
                exit: exit_code::CONFLICT,
                text: check.text.clone(),
            },
        });
    }
    if is_running {
        console.say(format!("{name} is already being deleted."));
    } else {
        if let Some(contents) = &mut doomed.contents {
            rights::ensure_deletable(connection, &doomed.cluster, doomed.uuid).await?;
            contents.delete_first(console).await?;
        }
        send(connection, &doomed).await?;
        console.say(format!("Magnum has accepted the deletion of {name}."));
    }
    if !args.waiting.is_wanted(false) {
        let uuid = doomed.uuid;
        console.say(format!("Watch it with `portico cluster watch {uuid}`."));
        return Ok(());
    }
    wait(connection, console, &doomed, args).await?;
    report_leftovers(connection, console, &doomed).await;
    Ok(())
}

/// Sends the deletion. The panel gets for the journal what the user has accepted; without it, there is none.
async fn send(connection: &Connection, doomed: &Doomed) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let accepted = doomed.contents.as_ref().and_then(Contents::accepted);
    let kinds = accepted.and_then(DeletionOptions::accepted_kinds);
    match kinds.filter(|_| connection.is_through_gateway()) {
        Some(kinds) => {
            let argument = (ACCEPTED_ARGUMENT, kinds);
            magnum
                .delete_cluster_with(token, doomed.uuid, argument)
                .await?;
        }
        None => magnum.delete_cluster(token, doomed.uuid).await?,
    }
    Ok(())
}

/// Refuses a deletion that is to keep volumes where the driver may delete them.
fn ensure_kept(doomed: &Doomed, args: &DeleteArgs) -> Result<(), ClusterError> {
    // these drivers delete none
    let keeps_all = matches!(
        doomed.cluster.driver.family,
        Family::Heat | Family::ClusterApi
    );
    if !args.keep_volumes || keeps_all {
        return Ok(());
    }
    if let Some(gap) = doomed.gaps.iter().find(|gap| gap.contains("volumes")) {
        return Err(ClusterError::Blocked {
            exit: exit_code::UNAVAILABLE,
            text: format!(
                "it is not known which volumes the driver would delete, so nothing was sent. {gap}"
            ),
        });
    }
    let inventory = &doomed.inventory;
    let mut endangered = inventory
        .goes
        .iter()
        .chain(&inventory.depends)
        .filter(|(item, _)| matches!(item.kind, Kind::PersistentVolume(_)));
    let Some((first, rule)) = endangered.next() else {
        return Ok(());
    };
    Err(ClusterError::Blocked {
        exit: exit_code::UNSUPPORTED,
        text: format!(
            "{} volumes of workloads may be deleted, such as {}; nothing was sent. {rule}\n  Make snapshots of \
             them or copy the data, then repeat the command without --keep-volumes",
            endangered.count() + 1,
            first.name
        ),
    })
}

async fn read(connection: &Connection, args: &DeleteArgs) -> Result<Doomed, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.cluster_named(token, &args.cluster).await?;
    // before anything else: without access nothing is deleted
    let contents = Contents::open(connection, found.uuid, args).await?;
    let (template, unread) = match connection.template_of(&found).await {
        Ok(template) => (template, None),
        Err(error) => {
            let gap = format!(
                "What the driver deletes is not known, as the template was not read: {error}."
            );
            (None, Some(gap))
        }
    };
    let cluster = connection.model(&found, template.as_ref());
    let groups = connection.groups(found.uuid).await?;
    let gap = groups
        .cut
        .map(|cut| format!("The list of node groups is incomplete: {cut}."));
    let groups: Vec<_> = groups.items.iter().map(mapping::group).collect();
    let mut items = items::find(&connection.clients, &connection.token, &cluster, &groups).await;
    items.gaps.extend(unread.into_iter().chain(gap));
    if let Some(contents) = &contents {
        contents.add_policies(&mut items.items);
    }
    let options = DeleteOptions {
        services_first: args.delete_lbs,
        claims_first: args.delete_volumes,
    };
    let family = cluster.driver.family;
    Ok(Doomed {
        uuid: found.uuid,
        inventory: inventory(items.items, family, options),
        contents,
        gaps: items.gaps,
        cluster,
        groups,
    })
}

/// Returns the name that the user typed.
fn typed_name(
    console: &mut Console,
    args: &DeleteArgs,
    name: &str,
) -> Result<String, ClusterError> {
    if args.yes {
        return Ok(name.to_owned());
    }
    let typed = console.ask(&format!("Type {name} to delete the cluster: "))?;
    typed.ok_or_else(|| {
        ClusterError::Usage(format!(
            "there is no terminal to ask for the name {name}, so nothing was deleted: add --yes"
        ))
    })
}

async fn wait(
    connection: &mut Connection,
    console: &mut Console,
    doomed: &Doomed,
    args: &DeleteArgs,
) -> Result<(), ClusterError> {
    let cluster = &doomed.cluster;
    let following = Following {
        uuid: doomed.uuid,
        name: cluster.name.clone(),
        family: cluster.driver.family,
        versions: None,
        followed: Followed::Deletion {
            before: Mark::of(cluster),
        },
        since: connection.clock.now(),
        timeout: args.waiting.timeout,
        has_json_lines: false,
    };
    follow(connection, console, following).await
}

/// Looks once more, after Magnum's record is gone.
async fn report_leftovers(connection: &Connection, console: &mut Console, doomed: &Doomed) {
    let mut after = items::find(&connection.clients, &connection.token, &doomed.cluster, &[]).await;
    // it existed before the cluster, so its existence tells nothing
    let network = doomed.cluster.network.as_deref();
    after.items.retain(|item| Some(item.id.as_str()) != network);
    for gap in &after.gaps {
        console.say(gap);
    }
    let left = leftovers(&doomed.inventory, after.items);
    if left.is_empty() {
        // what could not be read, or is missing in an incomplete list, may exist
        let place = if after.gaps.is_empty() {
            "the project"
        } else {
            "what was checked"
        };
        console.say(format!(
            "{} is deleted; nothing of it was found in {place}.",
            doomed.cluster.name
        ));
        return;
    }
    console.say(format!("{} is deleted. What is left:", doomed.cluster.name));
    for leftover in left {
        console.say(format!("  {} ({})", leftover.text, leftover.item.id));
    }
}

/// The lists of the inventory with their headings, which are those of the panel.
type Lists<'a> = [(&'static str, &'a [(Item, &'static str)]); 3];

fn lists(inventory: &Inventory) -> Lists<'_> {
    [
        ("Will be deleted", &inventory.goes),
        (
            "Depends on the driver or the reclaim policy",
            &inventory.depends,
        ),
        ("Remains and may incur costs", &inventory.stays),
    ]
}

fn text(doomed: &Doomed) -> String {
    let cluster = &doomed.cluster;
    let nodes: u32 = doomed.groups.iter().map(|group| group.node_count).sum();
    let mut text = format!(
        "Cluster {} ({}), {}, {nodes} nodes\n",
        cluster.name, cluster.uuid, cluster.status
    );
    // writing to a string cannot fail
    for (heading, items) in lists(&doomed.inventory) {
        if !items.is_empty() {
            let _ = writeln!(text, "\n{heading}");
        }
        for (item, rule) in items {
            let kind = item.kind.name();
            let _ = writeln!(text, "  {kind} {}. {rule}", crate::one_line(&item.name));
        }
    }
    for gap in &doomed.gaps {
        let _ = writeln!(text, "\n{gap}");
    }
    text
}

fn to_json(doomed: &Doomed) -> Value {
    let items = |items: &[(Item, &'static str)]| -> Vec<Value> {
        items
            .iter()
            .map(|(item, rule)| {
                json!({"kind": item.kind.name(), "id": item.id, "name": item.name, "rule": rule})
            })
            .collect()
    };
    let inventory = &doomed.inventory;
    json!({"uuid": doomed.cluster.uuid, "name": doomed.cluster.name,
           "status": doomed.cluster.status.to_string(), "goes": items(&inventory.goes),
           "depends": items(&inventory.depends), "stays": items(&inventory.stays),
           "not_checked": doomed.gaps})
}
