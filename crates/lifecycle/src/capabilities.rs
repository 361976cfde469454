//! What works with each driver, what it ignores, and what would damage a cluster.
//!
//! Magnum's API accepts requests that a driver ignores or cannot carry out. This table is consulted
//! before an operation is offered, and again before it is sent.
use crate::driver::{ApiVersion, Cloud, Driver, Family};

/// Something that depends on the driver or on the version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The label `kube_tag` selects the version of Kubernetes.
    VersionLabel,
    /// `create_timeout` of a creation.
    CreateTimeout,
    /// A creation that fails ends in `CREATE_FAILED`.
    FailureReported,
    /// Upgrade of the whole cluster.
    Upgrade,
    /// `nodegroup` of an upgrade.
    UpgradeOfOneGroup,
    /// `max_batch_size` of an upgrade.
    UpgradeBatchSize,
    /// Resize of a group of workers.
    ResizeWorkers,
    /// Resize of the control plane.
    ResizeMasters,
    /// A size of 0.
    ZeroNodes,
    /// `nodes_to_remove` of a resize.
    ChosenNodes,
    /// Node groups beside the default ones.
    NodeGroups,
    /// `node_labels` and `node_taints` of a node group.
    NodeLabelsAndTaints,
    /// Rotation of the certificate authorities.
    RotateCa,
    /// Rotation of the cloud credential, which makes the caller the owner.
    RotateCredential,
    /// `node_addresses` of clusters and node groups.
    NodeAddresses,
    /// `http_proxy`, `https_proxy`, `no_proxy` and `insecure_registry` of the template.
    Proxy,
    /// Networks from which the Kubernetes API can be reached.
    AllowedCidrs,
    /// Other labels after the creation, such as auto-healing or bounds of the autoscaler.
    ChangeLabels,
    /// New labels of the template after an upgrade.
    TemplateLabelsOnUpgrade,
    /// Events of a Heat stack.
    StackEvents,
}

/// All features, in the order of their documentation.
pub const FEATURES: [Feature; 20] = [
    Feature::VersionLabel,
    Feature::CreateTimeout,
    Feature::FailureReported,
    Feature::Upgrade,
    Feature::UpgradeOfOneGroup,
    Feature::UpgradeBatchSize,
    Feature::ResizeWorkers,
    Feature::ResizeMasters,
    Feature::ZeroNodes,
    Feature::ChosenNodes,
    Feature::NodeGroups,
    Feature::NodeLabelsAndTaints,
    Feature::RotateCa,
    Feature::RotateCredential,
    Feature::NodeAddresses,
    Feature::Proxy,
    Feature::AllowedCidrs,
    Feature::ChangeLabels,
    Feature::TemplateLabelsOnUpgrade,
    Feature::StackEvents,
];

/// What happens when it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// The driver acts on it.
    Works,
    /// Magnum accepts it, and the driver does not act on it.
    Ignored,
    /// Magnum accepts it, and the cluster or its record is damaged.
    Damages,
    /// It is refused, or does not exist.
    Unsupported,
    /// The driver is not known.
    Unverified,
}

/// One entry of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// What it is about.
    pub feature: Feature,
    /// What happens when it is used.
    pub support: Support,
    /// A sentence that explains it, for users.
    pub reason: String,
}

impl Capability {
    /// Returns whether it may be offered and sent. What is not verified may, unless it could damage
    /// the cluster.
    pub fn is_offered(&self) -> bool {
        matches!(self.support, Support::Works | Support::Unverified)
    }
}

