//! The replacement of a node: one more node in its group, and then one less with the chosen node; in place, one
//! less first.
//!
//! What was requested is read from the cluster's journal, and how far it is from Magnum, Nova and
//! Kubernetes. There is no other state: each tab and each replica sees the same, and a page that is opened
//! later continues. A start is recorded before it is sent, and is refused if another one is recorded, so
//! that of two at the same time none or one is sent. Each request has the absolute size of the group: one
//! that is repeated changes nothing.
#[cfg(test)]
pub mod tests;

use super::{kubernetes::InKubernetes, reading::Found, removal::DELETING};
use crate::service::{
    error::ServiceError,
    lifecycle::{
        access::MagnumAccess,
        journal::{RequestContent, RequestOutcome, requests},
        viewer::Viewer,
        words,
    },
};
use portico_domain::panel::{
    Health,
    lifecycle::{NodeReplacement, ReplacementStage},
};
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// The action of its requests in the journal and in the audit log.
pub const REPLACE: &str = "replace_node";

/// A request of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// One more node in the group.
    Add,
    /// One less, without the old node.
    Remove,
    /// In place: one less first, without the old node.
    Leave,
    /// In place: one more, after the old node has left.
    Refill,
    /// The user does not continue: the nodes stay as they are.
    Stop,
}

impl Stage {
    const ALL: [Self; 5] = [
        Self::Add,
        Self::Remove,
        Self::Leave,
        Self::Refill,
        Self::Stop,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Leave => "leave",
            Self::Refill => "refill",
            Self::Stop => "stop",
        }
    }
}

/// What a request of a replacement is about: the target of its entry in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub stage: Stage,
    /// The ID of the server of the old node.
    pub server: String,
    pub group: String,
    /// The size of the group before the replacement.
    pub from: u32,
    /// The name of the old node.
    pub name: String,
}

impl Replacement {
    /// Returns the request in words, for the journal.
    pub fn title(&self) -> String {
        let Self {
            group, from, name, ..
        } = self;
        let (more, less) = (from.saturating_add(1), from.saturating_sub(1));
        match self.stage {
            Stage::Add => {
                format!("Replace the node {name}: one node more in {group} ({from} to {more})")
            }
            Stage::Remove => format!("Replace the node {name}: remove it ({more} to {from})"),
            Stage::Leave => {
                format!("Replace the node {name} in place: remove it first ({from} to {less})")
            }
            Stage::Refill => {
                format!(
                    "Replace the node {name} in place: one node more in {group} ({less} to {from})"
                )
            }
            Stage::Stop => format!("Stop the replacement of the node {name}"),
        }
    }

    /// Returns the request of another stage.
    pub fn at(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    /// Returns the request that removes the old node, also another time.
    pub fn removal(self) -> Self {
        let stage = if self.is_in_place() {
            Stage::Leave
        } else {
            Stage::Remove
        };
        self.at(stage)
    }

    /// Returns whether the old node leaves before the new one is added.
    pub fn is_in_place(&self) -> bool {
        matches!(self.stage, Stage::Leave | Stage::Refill)
    }
}

/// The name is the last word, because it may have spaces.
impl fmt::Display for Replacement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stage,
            server,
            group,
            from,
            name,
        } = self;
        let stage = stage.as_str();
        write!(formatter, "{stage} {server} {group} {from} {name}")
    }
}

impl FromStr for Replacement {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.splitn(5, ' ');
        let mut next = || words.next().filter(|word| !word.is_empty()).ok_or(());
        let (stage, server, group, from, name) = (next()?, next()?, next()?, next()?, next()?);
        let stage = Stage::ALL.into_iter().find(|one| one.as_str() == stage);
        Ok(Self {
            stage: stage.ok_or(())?,
            server: server.to_owned(),
            group: group.to_owned(),
            from: from.parse().map_err(|_| ())?,
            name: name.to_owned(),
        })
    }
}

/// Returns the last request of the replacement that was begun and not stopped; the old node may have left
/// since. `except` is the ID of a request that is left out.
///
/// # Errors
/// `Unavailable` if there is no journal, or it cannot be read.
pub async fn open(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    except: Option<&str>,
) -> Result<Option<Replacement>, ServiceError> {
    let requests = requests(access, viewer, cluster, REPLACE, except).await?;
    Ok(of_requests(&requests))
}

/// Returns the open replacement of requests, of which the newest are first. One in place ends when Magnum has
/// accepted the new node: what follows is a resize like each other.
pub fn of_requests(requests: &[RequestContent]) -> Option<Replacement> {
    let mut sent = requests
        .iter()
        .filter(|request| request.outcome.may_have_effect())
        .filter_map(|request| Some((request.outcome, request.target.parse::<Replacement>().ok()?)));
    let (outcome, last) = sent.next()?;
    let is_ended = match last.stage {
        Stage::Stop => true,
        Stage::Refill => outcome == RequestOutcome::Accepted,
        Stage::Add | Stage::Remove | Stage::Leave => false,
    };
    (!is_ended).then_some(last)
}

/// Returns whether a request only stops a replacement, which changes nothing in Magnum.
pub fn is_stop(request: &RequestContent) -> bool {
    let target = request.target.parse::<Replacement>();
    request.action == REPLACE && target.is_ok_and(|target| target.stage == Stage::Stop)
}

/// Returns whether a replacement is not complete: the old node is still there, or in place the new one is not
/// there yet.
pub fn is_running(found: &Found, replacement: &Replacement) -> bool {
    is_present(found, &replacement.server)
        || (replacement.is_in_place() && !is_refilled(found, replacement))
}

