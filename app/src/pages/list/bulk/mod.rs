//! A change of many objects: confirmed, held back for a few seconds, sent in parts, and reported.
mod bar;
mod dialog;
mod progress;

pub use bar::{BulkBar, face};
pub use dialog::BulkDialog;
pub use progress::BulkProgress;

use super::{page::ListPage, rights::Deed, selection::Picked};
use crate::{
    api::resources::change_many,
    context::use_session,
    error::{UiError, UiErrorKind},
    format,
    hooks::Timer,
    operations::{Activity, Operations, use_operations},
    routes,
};
use leptos::prelude::*;
use portico_domain::panel::{
    BulkAction, BulkOutcome, BulkTarget, DeletionGrade, MAX_BULK_TARGETS, ResourceKind,
    bulk_command,
};
use std::time::Duration;

/// How long a confirmed change can be taken back.
const UNDO_SECONDS: u32 = 5;
/// How long a success is shown.
const SUCCESS_DURATION: Duration = Duration::from_secs(6);

/// A change and its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub action: BulkAction,
    pub targets: Vec<BulkTarget>,
}

/// How far a change is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    Idle,
    /// Sent in so many seconds.
    Waiting(Change, u32),
    /// So many of its objects have an outcome.
    Running(Change, usize),
    Report {
        change: Change,
        done: usize,
        failed: Vec<BulkOutcome>,
        /// Objects that were not changed because the user stopped it.
        left: Vec<BulkTarget>,
    },
}

/// The bulk changes of a list. `Copy`.
#[derive(Clone, Copy)]
pub struct Bulk {
    page: ListPage,
    picked: Picked,
    kind: StoredValue<ResourceKind>,
    pub stage: RwSignal<Stage>,
    /// What the open dialog asks about.
    asked: RwSignal<Option<(Deed, Vec<BulkTarget>)>>,
    open: RwSignal<bool>,
    timer: Timer,
    stopped: StoredValue<bool>,
    operations: Operations,
    /// The address of the list.
    href: StoredValue<String>,
}

impl Bulk {
    pub fn new(page: ListPage, picked: Picked, kind: ResourceKind) -> Self {
        let project = use_session().project.get_untracked();
        let href = page
            .resource
            .with_value(|resource| routes::list(&project, page.cluster, resource));
        Self {
            page,
            picked,
            kind: StoredValue::new(kind),
            stage: RwSignal::new(Stage::Idle),
            asked: RwSignal::new(None),
            open: RwSignal::new(false),
            timer: Timer::new(),
            stopped: StoredValue::new(false),
            operations: use_operations(),
            href: StoredValue::new(href),
        }
    }

    /// Opens the dialog of a change.
    pub fn ask(self, deed: Deed, targets: Vec<BulkTarget>) {
        if targets.is_empty() || self.is_busy() {
            return;
        }
        self.asked.set(Some((deed, targets)));
        self.open.set(true);
    }

    /// Returns whether a change is under way; there is one at a time.
    fn is_busy(self) -> bool {
        self.stage
            .with(|stage| matches!(stage, Stage::Waiting(..) | Stage::Running(..)))
    }

    /// Sends a change after the seconds in which it can be taken back.
    fn confirm(self, change: Change) {
        self.open.set(false);
        self.count_down(change, UNDO_SECONDS);
    }

    fn count_down(self, change: Change, left: u32) {
        if left == 0 {
            self.send(change);
            return;
        }
        self.stage.set(Stage::Waiting(change.clone(), left));
        self.timer.start(Duration::from_secs(1), move || {
            self.count_down(change, left - 1);
        });
    }

    /// Takes a change back that was not sent yet.
    fn undo(self) {
        self.timer.cancel();
        self.stage.set(Stage::Idle);
    }

    /// Stops after the part that is being sent.
    fn stop(self) {
        self.stopped.set_value(true);
    }

    fn dismiss(self) {
        self.timer.cancel();
        self.stage.set(Stage::Idle);
    }

    fn retry(self, change: Change) {
        let is_deletion = matches!(change.action, BulkAction::Delete { .. });
        let grade = self.page.resource.with_value(DeletionGrade::highest);
        if is_deletion && grade == DeletionGrade::TypedName {
            // what was typed confirmed another number of objects
            self.dismiss();
            self.ask(Deed::Delete, change.targets);
        } else {
            self.send(change);
        }
    }

