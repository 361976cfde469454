//! Runs operations: one request after another, until there is nothing left to do.
use super::{Activity, Drain, Operation, Operations, STORAGE_KEY, State, stored};
use crate::{
    api::objects::drain_node,
    context::use_session,
    error::{UiError, UiErrorKind},
    routes,
};
use leptos::prelude::*;
use portico_domain::panel::{DrainProgress, DrainState, Refusal};
use std::time::Duration;

/// The pause between two requests.
const STEP_INTERVAL: Duration = Duration::from_secs(2);
/// The pause while every remaining pod is blocked, and after a failure that may pass.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
const RELOADED: &str = "The page was loaded again.";

impl Operations {
    /// Starts a drain. One of the same node replaces it.
    pub fn start(self, drain: Drain) {
        self.list.update(|list| {
            list.retain(|one| !one.drain.with_value(|other| is_same(other, &drain)))
        });
        if let Some(operation) = self.add(drain, State::Running) {
            self.is_used.set(true);
            self.step(operation);
        }
    }

    /// Adds the operations of an earlier page of this tab.
    pub fn restore(self) {
        let known: Vec<Drain> = stored()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let is_new = |drain: &Drain| {
            self.list.with_untracked(|list| {
                !list
                    .iter()
                    .any(|one| one.drain.with_value(|other| is_same(other, drain)))
            })
        };
        for drain in known {
            if is_new(&drain) {
                self.add(drain, State::waiting(RELOADED));
            }
        }
    }

    pub(super) fn resume(self, operation: Operation) {
        operation.state.set(State::Running);
        self.step(operation);
    }

    pub(super) fn remove(self, operation: Operation) {
        if operation.state.get_untracked() != State::Done {
            self.note(operation, "Stopped before every pod had left.");
        }
        // a request that is on its way must not continue it
        operation.state.set(State::Done);
        self.list
            .update(|list| list.retain(|one| one.id != operation.id));
        self.store();
    }

    /// Adds the end of an operation to the history.
    fn note(self, operation: Operation, words: &str) {
        let activity = operation.drain.with_value(|drain| Activity {
            title: format!("Drain {}", drain.node.name),
            href: routes::object(&drain.project, drain.cluster, &drain.node),
            command: drain.command.clone(),
        });
        self.record(activity, Ok(words));
    }

    fn add(self, drain: Drain, state: State) -> Option<Operation> {
        let id = self.last_id.try_update_value(|last| {
            *last += 1;
            *last
        })?;
        // it outlives the page that started it
        let owner = self.owner.get_value()?;
        let operation = owner.with(|| Operation {
            id,
            drain: StoredValue::new(drain),
            progress: RwSignal::new(DrainProgress::default()),
            total: RwSignal::new(0),
            state: RwSignal::new(state),
        });
        self.list.update(|list| list.push(operation));
        self.store();
        Some(operation)
    }

    /// Sends one request, and the next one after a pause.
    fn step(self, operation: Operation) {
        let Some(owner) = self.owner.get_value() else {
            return;
        };
        let session = owner.with(use_session);
        let drain = operation.drain.get_value();
        if session.project.get_untracked() != drain.project {
            let words = "It continues on the pages of its own project.";
            operation.state.set(State::waiting(words));
            return;
        }
        leptos::task::spawn_local(async move {
            let answer = drain_node(drain.cluster, drain.node, drain.uid, drain.options).await;
            let Some(state) = operation.state.try_get_untracked() else {
                return;
            };
            if !matches!(state, State::Running | State::Retrying(_)) {
                return;
            }
            let wait = match answer {
                Ok(progress) => {
                    let (state, wait) = after(&progress);
                    operation
                        .total
                        .update(|total| *total = (*total).max(progress.remaining()));
                    operation.progress.set(progress);
                    if state == State::Done {
                        self.note(operation, "Drained. No new pods are placed on it.");
                    }
                    operation.state.set(state);
                    wait
                }
                Err(error) => {
                    let (state, wait) = after_failure(&error);
                    operation.state.set(state);
                    wait
                }
            };
            match wait {
                Some(wait) => set_timeout(
                    move || {
                        let state = operation.state.try_get_untracked();
                        if matches!(state, Some(State::Running | State::Retrying(_))) {
                            self.step(operation);
                        }
                    },
                    wait,
                ),
                None => self.store(),
            }
        });
    }

    /// Stores what is unfinished for the next page of this tab.
    fn store(self) {
        let unfinished: Vec<Drain> = self.list.with_untracked(|list| {
            list.iter()
                .filter(|one| one.state.get_untracked() != State::Done)
                .map(|one| one.drain.get_value())
                .collect()
        });
        let Ok(Some(storage)) = window().session_storage() else {
            return;
        };
        let _ = match serde_json::to_string(&unfinished) {
            Ok(text) if !unfinished.is_empty() => storage.set_item(STORAGE_KEY, &text),
            _ => storage.remove_item(STORAGE_KEY),
        };
    }
}

fn is_same(one: &Drain, other: &Drain) -> bool {
    one.cluster == other.cluster && one.node == other.node
}

/// Returns the state after an answer, and when to ask again.
fn after(progress: &DrainProgress) -> (State, Option<Duration>) {
    if progress.is_done() {
        return (State::Done, None);
    }
    if progress.is_stuck() {
        let words = "What is left needs a decision of yours.";
        return (State::waiting(words), None);
    }
    let blocked = progress.count(DrainState::Blocked);
    if blocked > 0 && blocked + progress.count(DrainState::NeedsUser) == progress.remaining() {
        let words = "Pods wait for their PodDisruptionBudget.";
        return (State::Retrying(words.to_owned()), Some(RETRY_INTERVAL));
    }
    (State::Running, Some(STEP_INTERVAL))
}

fn after_failure(error: &UiError) -> (State, Option<Duration>) {
    match error.kind {
        UiErrorKind::Unavailable => (State::Retrying(error.message.clone()), Some(RETRY_INTERVAL)),
        UiErrorKind::SignedOut => (State::waiting("You are signed out."), None),
        _ => {
            let refusal = Refusal {
                reason: error.message.clone(),
                missing: error.missing.clone(),
            };
            (State::Waiting(refusal), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::DrainPod;

    fn progress(states: &[DrainState]) -> DrainProgress {
        let pods = states.iter().map(|state| DrainPod {
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            state: *state,
            reason: None,
            missing: None,
        });
        DrainProgress {
            pods: pods.collect(),
        }
    }

    #[test]
    fn a_drain_asks_again_until_it_is_done_or_needs_the_user() {
        assert_eq!(after(&progress(&[DrainState::Stays])), (State::Done, None));
        let running = after(&progress(&[DrainState::Terminating, DrainState::Blocked]));
        assert_eq!(running, (State::Running, Some(STEP_INTERVAL)));
        let blocked = after(&progress(&[DrainState::Blocked, DrainState::NeedsUser]));
        assert_eq!(blocked.1, Some(RETRY_INTERVAL));
        let stuck = after(&progress(&[DrainState::NeedsUser]));
        assert!(matches!(stuck, (State::Waiting(_), None)));
    }

    #[test]
    fn an_outage_is_retried_and_a_refusal_waits_for_the_user() {
        let failure = |kind| after_failure(&UiError::new(kind, "no"));
        assert!(matches!(
            failure(UiErrorKind::Unavailable),
            (State::Retrying(_), Some(_))
        ));
        assert!(matches!(
            failure(UiErrorKind::NotPermitted),
            (State::Waiting(_), None)
        ));
        assert!(matches!(
            failure(UiErrorKind::SignedOut),
            (State::Waiting(_), None)
        ));
    }
}
