//! The entries of a journal in words.
use super::content::{ObservationContent, RequestContent, RequestOutcome};
use super::event_rows::{of_node, of_stack};
use super::sending::{self, INTERRUPTED, is_interrupted, is_superseded};
use super::user_names::UserNames;
use crate::service::lifecycle::{
    node_groups::waiting,
    nodes::{self, DrainRequest, Replacement},
    words,
};
use jiff::{SignedDuration, Timestamp};
use portico_domain::panel::{
    Health,
    lifecycle::{JournalRow, JournalSource as Source},
};
use portico_lifecycle::{
    journal::{
        Cause, Difference, NodeEvent, Observed, Requested, StackEvent, TemplateNames, Timeline,
        UPGRADE_ACTION, causes,
    },
    status::Status,
};
use portico_store::{JournalEntry, JournalKey, JournalSource};
use std::collections::HashSet;

/// Time between two observations from which the time of a difference is a range.
pub const MAX_EXACT: SignedDuration = SignedDuration::from_mins(2);

/// Entries of one journal, the newest first.
pub struct Read<'a> {
    pub key: &'a JournalKey,
    /// Newer entries, which may have the outcomes of the requests.
    pub newer: &'a [JournalEntry],
    /// Without gaps.
    pub entries: &'a [JournalEntry],
    /// Older requests and observations, from which the entries may follow.
    pub context: &'a [JournalEntry],
    pub viewer_id: &'a str,
    pub templates: &'a TemplateNames,
    pub now: Timestamp,
}

/// What a page shows.
pub struct Shown {
    /// The newest first.
    pub rows: Vec<JournalRow>,
    /// The entries that were changed after they were written, as a sentence.
    pub changed: Option<String>,
}

/// A content that can be read.
pub(super) enum Content {
    Request(RequestContent),
    Observation(ObservationContent),
    Stack(StackEvent),
    Node(NodeEvent),
    Unreadable,
}

/// Returns the newest `limit` entries as rows; the others are only looked at.
pub fn of(read: &Read<'_>, limit: usize) -> Shown {
    let entries = read.newer.iter().chain(read.entries).chain(read.context);
    let entries: Vec<&JournalEntry> = entries.rev().collect();
    let contents: Vec<Content> = entries.iter().map(|entry| content(entry)).collect();
    let ended: HashSet<(&str, &str)> = contents.iter().filter_map(ended).collect();
    let causes = causes(&timeline(&entries, &contents));
    let requests = contents.iter().filter_map(request);
    let users = UserNames::of(requests, read.viewer_id);
    let mut rows = Vec::new();
    for (index, (entry, content)) in entries.iter().zip(&contents).enumerate() {
        let row = match content {
            Content::Request(request) if is_superseded(request, &ended) => continue,
            Content::Request(request) => of_request(entry, request, read),
            Content::Observation(observation) => {
                let cause = causes.get(index).copied().flatten();
                let caused = match cause {
                    Some(Cause::Request(index)) => contents.get(index).and_then(request),
                    _ => None,
                };
                of_observation(entry, observation, (cause, caused), (read, &users))
            }
            Content::Stack(event) => of_stack(entry.sequence, event),
            Content::Node(event) => of_node(entry.sequence, event),
            Content::Unreadable => unreadable(entry),
        };
        rows.push((entry.sequence, row));
    }
    let shown_from = read.entries.get(..limit.min(read.entries.len()));
    let oldest = shown_from
        .and_then(<[JournalEntry]>::last)
        .map_or(0, |entry| entry.sequence);
    let newest = read.entries.first().map_or(0, |entry| entry.sequence);
    let mut rows: Vec<JournalRow> = rows
        .into_iter()
        .filter(|(sequence, _)| (oldest..=newest).contains(sequence))
        .map(|(_, row)| row)
        .collect();
    rows.reverse();
    Shown {
        rows,
        changed: changed(read),
    }
}

pub(super) fn content(entry: &JournalEntry) -> Content {
    match entry.source {
        JournalSource::Request => {
            serde_json::from_str(&entry.content).map_or(Content::Unreadable, Content::Request)
        }
        JournalSource::Observation => {
            serde_json::from_str(&entry.content).map_or(Content::Unreadable, Content::Observation)
        }
        JournalSource::Heat => {
            serde_json::from_str(&entry.content).map_or(Content::Unreadable, Content::Stack)
        }
        JournalSource::Kubernetes => {
            serde_json::from_str(&entry.content).map_or(Content::Unreadable, Content::Node)
        }
    }
}

pub(super) fn request(content: &Content) -> Option<&RequestContent> {
    match content {
        Content::Request(request) => Some(request),
        _ => None,
    }
}

