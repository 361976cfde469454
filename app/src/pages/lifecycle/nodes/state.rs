//! The state of the page: the nodes, the filter, and the node that is to be removed with its review.
use crate::{
    api::cluster_nodes::{get_cluster_nodes, remove_node, review_node_removal},
    error::UiError,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ChangeOutcome, ClusterNodes, NodeGroupReview};
use uuid::Uuid;

/// The node that is to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The ID of its server.
    pub server: String,
    /// What is typed to confirm.
    pub name: String,
    /// Whether Kubernetes has a node of this name, which can be drained.
    pub can_be_drained: bool,
}

/// `Copy`.
#[derive(Clone, Copy)]
pub struct NodesState {
    pub cluster: Uuid,
    /// The last answer; it stays while another one is read.
    pub shown: RwSignal<Option<ClusterNodes>>,
    pub failure: RwSignal<Option<UiError>>,
    pub filter: RwSignal<String>,
    pub chosen: RwSignal<Option<Chosen>>,
    /// Of the chosen node.
    pub review: RwSignal<Option<Result<NodeGroupReview, UiError>>>,
    pub typed: RwSignal<String>,
    pub reason: RwSignal<String>,
    pub is_sending: RwSignal<bool>,
    /// What came of the last request.
    pub outcome: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    is_reading: StoredValue<bool>,
}

impl NodesState {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            shown: RwSignal::new(None),
            failure: RwSignal::new(None),
            filter: RwSignal::new(String::new()),
            chosen: RwSignal::new(None),
            review: RwSignal::new(None),
            typed: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            is_sending: RwSignal::new(false),
            outcome: RwSignal::new(None),
            is_reading: StoredValue::new(false),
        }
    }

    /// Reads the nodes, and reviews the removal again if one is open.
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
                Ok(nodes) => {
                    let _ = self.failure.try_set(None);
                    let _ = self.shown.try_set(Some(nodes));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
            self.review_now();
        });
    }

    /// Opens the form that removes a node.
    pub fn choose(self, chosen: Chosen) {
        self.typed.set(String::new());
        self.reason.set(String::new());
        self.review.set(None);
        self.outcome.set(None);
        self.chosen.set(Some(chosen));
        self.review_now();
    }

    /// Closes the form.
    pub fn close(self) {
        let _ = self.chosen.try_set(None);
        let _ = self.review.try_set(None);
    }

    fn server(self) -> Option<String> {
        let chosen = self.chosen.try_get_untracked().flatten()?;
        Some(chosen.server)
    }

    fn review_now(self) {
        let Some(server) = self.server() else {
            return;
        };
        let asked = review_node_removal(self.cluster, server.clone());
        leptos::task::spawn_local(async move {
            let answer = Some(asked.await);
            // another node was chosen meanwhile, or the form was closed
            if self.server().as_ref() != Some(&server) {
                return;
            }
            if self.review.try_get_untracked() != Some(answer.clone()) {
                let _ = self.review.try_set(answer);
            }
        });
    }

    /// Returns whether the chosen node may be removed now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let chosen = self.chosen.get();
        let is_confirmed =
            chosen.is_some_and(|chosen| self.typed.with(|typed| typed.trim() == chosen.name));
        let is_permitted = self
            .review
            .with(|review| matches!(review, Some(Ok(review)) if review.can_be_sent()));
        is_confirmed && is_permitted && !self.is_sending.get()
    }

    /// Removes the chosen node.
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
        let asked = remove_node(self.cluster, chosen.server, chosen.name, reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            let _ = self.is_sending.try_set(false);
            let _ = self.outcome.try_set(Some(answer));
            if is_accepted {
                self.close();
            }
            self.read();
        });
    }
}
