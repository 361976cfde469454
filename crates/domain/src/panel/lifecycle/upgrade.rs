//! The upgrade of a cluster to another template.
use super::{ActionOffer, Check, CheckLevel};
use crate::identity::Named;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The content of the upgrade page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeOptions {
    /// UUID and name. The name has to be typed, unless the review needs none.
    pub cluster: Named,
    /// The present version of Kubernetes, such as `v1.31.0`.
    pub version: Option<String>,
    /// The present template: UUID and name; the name is the UUID if it cannot be read.
    pub template: Named,
    /// The driver in words.
    pub driver: String,
    /// All templates of the project but the present one, those that are offered first.
    pub targets: Vec<UpgradeTarget>,
    /// Node groups that can be upgraded alone, to the present template; none where the driver ignores the
    /// choice.
    pub groups: Vec<String>,
    /// Whether the driver heeds how many nodes are to be replaced at once.
    pub has_batch_size: bool,
    /// Whether the viewer may upgrade the cluster: the policy, the driver, and the state.
    pub upgrade: ActionOffer,
    /// Whether Magnum works on the cluster.
    pub is_busy: bool,
    /// Whether the last change has failed, so that the cluster has to be settled first.
    pub needs_settling: bool,
    /// The upgrade to the chosen template; `None`: none is chosen, or it is not among the targets.
    pub review: Option<Box<UpgradeReview>>,
    /// What could not be read, as sentences.
    pub gaps: Vec<String>,
    pub read_at: i64,
}

/// What of a cluster is upgraded, and how many nodes at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeSelection {
    /// The name of a node group, which is upgraded to the present template; `None`: the whole cluster.
    pub group: Option<String>,
    /// `None`: one node after another.
    pub max_batch_size: Option<u32>,
}

/// A template as the target of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeTarget {
    pub id: Uuid,
    /// Not unique in a project.
    pub name: String,
    /// The version of Kubernetes; `None`: not known.
    pub version: Option<String>,
    /// Why the cluster cannot be upgraded to it, as a sentence.
    pub refusal: Option<String>,
}

/// What an upgrade to one template would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpgradeReview {
    pub target: UpgradeTarget,
    /// For which the review is.
    pub selection: UpgradeSelection,
    /// What is done, as sentences.
    pub effect: String,
    /// Labels that the template has with another value than the cluster.
    pub labels: Vec<LabelDifference>,
    /// What the driver does with the labels of a template, as a sentence.
    pub labels_rule: String,
    /// All checks, also those that pass.
    pub checks: Vec<Check>,
    /// Whether the name of the cluster has to be typed: what changes nothing but the patch release needs a button
    /// only.
    pub needs_name: bool,
}

impl UpgradeReview {
    /// Returns whether the upgrade may be sent with a typed name, which is empty if none was typed; `offer` is
    /// that of the page.
    pub fn can_be_sent(&self, offer: &ActionOffer, name: &str, typed: &str) -> bool {
        let is_confirmed = typed == name || (typed.is_empty() && !self.needs_name);
        is_confirmed
            && offer.is_offered()
            && self.target.refusal.is_none()
            && self
                .checks
                .iter()
                .all(|check| check.level != CheckLevel::Blocks)
    }
}

/// A label that differs between a cluster and a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelDifference {
    pub key: String,
    /// The cluster's value; `None`: it does not have the label.
    pub present: Option<String>,
    /// The template's value.
    pub target: String,
    /// Whether the driver takes it over.
    pub is_applied: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::lifecycle::ClusterAction;

    fn review(level: CheckLevel, refusal: Option<&str>) -> UpgradeReview {
        UpgradeReview {
            target: UpgradeTarget {
                id: Uuid::nil(),
                name: "k8s-1.32".to_owned(),
                version: None,
                refusal: refusal.map(str::to_owned),
            },
            selection: UpgradeSelection::default(),
            effect: String::new(),
            labels: Vec::new(),
            labels_rule: String::new(),
            checks: vec![Check {
                subject: "State".to_owned(),
                level,
                text: String::new(),
                next_step: None,
                page: None,
            }],
            needs_name: true,
        }
    }

    fn offer(refusal: Option<&str>) -> ActionOffer {
        ActionOffer {
            action: ClusterAction::Upgrade,
            refusal: refusal.map(str::to_owned),
        }
    }

    #[test]
    fn an_upgrade_needs_the_name_the_offer_the_target_and_the_checks() {
        let can = |review: UpgradeReview, of: Option<&str>, typed: &str| {
            review.can_be_sent(&offer(of), "shop", typed)
        };
        assert!(can(review(CheckLevel::Warning, None), None, "shop"));
        assert!(!can(review(CheckLevel::Ok, None), None, "Shop"));
        assert!(!can(review(CheckLevel::Blocks, None), None, "shop"));
        assert!(!can(review(CheckLevel::Ok, Some("No.")), None, "shop"));
        assert!(!can(review(CheckLevel::Ok, None), Some("No."), "shop"));
    }

    #[test]
    fn a_patch_release_needs_no_name_and_takes_no_other_one() {
        let patch = UpgradeReview {
            needs_name: false,
            ..review(CheckLevel::Ok, None)
        };
        for (typed, can) in [("", true), ("shop", true), ("Shop", false)] {
            assert_eq!(
                patch.can_be_sent(&offer(None), "shop", typed),
                can,
                "{typed}"
            );
        }
        assert!(!patch.can_be_sent(&offer(Some("No.")), "shop", ""));
    }
}
