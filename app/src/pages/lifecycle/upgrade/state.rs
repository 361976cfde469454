//! The state of the page: what can be chosen, the chosen template, the typed name, and what was sent.
use crate::{
    api::lifecycle::{get_upgrade_options, upgrade_cluster},
    error::UiError,
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ChangeOutcome, UpgradeOptions, UpgradeReview, UpgradeSelection,
};
use uuid::Uuid;

/// `Copy`.
#[derive(Clone, Copy)]
pub struct UpgradeForm {
    cluster: Uuid,
    /// The UUID of the chosen template, and after a slash the node group if a single one is upgraded; empty:
    /// none.
    pub target: RwSignal<String>,
    /// How many nodes are replaced at once; empty: one.
    pub batch: RwSignal<String>,
    /// The last answer; it stays while another one is read.
    pub options: RwSignal<Option<UpgradeOptions>>,
    pub failure: RwSignal<Option<UiError>>,
    pub is_reading: RwSignal<bool>,
    pub typed: RwSignal<String>,
    pub reason: RwSignal<String>,
    pub is_sending: RwSignal<bool>,
    pub outcome: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
    /// The number of the last read: answers to earlier ones are of another template.
    reads: StoredValue<u32>,
}

impl UpgradeForm {
    pub fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            target: RwSignal::new(String::new()),
            batch: RwSignal::new(String::new()),
            options: RwSignal::new(None),
            failure: RwSignal::new(None),
            is_reading: RwSignal::new(false),
            typed: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
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
        let chosen = untrack(|| self.chosen());
        let asked = get_upgrade_options(
            self.cluster,
            chosen.as_ref().map(|(template, _)| *template),
            chosen.map(|(_, selection)| selection),
        );
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

    /// Returns the template and what of the cluster is upgraded to it; `None` if none is chosen, or the batch
    /// size is not a number. Tracks.
    fn chosen(self) -> Option<(Uuid, UpgradeSelection)> {
        let batch = self.batch.with(|text| batch_size(text));
        self.target.with(|target| chosen(target, batch.ok()?))
    }

    /// Returns what is wrong with the batch size, as a sentence. Tracks.
    pub fn batch_problem(self) -> Option<String> {
        self.batch.with(|text| batch_size(text).err())
    }

    /// Returns the review of what is chosen; `None` while it is being read. Tracks.
    pub fn review(self) -> Option<UpgradeReview> {
        let (template, selection) = self.chosen()?;
        self.options.with(|options| {
            let review = options.as_ref()?.review.as_deref()?;
            let is_same = review.target.id == template && review.selection == selection;
            is_same.then(|| review.clone())
        })
    }

    /// Returns whether the name of the cluster has to be typed, as the last review has it. Tracks.
    pub fn needs_name(self) -> bool {
        self.options.with(|options| {
            let review = options.as_ref().and_then(|one| one.review.as_ref());
            review.is_none_or(|review| review.needs_name)
        })
    }

    /// Returns the typed name; empty if none has to be typed. Tracks.
    fn confirmation(self) -> String {
        match self.needs_name() {
            true => self.typed.with(|typed| typed.trim().to_owned()),
            false => String::new(),
        }
    }

    /// Returns whether the upgrade may be sent now. Tracks.
    pub fn can_be_sent(self) -> bool {
        let review = self.review();
        let typed = self.confirmation();
        self.options.with(|options| {
            let (Some(options), Some(review)) = (options, review) else {
                return false;
            };
            review.can_be_sent(&options.upgrade, &options.cluster.name, &typed)
        }) && !self.is_reading.get()
            && !self.is_sending.get()
    }

    /// Sends the upgrade; `accepted` runs when Magnum has accepted it.
    pub fn send(self, accepted: Callback<()>) {
        let Some((template, selection)) = untrack(|| self.chosen()) else {
            return;
        };
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        self.is_sending.set(true);
        self.outcome.set(None);
        let typed = untrack(|| self.confirmation());
        let reason = Some(self.reason.get_untracked());
        let asked = upgrade_cluster(self.cluster, template, Some(selection), typed, reason);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let is_accepted = answer == Ok(ChangeOutcome::Accepted);
            let is_unknown = matches!(answer, Ok(ChangeOutcome::Unknown { .. }));
            // the user may have left the page meanwhile
            let is_open = self.is_sending.try_set(false).is_none();
            let _ = self.outcome.try_set(Some(answer));
            if is_accepted {
                accepted.try_run(());
            } else if is_unknown && is_open {
                // the upgrade may be running
                self.read();
            }
        });
    }
}

/// Reads what a target names: a template, and after a slash a node group.
fn chosen(target: &str, max_batch_size: Option<u32>) -> Option<(Uuid, UpgradeSelection)> {
    let (template, group) = match target.split_once('/') {
        Some((template, group)) => (template, Some(group.to_owned())),
        None => (target, None),
    };
    let selection = UpgradeSelection {
        group,
        max_batch_size,
    };
    Some((template.parse().ok()?, selection))
}

/// Reads the number of nodes that are replaced at once; `None` for an empty field.
///
/// # Errors
/// What is wrong with the text, as a sentence.
fn batch_size(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(size) if size > 0 => Ok(Some(size)),
            _ => Err("Write a number of nodes, at least 1.".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_template_and_a_node_group_after_a_slash() {
        let id = Uuid::from_u128(7);
        let (template, selection) = chosen(&id.to_string(), Some(2)).unwrap();
        assert_eq!((template, selection.group), (id, None));
        assert_eq!(selection.max_batch_size, Some(2));
        let (template, selection) = chosen(&format!("{id}/gpu"), None).unwrap();
        assert_eq!((template, selection.group.as_deref()), (id, Some("gpu")));
        for none in ["", "/gpu", "k8s-1.32"] {
            assert_eq!(chosen(none, None), None, "{none}");
        }
    }

    #[test]
    fn a_batch_size_is_empty_or_a_number_from_1() {
        assert_eq!(batch_size(" "), Ok(None));
        assert_eq!(batch_size(" 3 "), Ok(Some(3)));
        for wrong in ["0", "-1", "two", "1.5"] {
            assert!(batch_size(wrong).is_err(), "{wrong}");
        }
    }
}
