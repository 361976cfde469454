//! The state of the page: the nodes, the filter, and the node that is to be removed or replaced, with the
//! review.
mod draining;

use super::chosen::{Chosen, Verb};
use crate::{
    api::cluster_nodes::{
        add_replacing_node, get_cluster_nodes, remove_node, replace_node, replace_node_in_place,
        review_node_removal, review_node_replacement, stop_node_replacement,
    },
    error::UiError,
    hooks::Timer,
    pages::lifecycle::{
        focus::{focus_part, focus_table},
        pods::accepts,
        read_failure::show_once,
    },
};
use leptos::prelude::*;
use portico_domain::panel::{
    DrainOptions,
    lifecycle::{ChangeOutcome, ClusterNodes, NodeDrainStage, NodeGroupReview, NodeRemoval},
};
use uuid::Uuid;

/// `Copy`.
#[derive(Clone, Copy)]
pub struct NodesState {
    pub cluster: Uuid,
    /// The last answer; it stays while another one is read.
    pub shown: RwSignal<Option<ClusterNodes>>,
    pub failure: RwSignal<Option<UiError>>,
    pub filter: RwSignal<String>,
    pub chosen: RwSignal<Option<Chosen>>,
    /// The IDs of the servers of the nodes that are removed with the chosen one.
    pub others: RwSignal<Vec<String>>,
    /// Of the chosen node.
    pub review: RwSignal<Option<Result<NodeGroupReview, UiError>>>,
    pub typed: RwSignal<String>,
    pub reason: RwSignal<String>,
    /// The pods that the user accepts to stay pending.
    pub accepted_pods: RwSignal<Vec<String>>,
    pub is_sending: RwSignal<bool>,
    /// Whether this page continues the drain that was begun.
    pub is_draining: RwSignal<bool>,
    /// What the user accepts to lose, and the ID of the server of the node for which that is.
    drain_options: RwSignal<(String, DrainOptions)>,
    /// Why a drain was not begun, continued or stopped.
    pub drain_failure: RwSignal<Option<UiError>>,
    /// Why a replacement was not stopped.
    pub stop_failure: RwSignal<Option<UiError>>,
    /// What came of the last request.
    pub outcome: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    is_reading: StoredValue<bool>,
    timer: Timer,
}

