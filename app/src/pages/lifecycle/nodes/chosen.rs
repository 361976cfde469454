//! The node that is to be removed or replaced.

/// What is done with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Remove,
    /// Adds another node first; the removal is confirmed later.
    Replace,
    /// Removes the node first; the new one is added later.
    ReplaceInPlace,
}

impl Verb {
    /// Returns the name of the form's part of the page.
    pub fn part(self) -> &'static str {
        match self {
            Self::Remove => "removal",
            Self::Replace => "replacing",
            Self::ReplaceInPlace => "replacing-in-place",
        }
    }
}

/// The node that is to be removed or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub verb: Verb,
    /// The ID of its server.
    pub server: String,
    /// What is typed to confirm.
    pub name: String,
    /// Whether Kubernetes has a node of this name, which can be drained.
    pub can_be_drained: bool,
}
