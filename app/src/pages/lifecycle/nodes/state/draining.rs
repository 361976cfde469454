//! The drain of a node before it leaves: it is begun, continued while the page is open, and stopped.
use super::NodesState;
use crate::{
    api::cluster_nodes::{begin_node_drain, continue_node_drain, stop_node_drain},
    pages::lifecycle::{focus::focus_table, nodes::loss::loss_of},
};
use leptos::prelude::*;
use portico_domain::panel::{DrainOptions, lifecycle::NodeDrainStage};
use std::time::Duration;

/// Pause between two requests for evictions.
const DRAIN_INTERVAL: Duration = Duration::from_secs(3);

impl NodesState {
    /// Returns what the user accepts to lose with the node on a server. Tracks.
    pub fn accepted_loss(self, server: &str) -> DrainOptions {
        self.drain_options
            .with(|accepted| loss_of(accepted, server))
    }

    /// Changes what the user accepts to lose with the node on a server.
    pub fn accept_loss(self, server: &str, change: impl FnOnce(&mut DrainOptions)) {
        let mut options = untrack(|| self.accepted_loss(server));
        change(&mut options);
        self.drain_options.set((server.to_owned(), options));
    }

    /// Begins the drain of a node, and continues it while the page is open. No loss is accepted yet.
    pub fn begin_drain(self, server: String) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.drain_options
            .set((server.clone(), DrainOptions::default()));
        self.send_drain(server);
    }

    /// Begins a drain with what the user accepts to lose.
    fn send_drain(self, server: String) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.is_sending.set(true);
        self.drain_failure.set(None);
        let options = untrack(|| self.accepted_loss(&server));
        let reason = self.reason.get_untracked();
        let asked = begin_node_drain(self.cluster, server.clone(), options, reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_begun = answer.is_ok();
            let _ = self.is_sending.try_set(false);
            let _ = self.drain_failure.try_set(answer.err());
            if is_begun {
                self.close();
                focus_table();
                self.continue_drain(server);
            }
            self.read();
        });
    }

    /// Continues a drain that was begun; one that waits for the user or is over is begun again.
    pub fn resume_drain(self, stage: NodeDrainStage, server: String) {
        if stage == NodeDrainStage::Draining {
            self.drain_failure.set(None);
            self.continue_drain(server);
        } else {
            self.send_drain(server);
        }
    }

    /// Requests further evictions from the node on a server after a pause, as long as pods leave.
    fn continue_drain(self, server: String) {
        let _ = self.is_draining.try_set(true);
        self.timer.start(DRAIN_INTERVAL, move || {
            let Some(accepted) = self.drain_options.try_get_untracked() else {
                return;
            };
            let options = loss_of(&accepted, &server);
            let asked = continue_node_drain(self.cluster, server.clone(), options);
            leptos::task::spawn_local(async move {
                let answer = asked.await;
                // it was stopped meanwhile, or the page was left
                if self.is_draining.try_get_untracked() != Some(true) {
                    return;
                }
                match answer {
                    Ok(drain) => {
                        let goes_on = drain.stage == NodeDrainStage::Draining;
                        let _ = self.shown.try_update(|shown| {
                            if let Some(shown) = shown {
                                shown.drain = Some(drain);
                            }
                        });
                        if goes_on {
                            self.continue_drain(server);
                        } else {
                            let _ = self.is_draining.try_set(false);
                        }
                    }
                    Err(error) => {
                        let _ = self.is_draining.try_set(false);
                        let _ = self.drain_failure.try_set(Some(error));
                        self.read();
                    }
                }
            });
        });
    }

    /// Stops the drain that was begun.
    pub fn stop_drain(self, server: String, uncordon: bool) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.timer.cancel();
        self.is_draining.set(false);
        self.is_sending.set(true);
        self.drain_failure.set(None);
        let asked = stop_node_drain(self.cluster, server, uncordon);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.is_sending.try_set(false);
            let _ = self.drain_failure.try_set(answer.err());
            self.read();
        });
    }
}