    /// Sends a change in parts. Leaving the page stops it after the current part.
    fn send(self, change: Change) {
        self.timer.cancel();
        self.stopped.set_value(false);
        self.stage.set(Stage::Running(change.clone(), 0));
        let resource = self.page.resource.get_value();
        let activity = self.activity(&change);
        leptos::task::spawn_local(async move {
            let mut outcomes = Vec::with_capacity(change.targets.len());
            for part in change.targets.chunks(MAX_BULK_TARGETS) {
                if self.stopped.try_get_value() != Some(false) {
                    break;
                }
                let sent = change_many(
                    self.page.cluster,
                    resource.clone(),
                    change.action.clone(),
                    part.to_vec(),
                );
                match sent.await {
                    Ok(more) => outcomes.extend(more),
                    Err(error) => outcomes.extend(failed_part(part, &error)),
                }
                let stage = Stage::Running(change.clone(), outcomes.len());
                let _ = self.stage.try_set(stage);
            }
            // also if the user has left the list meanwhile
            record(self.operations, activity, &change, &outcomes);
            self.report(change, outcomes);
        });
    }

    fn report(self, change: Change, outcomes: Vec<BulkOutcome>) {
        let left = change
            .targets
            .get(outcomes.len()..)
            .map(<[BulkTarget]>::to_vec)
            .unwrap_or_default();
        let (failed, done): (Vec<_>, Vec<_>) = outcomes
            .into_iter()
            .partition(|outcome| outcome.error.is_some());
        if matches!(change.action, BulkAction::Delete { .. }) {
            let gone: Vec<BulkTarget> = done.iter().map(|one| one.target.clone()).collect();
            self.picked.release(&gone);
        }
        let is_success = failed.is_empty() && left.is_empty();
        let stage = Stage::Report {
            change,
            done: done.len(),
            failed,
            left,
        };
        if self.stage.try_set(stage).is_some() {
            return;
        }
        if is_success {
            self.timer
                .start(SUCCESS_DURATION, move || self.stage.set(Stage::Idle));
        }
    }

    /// Returns a change for the activity of the tab.
    fn activity(self, change: &Change) -> Activity {
        let [verb, ..] = words(&change.action);
        let command = self
            .kind
            .with_value(|kind| bulk_command(&change.action, kind, &change.targets));
        Activity {
            title: format!("{verb} {}", self.counted(change.targets.len())),
            href: self.href.get_value(),
            command: command.unwrap_or_default(),
        }
    }

    /// Returns a number of objects of this kind in words: `1 Pod`, `12 Deployments`.
    fn counted(self, count: usize) -> String {
        self.kind.with_value(|kind| {
            let name = if count == 1 {
                kind.kind.clone()
            } else {
                kind.plural_name()
            };
            format!("{} {name}", format::count(count))
        })
    }
}

/// Adds a change with its outcome to the activity of the tab.
fn record(operations: Operations, activity: Activity, change: &Change, outcomes: &[BulkOutcome]) {
    let [_, _, was_done] = words(&change.action);
    let done = outcomes.iter().filter(|one| one.error.is_none()).count();
    let message = format!(
        "{} of {} {was_done}.",
        format::count(done),
        format::count(change.targets.len())
    );
    match outcomes.iter().find_map(|one| one.error.as_ref()) {
        None => operations.record(activity, Ok(&message)),
        Some(reason) => {
            let text = format!("{message} {reason}");
            let error = UiError::new(UiErrorKind::Internal, text);
            operations.record(activity, Err(&error));
        }
    }
}

fn failed_part(part: &[BulkTarget], error: &UiError) -> Vec<BulkOutcome> {
    part.iter()
        .map(|target| BulkOutcome {
            target: target.clone(),
            error: Some(error.message.clone()),
            missing: error.missing.clone(),
        })
        .collect()
}

/// Returns an action as a word for each of its stages: to do, being done, done.
fn words(action: &BulkAction) -> [&'static str; 3] {
    match action {
        BulkAction::Delete { .. } => ["Delete", "Deleting", "deleted"],
        BulkAction::Restart => ["Restart", "Restarting", "restarted"],
        BulkAction::Scale { .. } => ["Scale", "Scaling", "scaled"],
        BulkAction::Label { .. } => ["Label", "Labelling", "labelled"],
    }
}

/// Returns an object's name with its namespace.
fn named(target: &BulkTarget) -> String {
    match &target.namespace {
        Some(namespace) => format!("{namespace}/{}", target.name),
        None => target.name.clone(),
    }
}
