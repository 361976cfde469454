//! Changes that wait, as they are stored in the cluster's journal: any tab and any replica can continue them.
use super::super::request::action_of;
use crate::service::lifecycle::journal::RequestContent;
use portico_domain::panel::lifecycle::NodeGroupChange;
use portico_store::{JournalEntry, JournalSource};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The action of a change of several requests, of which one was sent.
pub const REST: &str = "plan_node_group_change";
/// The action of a change that was queued behind another one.
pub const QUEUE: &str = "queue_node_group_change";
/// The action with which a user does not continue a change.
pub const DISCARD: &str = "discard_node_group_change";

/// A change that waits: a request of the journal that sends nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    #[serde(flatten)]
    pub request: RequestContent,
    /// What is wanted in the end.
    pub change: NodeGroupChange,
    /// The number of requests that were left.
    pub steps: usize,
}

impl Stored {
    /// Returns a digest of what is wanted, by which a page names the change that it shows.
    pub fn id(&self) -> String {
        let change = serde_json::to_vec(&self.change).unwrap_or_default();
        format!("{:x}", Sha256::digest(change))
    }
}

/// Returns the change that waits, of entries of which the newest are first.
///
/// One is complete when as many of its requests have been accepted since as were left: those with its action for
/// the same end. Another request for its group does not complete it. A later one of the same group replaces it.
pub fn open(entries: &[JournalEntry]) -> Option<Stored> {
    // by action and target
    let mut sent: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut closed: BTreeSet<String> = BTreeSet::new();
    // a request has an entry before it is sent and one with its outcome
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let requests = entries.iter();
    for entry in requests.filter(|entry| entry.source == JournalSource::Request) {
        let Ok(request) = serde_json::from_str::<RequestContent>(&entry.content) else {
            continue;
        };
        match request.action.as_str() {
            REST | QUEUE => {
                let Ok(stored) = serde_json::from_str::<Stored>(&entry.content) else {
                    continue;
                };
                let own = (action_of(&stored.change).to_owned(), request.target.clone());
                let accepted = sent.get(&own).copied().unwrap_or_default();
                if closed.insert(group(&request).to_owned()) && accepted < stored.steps {
                    return Some(stored);
                }
            }
            DISCARD => {
                closed.insert(group(&request).to_owned());
            }
            _ => {
                let is_last = request.request_id.is_none_or(|id| seen.insert(id));
                if is_last && request.outcome.may_have_effect() {
                    let own = (request.action, request.target);
                    *sent.entry(own).or_default() += 1;
                }
            }
        }
    }
    None
}

/// Returns the group of a request: the first word of its target.
fn group(request: &RequestContent) -> &str {
    request.target.split(' ').next().unwrap_or_default()
}
