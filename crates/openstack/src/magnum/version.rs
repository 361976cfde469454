//! What Magnum's microversions add, from 1.1 to 1.14.
use crate::rest::{Microversion, NotAvailable, VersionRange};

/// The microversions that this client knows. Below 1.9, clusters and templates work as far as the
/// cloud's version goes.
pub(super) const OWN: VersionRange = VersionRange {
    min: Microversion::new(1, 1),
    max: Microversion::new(1, 14),
};

/// What came with a microversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    Rollback,
    Stats,
    CaRotation,
    Quotas,
    Resize,
    Upgrade,
    NodeGroups,
    /// Node groups and clusters without worker nodes.
    ZeroNodes,
    CredentialRotation,
    /// Labels and taints that are set on the nodes of a group.
    NodeLabelsAndTaints,
}

impl Feature {
    /// Every feature, by microversion.
    pub const ALL: [Self; 10] = [
        Self::Rollback,
        Self::Stats,
        Self::CaRotation,
        Self::Quotas,
        Self::Resize,
        Self::Upgrade,
        Self::NodeGroups,
        Self::ZeroNodes,
        Self::CredentialRotation,
        Self::NodeLabelsAndTaints,
    ];

    /// Returns the microversion that added the feature.
    pub fn needs(self) -> Microversion {
        Microversion::new(
            1,
            match self {
                Self::Rollback => 3,
                Self::Stats => 4,
                Self::CaRotation => 5,
                Self::Quotas => 6,
                Self::Resize => 7,
                Self::Upgrade => 8,
                Self::NodeGroups => 9,
                Self::ZeroNodes => 10,
                Self::CredentialRotation => 12,
                Self::NodeLabelsAndTaints => 14,
            },
        )
    }

    /// Returns the feature in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Rollback => "rolling back a failed update",
            Self::Stats => "counting clusters and nodes",
            Self::CaRotation => "rotating the certificate authority",
            Self::Quotas => "the quota of clusters",
            Self::Resize => "resizing a node group",
            Self::Upgrade => "upgrading a cluster",
            Self::NodeGroups => "node groups",
            Self::ZeroNodes => "a node count of 0",
            Self::CredentialRotation => "rotating the cluster's cloud credential",
            Self::NodeLabelsAndTaints => "labels and taints of nodes",
        }
    }
}

/// What a cloud's Magnum offers, as far as this client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// The microversion that is sent with every call.
    pub version: Microversion,
    /// The microversions that the cloud offers.
    pub offered: VersionRange,
}

impl Features {
    /// Returns `None` if client and cloud have no microversion in common.
    pub fn of(offered: VersionRange) -> Option<Self> {
        let version = offered.highest_common(OWN)?;
        Some(Self { version, offered })
    }

    /// Checks that the cloud has a feature.
    ///
    /// # Errors
    /// With what it needs and what the cloud has.
    pub fn check(self, feature: Feature) -> Result<(), NotAvailable> {
        if self.version >= feature.needs() {
            return Ok(());
        }
        Err(NotAvailable {
            feature: feature.describe(),
            needs: feature.needs(),
            offers: self.version,
        })
    }

    /// Returns what the cloud lacks, with the reasons.
    pub fn missing(self) -> Vec<(Feature, NotAvailable)> {
        let missing = |feature| Some((feature, self.check(feature).err()?));
        Feature::ALL.into_iter().filter_map(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(max: &str) -> Features {
        let range = VersionRange {
            min: Microversion::new(1, 1),
            max: max.parse().unwrap(),
        };
        Features::of(range).unwrap()
    }

    #[test]
    fn what_a_cloud_lacks_is_explained() {
        assert!(features("1.14").missing().is_empty());
        assert!(features("1.20").missing().is_empty());
        let old = features("1.8");
        assert_eq!(old.check(Feature::Upgrade), Ok(()));
        assert_eq!(
            old.check(Feature::NodeGroups).unwrap_err().to_string(),
            "not available: needs 1.9, this cloud has 1.8 (node groups)"
        );
        let missing: Vec<_> = features("1.11")
            .missing()
            .into_iter()
            .map(|one| one.0)
            .collect();
        assert_eq!(
            missing,
            [Feature::CredentialRotation, Feature::NodeLabelsAndTaints]
        );
    }

    #[test]
    fn features_are_listed_by_version() {
        assert!(Feature::ALL.is_sorted_by_key(|feature| feature.needs()));
    }
}