/// Returns whether the group has as many nodes and servers as before.
fn is_refilled(found: &Found, replacement: &Replacement) -> bool {
    let Replacement { group, from, .. } = replacement;
    let target = &found.target;
    let counted = target.group(group).map_or(0, |group| group.node_count);
    let is_settled = !words::is_busy(&target.cluster.status);
    is_settled && counted >= *from && servers(found, group) >= *from
}

/// Returns how many servers of a group are there and do not leave.
fn servers(found: &Found, group: &str) -> u32 {
    let servers = found.nodes.items.iter().filter(|node| {
        node.server.is_some()
            && node.group.as_deref() == Some(group)
            && node.task.as_deref() != Some(DELETING)
    });
    u32::try_from(servers.count()).unwrap_or(u32::MAX)
}

/// Returns whether the node with a server is still there.
pub fn is_present(found: &Found, server: &str) -> bool {
    let mut nodes = found.nodes.items.iter();
    nodes.any(|node| node.server.as_deref() == Some(server))
}

/// Returns how far a replacement is; `None`: it is complete.
pub fn progress(
    found: &Found,
    replacement: &Replacement,
    in_kubernetes: &InKubernetes,
) -> Option<NodeReplacement> {
    if !is_running(found, replacement) {
        return None;
    }
    let (stage, text) = if replacement.is_in_place() {
        stage_in_place(found, replacement)
    } else {
        stage(found, replacement, in_kubernetes)
    };
    Some(NodeReplacement {
        name: replacement.name.clone(),
        server: replacement.server.clone(),
        group: replacement.group.clone(),
        stage,
        is_in_place: replacement.is_in_place(),
        text,
    })
}

fn stage_in_place(found: &Found, replacement: &Replacement) -> (ReplacementStage, String) {
    let Replacement {
        group, from, name, ..
    } = replacement;
    let target = &found.target;
    let counted = target.group(group).map_or(0, |group| group.node_count);
    let is_busy = words::is_busy(&target.cluster.status);
    if is_present(found, &replacement.server) {
        let text = if is_busy || counted < *from {
            format!(
                "Magnum removes {name}. After that, the page waits for you to add the new node."
            )
        } else {
            format!(
                "{name} is there, and Magnum does not work on the cluster. The removal may have failed: look at \
                 the page of the cluster. Stop the replacement to begin again."
            )
        };
        return (ReplacementStage::Removing, text);
    }
    if counted >= *from {
        let text = if is_busy {
            format!("Magnum adds a node to {group}.")
        } else {
            format!("The server of the new node of {group} is not in Nova yet.")
        };
        return (ReplacementStage::Adding, text);
    }
    if is_busy {
        let text = format!("{name} has left, and Magnum still works on the cluster.");
        return (ReplacementStage::Removing, text);
    }
    let failed = if replacement.stage == Stage::Refill {
        " An earlier request for it had no effect: look at the page of the cluster first."
    } else {
        ""
    };
    let text = format!("{name} has left. Add the new node to {group} now.{failed}");
    (ReplacementStage::WaitingForYou, text)
}

fn stage(
    found: &Found,
    replacement: &Replacement,
    in_kubernetes: &InKubernetes,
) -> (ReplacementStage, String) {
    let Replacement {
        group, from, name, ..
    } = replacement;
    let target = &found.target;
    if replacement.stage == Stage::Remove {
        let text = format!(
            "Magnum removes {name}. If its server stays after the cluster is settled, look at the journal \
             and remove the node again."
        );
        return (ReplacementStage::Removing, text);
    }
    let counted = target.group(group).map_or(0, |group| group.node_count);
    if words::is_busy(&target.cluster.status) {
        let text = format!("Magnum adds a node to {group}.");
        return (ReplacementStage::Adding, text);
    }
    if counted <= *from {
        let text = format!(
            "Magnum has {counted} nodes of {group}, and does not work on the cluster. The new node may have \
             failed: look at the page of the cluster. Stop the replacement to begin again."
        );
        return (ReplacementStage::Adding, text);
    }
    let others = found.nodes.items.iter().filter(|node| {
        node.group.as_ref() == Some(group)
            && node.server.as_ref() != Some(&replacement.server)
            && node.task.as_deref() != Some(DELETING)
    });
    let names: Vec<_> = others.filter_map(|node| node.name.as_deref()).collect();
    if u32::try_from(names.len()).unwrap_or(u32::MAX) < *from {
        let text = format!("The server of the new node of {group} is not in Nova yet.");
        return (ReplacementStage::Adding, text);
    }
    if in_kubernetes.note.is_none() {
        let waiting = names.into_iter();
        let waiting: Vec<_> = waiting
            .filter(|name| !is_ready(in_kubernetes, name))
            .collect();
        if !waiting.is_empty() {
            let text = format!(
                "Not ready in Kubernetes, or cordoned: {}.",
                waiting.join(", ")
            );
            return (ReplacementStage::NotReady, text);
        }
    }
    let ready = if in_kubernetes.note.is_none() {
        "The new node is ready."
    } else {
        "The server of the new node is there. Check that it is ready in Kubernetes."
    };
    let text = format!("{ready} Drain {name}, then remove it.");
    (ReplacementStage::WaitingForYou, text)
}

fn is_ready(in_kubernetes: &InKubernetes, name: &str) -> bool {
    let node = in_kubernetes.nodes.get(name);
    node.is_some_and(|node| node.health == Health::Ok)
}
