//! What a deletion removes, and what it leaves.
use super::{ActionOffer, Check, CheckLevel};
use crate::identity::Named;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the user chooses for a deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeletionOptions {
    /// Delete Services of the type LoadBalancer first, through Kubernetes.
    pub services_first: bool,
    /// Delete PersistentVolumeClaims first, through Kubernetes: their data is lost.
    pub claims_first: bool,
    /// Also where they can be looked for in some namespaces only: the sentences of
    /// [`DeletionInventory::partial`] that the user accepts, each with its kind first. Others have to be accepted
    /// again.
    pub accepted_partial: Vec<String>,
}

/// The argument of the query with which the command line states what a user accepts.
pub const ACCEPTED_ARGUMENT: &str = "accepted";

/// What a user can accept to be left in other namespaces: Services, PersistentVolumeClaims; their names in
/// [`ACCEPTED_ARGUMENT`], and the words of the journal and the audit log.
const ACCEPTABLE: [(bool, bool, &str, &str); 3] = [
    (
        true,
        false,
        "services",
        "accepted: Services of other namespaces may be left",
    ),
    (
        false,
        true,
        "claims",
        "accepted: PersistentVolumeClaims of other namespaces may be left",
    ),
    (
        true,
        true,
        "services,claims",
        "accepted: Services and PersistentVolumeClaims of other namespaces may be left",
    ),
];

impl DeletionOptions {
    /// Returns what the user accepts to be left in other namespaces, for the journal and the audit log; `None`:
    /// nothing.
    pub fn accepted(&self) -> Option<&'static str> {
        self.acceptable().map(|(_, words)| words)
    }

    /// Returns the same as the value of [`ACCEPTED_ARGUMENT`].
    pub fn accepted_kinds(&self) -> Option<&'static str> {
        self.acceptable().map(|(kinds, _)| kinds)
    }

    /// Returns what a value of [`ACCEPTED_ARGUMENT`] accepts, in the words of [`Self::accepted`]; `None` for another
    /// value. The command line compares what is left with what its user accepted before it deletes anything.
    pub fn accepted_by_kinds(value: &str) -> Option<&'static str> {
        let mut all = ACCEPTABLE.iter();
        let (.., words) = all.find(|(.., kinds, _)| *kinds == value)?;
        Some(*words)
    }

    /// Returns that of the kinds that are deleted first and of which a sentence was accepted: a user who may list
    /// Services in the whole cluster accepts PersistentVolumeClaims only.
    fn acceptable(&self) -> Option<(&'static str, &'static str)> {
        let is_named = |kind: &str| {
            let mut sentences = self.accepted_partial.iter();
            sentences.any(|sentence| sentence.starts_with(kind))
        };
        let wanted = (
            self.services_first && is_named("Services "),
            self.claims_first && is_named("PersistentVolumeClaims "),
        );
        let mut all = ACCEPTABLE.iter();
        let (.., kinds, words) =
            all.find(|(services, claims, ..)| (*services, *claims) == wanted)?;
        Some((*kinds, *words))
    }
}

/// The content of the deletion page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionInventory {
    /// UUID and name. The name has to be typed.
    pub cluster: Named,
    /// Items that are deleted.
    pub goes: Vec<DeletionItem>,
    /// Items that depend on a rule that Portico cannot see.
    pub depends: Vec<DeletionItem>,
    /// Items that stay, and may cost.
    pub stays: Vec<DeletionItem>,
    /// With these options.
    pub options: DeletionOptions,
    /// Why nothing can be deleted through Kubernetes first, as a sentence; `None`: the options are
    /// offered.
    pub options_refusal: Option<String>,
    /// Where the options do not reach, as sentences: the user has to accept that.
    pub partial: Vec<String>,
    /// All checks but that of the typed name.
    pub checks: Vec<Check>,
    /// What could not be looked at, as sentences; more may be affected.
    pub gaps: Vec<String>,
    /// Whether the viewer may delete the cluster.
    pub deletion: ActionOffer,
    pub read_at: i64,
}

impl DeletionInventory {
    /// Removes what was accepted before, if the options reach everything by now: a deletion must not be recorded
    /// with an acceptance of nothing. Returns whether there was any.
    pub fn drop_stale_acceptance(&mut self) -> bool {
        let is_stale = self.partial.is_empty() && !self.options.accepted_partial.is_empty();
        if is_stale {
            self.options.accepted_partial.clear();
        }
        is_stale
    }

    /// Returns whether the deletion may be sent with a typed name.
    pub fn can_be_sent(&self, typed: &str) -> bool {
        typed == self.cluster.name
            && self.deletion.is_offered()
            && (self.partial.is_empty() || self.options.accepted_partial == self.partial)
            && self
                .checks
                .iter()
                .all(|check| check.level != CheckLevel::Blocks)
    }
}