/// Returns what a driver does with a feature on a cloud.
pub fn capability(driver: Driver, cloud: Cloud, feature: Feature) -> Capability {
    if let Some(since) = since(feature)
        && cloud.api < since
    {
        let reason = format!(
            "{} needs version {since} of Magnum's API; this cloud has {}.",
            subject(feature),
            cloud.api
        );
        return Capability {
            feature,
            support: Support::Unsupported,
            reason,
        };
    }
    let (support, reason) = match feature {
        Feature::Upgrade => upgrade(driver.family, cloud),
        Feature::UpgradeOfOneGroup | Feature::UpgradeBatchSize => {
            upgrade_options(driver.family, cloud)
        }
        Feature::RotateCa => rotate_ca(driver.family),
        Feature::ChangeLabels => (
            Support::Unsupported,
            "Magnum does not change the labels of an existing cluster: choose them at creation.",
        ),
        _ if driver.family == Family::Unknown => (
            Support::Unverified,
            "The driver of this cluster is not known to Portico; whether this works was not verified.",
        ),
        Feature::ResizeWorkers | Feature::ZeroNodes | Feature::NodeGroups => {
            (Support::Works, "All drivers support it.")
        }
        _ if driver.family == Family::Complete => (
            Support::Works,
            "The operator's configuration states that the driver supports it.",
        ),
        _ => entry(driver.family, feature),
    };
    Capability {
        feature,
        support,
        reason: reason.to_owned(),
    }
}

/// The first version of the API with a feature.
fn since(feature: Feature) -> Option<ApiVersion> {
    match feature {
        Feature::RotateCa => Some(ApiVersion(5)),
        Feature::ResizeWorkers | Feature::ResizeMasters | Feature::ChosenNodes => {
            Some(ApiVersion(7))
        }
        Feature::Upgrade | Feature::UpgradeOfOneGroup | Feature::UpgradeBatchSize => {
            Some(ApiVersion(8))
        }
        Feature::NodeGroups => Some(ApiVersion(9)),
        Feature::ZeroNodes => Some(ApiVersion(10)),
        Feature::RotateCredential => Some(ApiVersion(12)),
        Feature::NodeLabelsAndTaints => Some(ApiVersion(14)),
        _ => None,
    }
}

fn subject(feature: Feature) -> &'static str {
    match feature {
        Feature::RotateCa => "Rotating the CA",
        Feature::ResizeWorkers | Feature::ResizeMasters => "Resizing a node group",
        Feature::ChosenNodes => "Choosing the nodes that leave",
        Feature::Upgrade | Feature::UpgradeOfOneGroup | Feature::UpgradeBatchSize => {
            "Upgrading a cluster"
        }
        Feature::NodeGroups => "A list of node groups",
        Feature::ZeroNodes => "A size of 0",
        Feature::RotateCredential => "Rotating the credential",
        Feature::NodeLabelsAndTaints => "Setting labels and taints of nodes",
        _ => "This",
    }
}

fn upgrade(family: Family, cloud: Cloud) -> (Support, &'static str) {
    match family {
        Family::Heat => match cloud.release {
            Some(release) if release < 18 => (
                Support::Works,
                "The driver replaces the nodes one after another.",
            ),
            Some(_) => (
                Support::Unsupported,
                "The Heat driver refuses upgrades since Magnum 18. Create a new cluster from the newer \
                 template and move the workloads.",
            ),
            None => (
                Support::Unsupported,
                "The Heat driver refuses upgrades since Magnum 18, and the release of this cloud is not \
                 configured. Create a new cluster from the newer template and move the workloads.",
            ),
        },
        Family::CapiHelm => (
            Support::Works,
            "The whole cluster is upgraded to the version of the template's image.",
        ),
        Family::ClusterApi => (
            Support::Works,
            "The whole cluster is upgraded; only kube_tag and the image change.",
        ),
        Family::Complete => (
            Support::Works,
            "The operator's configuration states that the driver supports it.",
        ),
        Family::Unknown => (
            Support::Unverified,
            "The driver of this cluster is not known to Portico; whether this works was not verified.",
        ),
    }
}

fn upgrade_options(family: Family, cloud: Cloud) -> (Support, &'static str) {
    match family {
        Family::CapiHelm | Family::ClusterApi => (
            Support::Ignored,
            "Cluster API drivers upgrade the whole cluster at once and ignore a node group or batch \
             size.",
        ),
        Family::Heat | Family::Complete | Family::Unknown => upgrade(family, cloud),
    }
}

fn rotate_ca(family: Family) -> (Support, &'static str) {
    match family {
        Family::Heat => (
            Support::Works,
            "All kubeconfigs with certificates stop working at once, and the API servers restart.",
        ),
        Family::CapiHelm | Family::ClusterApi => (
            Support::Damages,
            "The driver cannot rotate the CA, and asking would damage the cluster's record: Magnum \
             would store a new CA that the cluster does not know.",
        ),
        Family::Complete => (
            Support::Works,
            "The operator's configuration states that the driver supports it.",
        ),
        Family::Unknown => (
            Support::Damages,
            "The driver of this cluster is not known to Portico. With some drivers this request \
             damages the cluster's record, so Portico does not send it.",
        ),
    }
}

