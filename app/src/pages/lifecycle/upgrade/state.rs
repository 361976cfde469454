//! The state of the page: what can be chosen, the chosen template, the typed name, and what was sent.
use crate::{
    api::lifecycle::{get_upgrade_options, upgrade_cluster},
    error::UiError,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ChangeOutcome, UpgradeOptions};
use uuid::Uuid;

/// `Copy`.
#[derive(Clone, Copy)]
pub struct UpgradeForm {
    cluster: Uuid,
    /// The UUID of the chosen template; empty: none.
    pub template: RwSignal<String>,
    /// The last answer; it stays while another one is read.
    pub options: RwSignal<Option<UpgradeOptions>>,
    pub failure: RwSignal<Option<UiError>>,
    pub is_reading: RwSignal<bool>,
    pub typed: RwSignal<String>,
    pub is_sending: RwSignal<bool>,
    pub outcome: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    /// The number of the last read: answers to earlier ones are of another template.
    reads: StoredValue<u32>,
}

impl UpgradeForm {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            template: RwSignal::new(String::new()),
            options: RwSignal::new(None),
            failure: RwSignal::new(None),
            is_reading: RwSignal::new(false),
            typed: RwSignal::new(String::new()),
            is_sending: RwSignal::new(false),
            outcome: RwSignal::new(None),
            reads: StoredValue::new(0),
        }
    }

    /// Reads the targets, and the checks of the chosen one.
    pub fn read(self) {
        let number = self.reads.try_update_value(|reads| {
            *reads += 1;
            *reads
        });
        self.is_reading.set(true);
        self.failure.set(None);
        let asked = get_upgrade_options(self.cluster, self.chosen_untracked());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page, or chosen another template meanwhile
            if self.reads.try_with_value(|reads| *reads) != number {
                return;
            }
            let _ = self.is_reading.try_set(false);
            match answer {
                Ok(options) => {
                    let _ = self.options.try_set(Some(options));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    fn chosen_untracked(self) -> Option<Uuid> {
        self.template.with_untracked(|text| text.parse().ok())
    }

    /// Returns whether the upgrade may be sent now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let chosen = self.template.with(|text| text.parse::<Uuid>().ok());
        let typed = self.typed.get();
        self.options.with(|options| {
            let Some(options) = options else {
                return false;
            };
            options.review.as_ref().is_some_and(|review| {
                Some(review.target.id) == chosen
                    && review.can_be_sent(&options.upgrade, &options.cluster.name, typed.trim())
            })
        }) && !self.is_reading.get()
            && !self.is_sending.get()
    }

    /// Sends the upgrade; `accepted` runs when Magnum has accepted it.
    pub fn send(self, accepted: Callback<()>) {
        let Some(template) = self.chosen_untracked() else {
            return;
        };
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        self.is_sending.set(true);
        self.outcome.set(None);
        let typed = self.typed.get_untracked().trim().to_owned();
        let asked = upgrade_cluster(self.cluster, template, typed);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            let _ = self.is_sending.try_set(false);
            let _ = self.outcome.try_set(Some(answer));
            if is_accepted {
                accepted.try_run(());
            }
        });
    }
}
