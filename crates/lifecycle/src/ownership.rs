//! The owner of a cluster and its credential for the cloud: what depends on the owner, and whether the
//! credential may be rotated, by which some drivers make the caller the owner.
use crate::{
    capabilities::{Feature, capability},
    driver::{Cloud, Family},
    failure::{Class, Report, explain},
    model::Cluster,
    status::{self, Operation},
};
use std::collections::BTreeMap;

/// Why a rotation of the credential must not be sent, as sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialRefusal {
    /// The driver or this version of Magnum cannot.
    Unsupported(String),
    /// The state of the cluster forbids it now.
    State(String),
}

impl CredentialRefusal {
    /// Returns the reason.
    pub fn reason(self) -> String {
        match self {
            Self::Unsupported(reason) | Self::State(reason) => reason,
        }
    }
}

/// Checks whether the credential of a cluster may be rotated.
///
/// # Errors
/// [`CredentialRefusal`] with the reason.
pub fn check_credential(cluster: &Cluster, cloud: Cloud) -> Result<(), CredentialRefusal> {
    let support = capability(cluster.driver, cloud, Feature::RotateCredential);
    if !support.is_offered() {
        return Err(CredentialRefusal::Unsupported(support.reason));
    }
    status::check(&cluster.status, Operation::RotateCredential)
        .map_err(|forbidden| CredentialRefusal::State(forbidden.reason))
}

/// Returns what depends on the owner of a cluster with a driver, as sentences.
pub fn dependencies(family: Family) -> Vec<String> {
    let credential = match family {
        Family::CapiHelm | Family::ClusterApi => {
            "The cluster uses the cloud with an application credential of its owner. When Keystone deletes \
             the owner, or the owner loses the roles in the project, the credential stops working: nodes, \
             load balancers and volumes are no longer made, and the cluster cannot be scaled, upgraded or \
             deleted."
        }
        Family::Heat => {
            "The cluster uses the cloud with a trust of its owner. When Keystone deletes the owner, or the \
             owner loses the roles in the project, the trust stops working: load balancers and volumes are \
             no longer made, and the cluster cannot be changed or deleted."
        }
        Family::Complete | Family::Unknown => {
            "The cluster uses the cloud with a credential that Magnum made for its owner. With most drivers \
             it stops working when the owner leaves the project."
        }
    };
    [
        "Magnum gives the certificates of the cluster's authorities, and signs certificate requests, for the \
         owner and for administrators of the cloud only.",
        credential,
        "Sign-in through Portico does not depend on the owner: kubeconfigs of Portico stay valid.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Returns what a rotation of the credential does with a driver, as sentences. `owner` is the name of the
/// owner if that is another user than the caller.
pub fn rotation_effects(family: Family, owner: Option<&str>) -> Vec<String> {
    let mut effects = vec![
        "Magnum makes a new credential of yours for the cluster, in place of the present one."
            .to_owned(),
    ];
    if let Some(owner) = owner {
        effects.push(passing(owner));
        effects.push(format!(
            "From then on you can read the certificates of the cluster and have requests signed, and {owner} \
             no longer can."
        ));
        if family != Family::CapiHelm {
            effects.push(
                "Whether the owner changes is up to the driver: look at the owner afterwards."
                    .to_owned(),
            );
        }
    }
    effects.push(
        "What runs in the cluster keeps running. Its parts that use the cloud restart with the new \
         credential."
            .to_owned(),
    );
    effects
}

/// Returns that the ownership passes to the caller, as a sentence.
pub fn passing(owner: &str) -> String {
    format!("Ownership passes from {owner} to you.")
}

/// Returns Magnum's text that the credential of a cluster is not valid, if it reports so.
pub fn invalid_credential(cluster: &Cluster) -> Option<String> {
    let none = BTreeMap::new();
    let failure = explain(&Report {
        status: &cluster.status,
        reason: cluster.reason.as_deref(),
        faults: &cluster.faults,
        health: &cluster.health,
        groups: &none,
        existing: None,
    })?;
    (failure.class == Class::Credential).then_some(failure.raw)
}