/// Returns whether Magnum changes the cluster because of an accepted request of this kind.
pub fn changes_magnum(request: &RequestContent) -> bool {
    let own = [
        "enrol",
        "sign_certificate",
        "protect_cluster",
        "unprotect_cluster",
        nodes::DRAIN,
        waiting::REST,
        waiting::QUEUE,
        waiting::DISCARD,
    ];
    !own.contains(&request.action.as_str()) && !nodes::is_stop(request)
}

/// Returns what attribution needs of entries and their contents, the oldest first.
pub(super) fn timeline(entries: &[&JournalEntry], contents: &[Content]) -> Vec<Timeline> {
    let ended: HashSet<(&str, &str)> = contents.iter().filter_map(ended).collect();
    let pairs = entries.iter().zip(contents);
    pairs
        .map(|(entry, content)| of_timeline(entry, content, &ended))
        .collect()
}

fn of_timeline(entry: &JournalEntry, content: &Content, ended: &HashSet<(&str, &str)>) -> Timeline {
    let requested = |may_have_effect| {
        Timeline::Requested(Requested {
            at: entry.at,
            may_have_effect,
        })
    };
    match content {
        Content::Request(request) => {
            let may_have_effect = request.outcome.may_have_effect() && changes_magnum(request);
            requested(may_have_effect && !is_superseded(request, ended))
        }
        // they explain no difference
        Content::Stack(_) | Content::Node(_) | Content::Unreadable => requested(false),
        Content::Observation(observation) => Timeline::Observed(Observed {
            at: entry.at,
            since: observation
                .since
                .and_then(|since| Timestamp::from_second(since).ok())
                .unwrap_or(entry.at),
            is_requested: observation.differences.iter().any(|one| one.is_requested),
            is_busy: observation.is_busy,
        }),
    }
}

/// Returns what identifies a request whose outcome is recorded.
fn ended(content: &Content) -> Option<(&str, &str)> {
    sending::ended(request(content)?)
}

/// Returns which entries do not follow the one before, as a sentence.
fn changed(read: &Read<'_>) -> Option<String> {
    let pairs = read.entries.iter().zip(read.entries.iter().skip(1));
    let first = read
        .entries
        .last()
        .filter(|entry| entry.sequence == 1)
        .filter(|entry| !entry.follows(read.key, ""));
    let sequences: Vec<String> = pairs
        .filter(|(entry, before)| {
            entry.sequence != before.sequence + 1 || !entry.follows(read.key, &before.hash)
        })
        .map(|(entry, _)| entry.sequence.to_string())
        .chain(first.map(|entry| entry.sequence.to_string()))
        .collect();
    (!sequences.is_empty()).then(|| {
        format!(
            "Entries of this journal were changed or removed after they were written, at number {}. \
             Ask the operator to compare them with a backup.",
            sequences.join(", ")
        )
    })
}

fn of_request(entry: &JournalEntry, request: &RequestContent, read: &Read<'_>) -> JournalRow {
    let is_interrupted = is_interrupted(request, entry.at, read.now);
    let (outcome, health) = match request.outcome {
        RequestOutcome::Sending if is_interrupted => {
            ("Interrupted; its outcome is not known", Health::Unknown)
        }
        RequestOutcome::Sending => ("Being sent", Health::Progressing),
        RequestOutcome::Accepted => ("Accepted", Health::Ok),
        RequestOutcome::Refused => ("Refused", Health::Warning),
        RequestOutcome::Failed => ("Failed", Health::Failed),
        RequestOutcome::Unknown => ("The response was lost", Health::Unknown),
    };
    JournalRow {
        id: format!("p{}", entry.sequence),
        at: entry.at.as_second(),
        since: None,
        source: Source::Request,
        title: title(request, read.templates),
        lines: match is_interrupted {
            true => vec![INTERRUPTED.to_owned()],
            false => request.answer.clone().into_iter().collect(),
        },
        by: user(request, read.viewer_id),
        user: Some(request.user_name.clone()),
        is_outside: false,
        reason: request.reason.clone(),
        status: outcome.to_owned(),
        health,
        request_id: request.request_id.clone(),
    }
}

/// Returns the name of the user of a request, and whether that is the viewer.
pub fn user(request: &RequestContent, viewer_id: &str) -> String {
    if request.user_id == viewer_id {
        return format!("{} (you)", request.user_name);
    }
    request.user_name.clone()
}

