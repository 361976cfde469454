//! Versions of Kubernetes, and which of them can follow another.
use std::{fmt, str::FromStr};

/// A version such as `v1.32.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubernetesVersion {
    pub major: u16,
    pub minor: u16,
    pub patch: u16,
}

/// A text that is not a version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version of Kubernetes such as v1.32.1")]
pub struct VersionError(String);

impl FromStr for KubernetesVersion {
    type Err = VersionError;

    /// Reads `v1.32.1`, also without `v`, and with a suffix such as `-rancher1`, which is dropped.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = || VersionError(text.to_owned());
        let numbers = text.strip_prefix('v').unwrap_or(text);
        let numbers = numbers.split(['-', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.').map(str::parse::<u16>);
        let mut next = || parts.next().and_then(Result::ok).ok_or_else(error);
        let version = Self {
            major: next()?,
            minor: next()?,
            patch: next()?,
        };
        if parts.next().is_some() {
            return Err(error());
        }
        Ok(version)
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// How one version follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Same,
    /// Another patch of the same minor version, newer.
    Patch,
    /// The next minor version.
    Minor,
    /// Two or more minor versions up: Kubernetes does not support it.
    Skips,
    /// An older version.
    Back,
}

impl KubernetesVersion {
    /// Returns how `target` follows this version.
    pub fn step_to(self, target: Self) -> Move {
        if target == self {
            return Move::Same;
        }
        if target < self {
            return Move::Back;
        }
        if target.major == self.major && target.minor == self.minor {
            return Move::Patch;
        }
        if target.major == self.major && target.minor == self.minor + 1 {
            return Move::Minor;
        }
        Move::Skips
    }
}

/// The versions before and after an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionChange {
    pub from: KubernetesVersion,
    pub to: KubernetesVersion,
    /// Whether all nodes get the new version; else node groups stay as they are.
    pub is_of_all_nodes: bool,
}
