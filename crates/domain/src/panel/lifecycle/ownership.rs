//! The owner of a cluster and its credential for the cloud.
use super::ActionOffer;
use crate::identity::Named;
use serde::{Deserialize, Serialize};

/// The content of the page of credential and ownership.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// UUID and name. The name has to be typed for a rotation.
    pub cluster: Named,
    /// ID and name of the owner; the name is the ID if it is not known. `None`: Magnum does not report it.
    pub owner: Option<Named>,
    /// Whether the viewer is the owner.
    pub is_own: bool,
    pub standing: OwnerStanding,
    /// Magnum's text that the credential is not valid.
    pub invalid_credential: Option<String>,
    /// The last change of the owner through Portico, as a sentence.
    pub last_passed: Option<String>,
    /// The driver in words.
    pub driver: String,
    /// What depends on the owner, as sentences.
    pub dependencies: Vec<String>,
    /// What a rotation does, as sentences: also that the ownership passes to the viewer.
    pub effects: Vec<String>,
    /// Whether the viewer may rotate the credential: the policy, the driver, and the state.
    pub rotation: ActionOffer,
    pub read_at: i64,
}

impl Ownership {
    /// Returns whether the cluster needs another owner.
    pub fn is_orphaned(&self) -> bool {
        self.standing == OwnerStanding::Left || self.invalid_credential.is_some()
    }
}

/// Whether the owner still has a role in the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnerStanding {
    Member,
    /// Keystone lists no role of the owner in the project.
    Left,
    /// Keystone cannot tell, for this reason, as a sentence.
    Unknown(String),
}
