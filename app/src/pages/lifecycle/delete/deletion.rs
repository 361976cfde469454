//! The state of the page: the inventory, the options, the typed name, and what was sent.
use super::record::StoredRecord;
use crate::{
    api::lifecycle::{delete_cluster, get_deletion_inventory},
    error::UiError,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{DeletionInventory, DeletionOptions, DeletionOutcome};
use uuid::Uuid;

/// `Copy`.
#[derive(Clone, Copy)]
pub struct Deletion {
    pub cluster: Uuid,
    pub options: RwSignal<DeletionOptions>,
    /// The last inventory; it stays while another one is read.
    pub inventory: RwSignal<Option<DeletionInventory>>,
    pub failure: RwSignal<Option<UiError>>,
    pub is_reading: RwSignal<bool>,
    pub typed: RwSignal<String>,
    pub reason: RwSignal<String>,
    pub is_sending: RwSignal<bool>,
    pub outcome: RwSignal<Option<Result<DeletionOutcome, UiError>>>,
    pub record: StoredRecord,
    /// The number of the last read: answers to earlier ones are of other options.
    reads: StoredValue<u32>,
}

impl Deletion {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            options: RwSignal::new(DeletionOptions::default()),
            inventory: RwSignal::new(None),
            failure: RwSignal::new(None),
            is_reading: RwSignal::new(false),
            typed: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            is_sending: RwSignal::new(false),
            outcome: RwSignal::new(None),
            record: StoredRecord::of(cluster),
            reads: StoredValue::new(0),
        }
    }

    /// Reads the inventory with the chosen options.
    pub fn read(self) {
        let number = self.reads.try_update_value(|reads| {
            *reads += 1;
            *reads
        });
        self.is_reading.set(true);
        self.failure.set(None);
        let asked = get_deletion_inventory(self.cluster, self.options.get_untracked());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page, or chosen other options meanwhile
            if self.reads.try_with_value(|reads| *reads) != number {
                return;
            }
            let _ = self.is_reading.try_set(false);
            match answer {
                Ok(mut inventory) => {
                    if inventory.drop_stale_acceptance() {
                        let clear =
                            |options: &mut DeletionOptions| options.accepted_partial.clear();
                        let _ = self.options.try_update(clear);
                    }
                    let _ = self.inventory.try_set(Some(inventory));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    pub fn choose(self, change: impl FnOnce(&mut DeletionOptions)) {
        self.options.update(change);
        self.read();
    }

    /// Returns whether the user accepts where the options do not reach, as the inventory states it. Tracks.
    pub fn accepts_partial(self) -> bool {
        let options = self.options.get();
        self.inventory.with(|inventory| {
            inventory
                .as_ref()
                .is_some_and(|inventory| inventory.partial == options.accepted_partial)
        })
    }

    /// Accepts that, or no longer.
    pub fn accept_partial(self, on: bool) {
        let partial = self.inventory.with_untracked(|inventory| {
            let inventory = inventory.as_ref().filter(|_| on);
            inventory.map(|inventory| inventory.partial.clone())
        });
        self.choose(|options| options.accepted_partial = partial.unwrap_or_default());
    }

    /// Returns whether the deletion may be sent now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let options = self.options.get();
        let typed = self.typed.get();
        self.inventory.with(|inventory| {
            inventory.as_ref().is_some_and(|inventory| {
                inventory.options == options && inventory.can_be_sent(typed.trim())
            })
        }) && !self.is_reading.get()
            && !self.is_sending.get()
    }

    /// Sends the deletion; `accepted` runs when Magnum has accepted it.
    pub fn send(self, accepted: Callback<()>) {
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        self.is_sending.set(true);
        self.outcome.set(None);
        let typed = self.typed.get_untracked().trim().to_owned();
        let reason = Some(self.reason.get_untracked());
        let options = self.options.get_untracked();
        let asked = delete_cluster(self.cluster, typed, options, reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            if let Ok(DeletionOutcome::Accepted(record)) = &answer {
                self.record.write(record);
            }
            let is_accepted = matches!(answer, Ok(DeletionOutcome::Accepted(_)));
            let is_refused = matches!(answer, Ok(DeletionOutcome::Refused { .. }));
            let has_left = self.is_sending.try_set(false).is_some();
            let _ = self.outcome.try_set(Some(answer));
            if is_refused && !has_left {
                // the inventory may state something else by now, such as the namespaces to accept
                self.read();
            }
            if is_accepted {
                accepted.try_run(());
            }
        });
    }
}