impl NodesState {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            shown: RwSignal::new(None),
            failure: RwSignal::new(None),
            filter: RwSignal::new(String::new()),
            chosen: RwSignal::new(None),
            others: RwSignal::new(Vec::new()),
            review: RwSignal::new(None),
            typed: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            accepted_pods: RwSignal::new(Vec::new()),
            is_sending: RwSignal::new(false),
            is_draining: RwSignal::new(false),
            drain_options: RwSignal::new((String::new(), DrainOptions::default())),
            drain_failure: RwSignal::new(None),
            stop_failure: RwSignal::new(None),
            outcome: RwSignal::new(None),
            is_reading: StoredValue::new(false),
            timer: Timer::new(),
        }
    }

    /// Reads the nodes, and reviews the change again if its form is open.
    pub fn read(self) {
        let was_reading = self
            .is_reading
            .try_update_value(|is_reading| std::mem::replace(is_reading, true));
        if was_reading != Some(false) {
            return;
        }
        let asked = get_cluster_nodes(self.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.is_reading.try_set_value(false);
            match answer {
                Ok(mut nodes) => {
                    // a read does not know what the user accepts to lose; the steps of the drain do
                    if nodes.drain.is_some() && self.is_draining.try_get_untracked() == Some(true) {
                        let shown = self.shown.try_get_untracked().flatten();
                        let shown = shown.and_then(|shown| shown.drain);
                        let shown = shown.filter(|one| one.stage == NodeDrainStage::Draining);
                        nodes.drain = shown.or(nodes.drain);
                    }
                    let _ = self.failure.try_set(None);
                    let _ = self.shown.try_set(Some(nodes));
                }
                Err(error) => show_once(self.failure, error),
            }
            self.review_now();
        });
    }

    /// Opens the form of a change.
    pub fn choose(self, chosen: Chosen) {
        self.typed.set(String::new());
        self.reason.set(String::new());
        self.accepted_pods.set(Vec::new());
        self.others.set(Vec::new());
        self.review.set(None);
        self.outcome.set(None);
        let part = chosen.verb.part();
        self.chosen.set(Some(chosen));
        focus_part(part);
        self.review_now();
    }

    /// Adds a node to those that are removed with the chosen one, or leaves it out.
    pub fn take_along(self, server: &str, is_taken: bool) {
        self.others.update(|others| {
            others.retain(|other| other != server);
            if is_taken {
                others.push(server.to_owned());
            }
        });
        self.review_again();
    }

    /// Leaves out the nodes that cannot be removed with the chosen one any more.
    pub fn keep_others(self, is_offered: impl Fn(&str) -> bool) {
        let is_one_gone = self
            .others
            .with_untracked(|others| others.iter().any(|other| !is_offered(other)));
        if is_one_gone {
            self.others
                .update(|others| others.retain(|other| is_offered(other)));
            self.review_again();
        }
    }

    /// Reviews a change of other nodes than before.
    fn review_again(self) {
        self.accepted_pods.set(Vec::new());
        self.review.set(None);
        self.review_now();
    }

    /// Closes the form.
    pub fn close(self) {
        let _ = self.chosen.try_set(None);
        let _ = self.review.try_set(None);
    }

    fn chosen_now(self) -> Option<Chosen> {
        self.chosen.try_get_untracked().flatten()
    }

    fn review_now(self) {
        let Some(chosen) = self.chosen_now() else {
            return;
        };
        let (cluster, server) = (self.cluster, chosen.server.clone());
        let others = self.others.try_get_untracked();
        leptos::task::spawn_local(async move {
            let answer = match chosen.verb {
                Verb::Remove | Verb::ReplaceInPlace => {
                    review_node_removal(cluster, server, others.clone()).await
                }
                Verb::Replace => review_node_replacement(cluster, server).await,
            };
            let answer = Some(answer);
            // other nodes were chosen meanwhile, or the form was closed
            let is_same = self.chosen_now().as_ref() == Some(&chosen);
            if !is_same || self.others.try_get_untracked() != others {
                return;
            }
            if self.review.try_get_untracked() != Some(answer.clone()) {
                let _ = self.review.try_set(answer);
            }
        });
    }

    /// Returns whether the change may be sent now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let chosen = self.chosen.get();
        let is_confirmed = chosen.is_some_and(|chosen| match chosen.verb {
            Verb::Remove | Verb::ReplaceInPlace => self.typed.with(|typed| {
                let others = self.others.with(Vec::len);
                let drained = NodeRemoval::confirmation(&chosen.name, others);
                let without = NodeRemoval::without_draining(&drained);
                [drained.as_str(), without.as_str()].contains(&typed.trim())
            }),
            Verb::Replace => true,
        });
        let is_permitted = self
            .review
            .with(|review| matches!(review, Some(Ok(review)) if self.permits(review)));
        is_confirmed && is_permitted && !self.is_sending.get()
    }

    /// Returns whether the checks and the user permit a change. Tracks.
    fn permits(self, review: &NodeGroupReview) -> bool {
        let pending = &review.pending_pods;
        let is_accepted = self
            .accepted_pods
            .with(|accepted| accepts(accepted, pending));
        review.can_be_sent() && is_accepted
    }

    /// Sends the change of the chosen node.
    pub fn send(self) {
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        let Some(chosen) = self.chosen.get_untracked() else {
            return;
        };
        self.is_sending.set(true);
        self.outcome.set(None);
        let reason = self.reason.get_untracked();
        let accepted_pods = self.accepted_pods.get_untracked();
        let others = self.others.get_untracked();
        let typed = self.typed.with_untracked(|typed| typed.trim().to_owned());
        let Chosen { verb, server, .. } = chosen;
        let cluster = self.cluster;
        leptos::task::spawn_local(async move {
            let removal = |server| NodeRemoval {
                server,
                others,
                typed,
                accepted_pods,
            };
            let answer = match verb {
                Verb::Remove => remove_node(cluster, removal(server), reason).await,
                Verb::Replace => replace_node(cluster, server, reason).await,
                Verb::ReplaceInPlace => {
                    replace_node_in_place(cluster, removal(server), reason).await
                }
            };
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            let _ = self.is_sending.try_set(false);
            let _ = self.outcome.try_set(Some(answer));
            if is_accepted {
                self.close();
                focus_table();
            }
            self.read();
        });
    }

    /// Adds the new node of the replacement in place, whose old node has left.
    pub fn refill(self) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.is_sending.set(true);
        self.outcome.set(None);
        let asked = add_replacing_node(self.cluster, String::new());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.is_sending.try_set(false);
            let _ = self.outcome.try_set(Some(answer));
            self.read();
        });
    }

    /// Stops the replacement that was begun.
    pub fn stop(self) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.is_sending.set(true);
        self.stop_failure.set(None);
        let asked = stop_node_replacement(self.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.is_sending.try_set(false);
            let _ = self.stop_failure.try_set(answer.err());
            self.read();
        });
    }
}