/// A resource of the cloud, and the rule about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionItem {
    /// In words, such as "load balancer of a Service".
    pub kind: String,
    /// The ID in its service.
    pub id: String,
    pub name: String,
    /// Why it goes, depends or stays, as a sentence.
    pub reason: String,
}

/// How the request for a deletion ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionOutcome {
    /// Magnum accepted it. The page keeps the record for the leftovers.
    Accepted(Box<DeletionRecord>),
    /// Magnum no longer has the cluster.
    AlreadyGone,
    /// Nothing was sent, or Magnum refused.
    Refused {
        reason: String,
        next_step: Option<String>,
        request_id: Option<String>,
    },
    /// The response was lost. Sending it again does no harm: a deletion is the same twice.
    Unknown { reason: String, next_step: String },
}

/// What was known about a cluster when its deletion was accepted. Magnum forgets it, so the page sends
/// it back for the leftovers; nothing in it is a permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionRecord {
    pub cluster: Uuid,
    pub name: String,
    /// The name under which the driver registered the cluster in the cloud.
    pub driver_id: Option<String>,
    /// ID of each item with its predicted fate.
    pub items: Vec<(String, Fate)>,
    pub accepted_at: i64,
}

/// What was predicted for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Goes,
    Depends,
    Stays,
}

/// What still exists after a deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftovers {
    /// UUID and name; the name is the UUID if it is not known any longer.
    pub cluster: Named,
    /// False while Magnum still has the cluster: the list is not final.
    pub is_gone: bool,
    /// The unexpected ones first.
    pub items: Vec<LeftoverItem>,
    /// What could not be looked at, as sentences.
    pub gaps: Vec<String>,
    /// Whether the record of the enrolled cluster can be removed; `None`: there is none.
    pub record: Option<ActionOffer>,
    pub read_at: i64,
}

/// An item that still exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftoverItem {
    /// In words.
    pub kind: String,
    pub id: String,
    pub name: String,
    /// What was predicted; `None`: it was not in the inventory.
    pub predicted: Option<Fate>,
    /// A sentence.
    pub text: String,
    /// The command that deletes it, such as `openstack volume delete <id>`; `None`: there is none, or
    /// it must not be deleted.
    pub command: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::lifecycle::ClusterAction;

    #[test]
    fn what_a_user_accepts_is_the_same_from_the_panel_and_from_the_command_line() {
        let of = |kind: &str| format!("{kind} were looked for in dev.");
        let both = vec![
            of("Services of the type LoadBalancer"),
            of("PersistentVolumeClaims"),
        ];
        for (services_first, claims_first, kinds) in [
            (true, false, "services"),
            (false, true, "claims"),
            (true, true, "services,claims"),
        ] {
            let options = DeletionOptions {
                services_first,
                claims_first,
                accepted_partial: both.clone(),
            };
            assert_eq!(options.accepted_kinds(), Some(kinds));
            let words = options.accepted().unwrap();
            assert_eq!(DeletionOptions::accepted_by_kinds(kinds), Some(words));
            assert_eq!(words.contains("Services"), services_first, "{words}");
            assert_eq!(words.contains("Claims"), claims_first, "{words}");
            let not_accepted = DeletionOptions {
                accepted_partial: Vec::new(),
                ..options
            };
            assert_eq!(not_accepted.accepted(), None);
        }
        // both kinds are deleted, and one can be listed in the whole cluster
        let claims_left = DeletionOptions {
            services_first: true,
            claims_first: true,
            accepted_partial: vec![of("PersistentVolumeClaims")],
        };
        assert_eq!(claims_left.accepted_kinds(), Some("claims"));
        // without anything that is deleted first, nothing is accepted
        let accepted_partial = DeletionOptions {
            accepted_partial: both,
            ..DeletionOptions::default()
        };
        assert_eq!(accepted_partial.accepted(), None);
        assert_eq!(DeletionOptions::accepted_by_kinds("claims,services"), None);
    }

    #[test]
    fn what_was_accepted_is_dropped_when_the_whole_cluster_can_be_read() {
        let accepted = vec!["Services were looked for in dev.".to_owned()];
        let mut inventory = DeletionInventory {
            cluster: Named {
                id: "c1".to_owned(),
                name: "shop".to_owned(),
            },
            goes: Vec::new(),
            depends: Vec::new(),
            stays: Vec::new(),
            options: DeletionOptions {
                services_first: true,
                claims_first: false,
                accepted_partial: accepted.clone(),
            },
            options_refusal: None,
            partial: accepted.clone(),
            checks: Vec::new(),
            gaps: Vec::new(),
            deletion: ActionOffer {
                action: ClusterAction::Delete,
                refusal: None,
            },
            read_at: 0,
        };
        assert!(!inventory.drop_stale_acceptance());
        assert_eq!(inventory.options.accepted_partial, accepted);
        inventory.partial.clear();
        assert!(inventory.drop_stale_acceptance());
        assert_eq!(inventory.options.accepted(), None);
        assert!(!inventory.drop_stale_acceptance());
    }
}