/// The entries of the three known drivers that differ.
fn entry(family: Family, feature: Feature) -> (Support, &'static str) {
    use Family::{CapiHelm, ClusterApi};
    use Support::{Ignored, Unsupported, Works};
    match (feature, family) {
        (Feature::VersionLabel, CapiHelm) => (
            Ignored,
            "The driver takes the version from the property kube_version of the image and ignores \
             kube_tag.",
        ),
        (Feature::VersionLabel, _) => (Works, "The label kube_tag selects the version."),
        (Feature::CreateTimeout, CapiHelm | ClusterApi) => (
            Ignored,
            "The driver ignores create_timeout: a creation that does not finish stays in progress.",
        ),
        (Feature::CreateTimeout, _) => {
            (Works, "A creation that takes longer ends as CREATE_FAILED.")
        }
        (Feature::FailureReported, CapiHelm) => (
            Ignored,
            "A creation fails visibly only at its start or when an add-on fails; otherwise it stays in \
             progress, and the health reasons explain why.",
        ),
        (Feature::FailureReported, ClusterApi) => (
            Ignored,
            "A creation fails visibly only at its start; otherwise it stays in progress, and the state \
             reason has the last event.",
        ),
        (Feature::FailureReported, _) => (Works, "A creation that fails ends as CREATE_FAILED."),
        (Feature::ResizeMasters, CapiHelm | ClusterApi) => {
            (Works, "The driver adds and removes control plane nodes.")
        }
        (Feature::ResizeMasters, _) => (
            Unsupported,
            "The Heat driver does not resize the control plane.",
        ),
        (Feature::ChosenNodes, CapiHelm) => (
            Ignored,
            "The driver ignores the chosen nodes and removes others.",
        ),
        (Feature::ChosenNodes, _) => (Works, "The driver removes the chosen servers."),
        (Feature::NodeLabelsAndTaints, _) => (
            Ignored,
            "The driver does not pass labels and taints on to the nodes: set them through Kubernetes.",
        ),
        (Feature::RotateCredential, CapiHelm) => (
            Works,
            "The cluster gets an application credential of the caller, who becomes its owner.",
        ),
        (Feature::RotateCredential, _) => {
            (Unsupported, "The driver does not rotate the credential.")
        }
        (Feature::NodeAddresses, CapiHelm | ClusterApi) => (
            Unsupported,
            "The driver does not report addresses of nodes; Kubernetes has them.",
        ),
        (Feature::NodeAddresses, _) => (Works, "Magnum lists the addresses of the nodes."),
        (Feature::Proxy, ClusterApi) => (
            Ignored,
            "The driver ignores the template's proxies and insecure registry.",
        ),
        (Feature::Proxy, _) => (Works, "The nodes use the template's proxies."),
        (Feature::AllowedCidrs, ClusterApi) => (
            Ignored,
            "The driver does not limit from where the Kubernetes API can be reached.",
        ),
        (Feature::AllowedCidrs, _) => (
            Works,
            "The load balancer of the API admits only the given networks.",
        ),
        (Feature::TemplateLabelsOnUpgrade, CapiHelm) => (
            Ignored,
            "The cluster has a copy of the old template's labels, which precede new ones, except \
             capi_helm_chart_version.",
        ),
        (Feature::TemplateLabelsOnUpgrade, ClusterApi) => {
            (Ignored, "Only kube_tag follows the new template.")
        }
        (Feature::TemplateLabelsOnUpgrade, _) => {
            (Unsupported, "The Heat driver keeps the cluster's labels.")
        }
        (Feature::StackEvents, CapiHelm | ClusterApi) => (
            Unsupported,
            "The driver uses Cluster API; there is no Heat stack.",
        ),
        (Feature::StackEvents, _) => (Works, "Heat records the events of the stack."),
        _ => (Works, "The driver supports it."),
    }
}