/// Returns the action of a request in words.
pub fn title(request: &RequestContent, templates: &TemplateNames) -> String {
    let target = &request.target;
    let of_group = |verb: &str| format!("{verb} {target}");
    match request.action.as_str() {
        "create_cluster" => "Create the cluster".to_owned(),
        "continue_creation" => "Continue the creation".to_owned(),
        "delete_cluster" if target.is_empty() => "Delete the cluster".to_owned(),
        // what the user has accepted
        "delete_cluster" => format!("Delete the cluster ({target})"),
        "enrol" => "Enrol the cluster".to_owned(),
        "create_node_group" => of_group("Create the node group"),
        "change_node_group" => of_group("Change the node group"),
        "resize_node_group" => of_group("Resize the node group"),
        "delete_node_group" => of_group("Delete the node group"),
        waiting::REST => of_group("Continue later: the node group"),
        waiting::QUEUE => of_group("Queue the change of the node group"),
        waiting::DISCARD => of_group("Discard the change of the node group"),
        "remove_node" => of_group("Remove the node"),
        nodes::REPLACE => match target.parse::<Replacement>() {
            Ok(replacement) => replacement.title(),
            Err(()) => of_group("Replace the node"),
        },
        UPGRADE_ACTION => format!("Upgrade to {}", templates.shown(target)),
        nodes::DRAIN => match target.parse::<DrainRequest>() {
            Ok(drain) => drain.title(),
            Err(()) => of_group("Drain the node"),
        },
        "rotate_ca" => "Rotate the CA".to_owned(),
        // the names of both owners, if it was sent on a page
        "rotate_credential" if target.contains(" to ") => {
            format!("Rotate the credential: ownership passes from {target}")
        }
        "rotate_credential" => "Rotate the credential".to_owned(),
        "settle_cluster" => "Settle the cluster".to_owned(),
        "change_cluster" => "Change the cluster".to_owned(),
        "sign_certificate" => "Sign a certificate".to_owned(),
        "protect_cluster" => "Protect the cluster from deletion".to_owned(),
        "unprotect_cluster" => "Remove the protection from deletion".to_owned(),
        other => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect()
        }
    }
}

fn of_observation(
    entry: &JournalEntry,
    observation: &ObservationContent,
    (cause, request): (Option<Cause>, Option<&RequestContent>),
    (read, users): (&Read<'_>, &UserNames<'_>),
) -> JournalRow {
    let status = Status::parse(&observation.status);
    let differences = &observation.differences;
    let of_state = differences.iter().any(|one| one.field == "State");
    let title = match differences.first() {
        None => "First seen".to_owned(),
        Some(_) if of_state => words::state(&status),
        Some(first) => format!("{} changed", first.field),
    };
    // addresses and other facts follow from the number of nodes
    let is_sizes_only = differences
        .iter()
        .filter(|one| one.is_requested)
        .all(|one| one.field.starts_with("Nodes of "));
    let by = match (cause, request) {
        (Some(Cause::Request(_)), Some(request)) => {
            format!("Requested by {}", user(request, read.viewer_id))
        }
        (Some(Cause::Outside), _) if is_sizes_only => {
            "An autoscaler, or another client of Magnum".to_owned()
        }
        (Some(Cause::Outside), _) => "Another client of Magnum, outside of Portico".to_owned(),
        _ => "Magnum".to_owned(),
    };
    let since = observation
        .since
        .and_then(|since| Timestamp::from_second(since).ok());
    let omitted = match observation.omitted {
        0 => None,
        1 => Some("One further difference is not shown.".to_owned()),
        number => Some(format!("{number} further differences are not shown.")),
    };
    let is_range = since.is_some_and(|since| entry.at.duration_since(since) > MAX_EXACT);
    JournalRow {
        id: format!("p{}", entry.sequence),
        at: entry.at.as_second(),
        since: since.filter(|_| is_range).map(Timestamp::as_second),
        source: Source::Observation,
        title,
        lines: differences
            .iter()
            .map(|difference| users.named(read.templates.named(difference.clone())))
            .map(|difference| line(&difference))
            .chain(omitted)
            .collect(),
        by,
        user: request.map(|request| request.user_name.clone()),
        is_outside: cause == Some(Cause::Outside),
        reason: None,
        status: words::state(&status),
        health: words::tone(&status, None, false),
        request_id: None,
    }
}

/// Returns a difference as `State: Running → Being changed`.
fn line(difference: &Difference) -> String {
    let is_state = difference.field.starts_with("State");
    let value = |text: &Option<String>| match text {
        None => "nothing".to_owned(),
        Some(text) if is_state => words::state(&Status::parse(text)),
        Some(text) => text.clone(),
    };
    format!(
        "{}: {} → {}",
        difference.field,
        value(&difference.before),
        value(&difference.after)
    )
}

fn unreadable(entry: &JournalEntry) -> JournalRow {
    JournalRow {
        id: format!("p{}", entry.sequence),
        at: entry.at.as_second(),
        since: None,
        source: match entry.source {
            JournalSource::Request => Source::Request,
            JournalSource::Observation => Source::Observation,
            JournalSource::Heat => Source::Heat,
            JournalSource::Kubernetes => Source::Kubernetes,
        },
        title: "Written by another version of Portico".to_owned(),
        lines: vec![entry.content.clone()],
        by: "Not known".to_owned(),
        user: None,
        is_outside: false,
        reason: None,
        status: "Not known".to_owned(),
        health: Health::Unknown,
        request_id: None,
    }
}
