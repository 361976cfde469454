//! The protection of a cluster from deletion.
use serde::{Deserialize, Serialize};

/// The content of the card of the protection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteProtection {
    /// Of the cluster. The name has to be typed to remove the protection.
    pub cluster_name: String,
    /// `None`: the cluster is not protected.
    pub protected: Option<Protected>,
    /// What the protection does not do, as a sentence.
    pub note: String,
    /// Why the viewer may not change it, as a sentence.
    pub refusal: Option<String>,
    /// Why the viewer may not delete the cluster, as a sentence; the protection itself is left out.
    pub delete_refusal: Option<String>,
}

/// Since when a cluster is protected, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protected {
    pub since: i64,
    /// In words, such as "you".
    pub by: String,
}
