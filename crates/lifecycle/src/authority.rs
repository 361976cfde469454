//! The rotation of the authorities of a cluster: whether it may be sent, and what it does.
use crate::{
    capabilities::{Feature, capability},
    driver::Cloud,
    model::Cluster,
    status::{self, Operation},
};

/// Why a rotation must not be sent, as sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RotationRefusal {
    /// The driver cannot, or is not known.
    Unsupported(String),
    /// The state of the cluster forbids it now.
    State(String),
}

impl RotationRefusal {
    /// Returns the reason.
    pub fn reason(self) -> String {
        match self {
            Self::Unsupported(reason) | Self::State(reason) => reason,
        }
    }
}

/// What a rotation does, as sentences.
pub const ROTATION_EFFECTS: [&str; 4] = [
    "Magnum makes new authorities for Kubernetes, etcd and the front proxy, and the driver replaces the \
     certificates of the nodes with new ones.",
    "Every certificate that the old authority has signed stops working at once: kubeconfigs with a \
     certificate must be made again.",
    "The API servers restart, so the cluster does not answer for some minutes.",
    "It cannot be stopped, and the old authority does not come back.",
];

/// Checks whether the authorities of a cluster may be rotated. `is_template_known` states whether the
/// template could be read: an ID alone may be of a driver that cannot, and the request would damage the
/// cluster's record.
///
/// # Errors
/// [`RotationRefusal`] with the reason.
pub fn check_rotation(
    cluster: &Cluster,
    cloud: Cloud,
    is_template_known: bool,
) -> Result<(), RotationRefusal> {
    if !is_template_known {
        let reason = "The template of the cluster could not be read, so its driver is not known. With some \
                      drivers the request damages the cluster's record.";
        return Err(RotationRefusal::Unsupported(reason.to_owned()));
    }
    let support = capability(cluster.driver, cloud, Feature::RotateCa);
    if !support.is_offered() {
        return Err(RotationRefusal::Unsupported(support.reason));
    }
    status::check(&cluster.status, Operation::RotateCa)
        .map_err(|forbidden| RotationRefusal::State(forbidden.reason))
}
