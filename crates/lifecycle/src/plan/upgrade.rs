//! The step to another template.
use super::{Action, Impact, Offer, Step, busy};
use crate::{
    capabilities::{Feature, capability},
    driver::{Cloud, Family},
    model::{Cluster, NodeGroup, Template},
    version::{KubernetesVersion, Move, VersionChange},
};

/// The label with the version of Kubernetes.
const VERSION_LABEL: &str = "kube_tag";

/// What of a cluster is upgraded, and how many nodes are replaced at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpgradeChoice {
    /// The node group, by its name; `None`: the whole cluster.
    pub group: Option<String>,
    /// How many nodes are replaced at once; `None`: one.
    pub max_batch_size: Option<u32>,
}

impl UpgradeChoice {
    /// Returns whether nothing was chosen: the whole cluster is upgraded, node by node.
    pub fn is_empty(&self) -> bool {
        self.group.is_none() && self.max_batch_size.is_none()
    }

    /// Returns why a driver or a cloud does not do what was chosen, as a sentence.
    fn refusal(&self, offer: Offer) -> Option<String> {
        let group = self.group.as_ref().map(|_| Feature::UpgradeOfOneGroup);
        let batch = self.max_batch_size.map(|_| Feature::UpgradeBatchSize);
        let mut refused = [group, batch].into_iter().flatten();
        let zero = (self.max_batch_size == Some(0)).then(|| {
            "At least one node is replaced at once: choose a batch size of 1 or more.".to_owned()
        });
        refused.find_map(|feature| offer.refusal(feature)).or(zero)
    }

    /// Returns how the nodes are replaced, in words.
    fn pace(&self) -> String {
        match self.max_batch_size {
            Some(size) if size > 1 => format!("Up to {size} nodes are replaced at once"),
            _ => "Nodes are replaced one after another".to_owned(),
        }
    }
}

/// Returns the upgrade, if the specification names another template than the cluster's.
pub fn step(cluster: &Cluster, target: &Template, offer: Offer) -> Option<Step> {
    whole(cluster, target, offer, &UpgradeChoice::default())
}

fn whole(
    cluster: &Cluster,
    target: &Template,
    offer: Offer,
    choice: &UpgradeChoice,
) -> Option<Step> {
    if target.uuid == cluster.template {
        return None;
    }
    let versions = match (present_version(cluster), target.kubernetes_version()) {
        (Some(from), Some(to)) => format!(" from {from} to {to}"),
        _ => String::new(),
    };
    Some(Step {
        action: Action::Upgrade {
            template: target.uuid.clone(),
            choice: choice.clone(),
        },
        effect: format!(
            "Upgrades the whole cluster{versions} with the template {}. {}; pods move, and data on their \
             disks is lost. It cannot be stopped.",
            target.name,
            choice.pace()
        ),
        impact: Impact::Disruptive,
        refusal: refusal(cluster, target, offer).or_else(|| choice.refusal(offer)),
    })
}

/// Returns the upgrade of one node group, which has the cluster's template as its only target: Magnum
/// refuses another one.
fn of_group(
    cluster: &Cluster,
    groups: &[NodeGroup],
    target: &Template,
    offer: Offer,
    choice: &UpgradeChoice,
    name: &str,
) -> Step {
    let group = groups
        .iter()
        .find(|group| group.name == name || group.uuid == name);
    let own_refusal = match group {
        None => Some(format!("The cluster has no node group {name}.")),
        Some(group) if group.is_default || group.is_control_plane() => Some(format!(
            "{name} was made with the cluster and is upgraded with the control plane: upgrade the cluster \
             without the choice of a node group."
        )),
        Some(_) if target.uuid != cluster.template => Some(format!(
            "Magnum upgrades {name} only to the template that the cluster has. Upgrade the cluster to {} \
             first, then {name}.",
            target.name
        )),
        Some(_) => None,
    };
    let version = target.kubernetes_version();
    let version = version.map(|version| format!(" ({version})"));
    Step {
        action: Action::Upgrade {
            template: target.uuid.clone(),
            choice: UpgradeChoice {
                group: Some(group.map_or_else(|| name.to_owned(), |group| group.name.clone())),
                ..choice.clone()
            },
        },
        effect: format!(
            "Upgrades the node group {name} to the template of the cluster, {}{}. {}; pods move, and data \
             on their disks is lost. It cannot be stopped.",
            target.name,
            version.unwrap_or_default(),
            choice.pace()
        ),
        impact: Impact::Disruptive,
        refusal: offer
            .refusal(Feature::Upgrade)
            .or_else(|| choice.refusal(offer))
            .or(own_refusal),
    }
}

/// Returns the step that upgrades what was chosen of a cluster; `None` if the cluster has the template
/// already. A single node group can be upgraded only to the template that the cluster has.
pub fn upgrade_with(
    cluster: &Cluster,
    groups: &[NodeGroup],
    target: &Template,
    cloud: Cloud,
    choice: &UpgradeChoice,
) -> Option<Step> {
    let offer = offer(cluster, cloud);
    let mut step = match &choice.group {
        Some(name) => of_group(cluster, groups, target, offer, choice, name),
        None => whole(cluster, target, offer, choice)?,
    };
    if step.refusal.is_none() {
        step.refusal = busy(cluster, &step.action);
    }
    Some(step)
}

/// Returns the node groups that can be upgraded alone: those that were not made with the cluster, where the
/// driver does not ignore the choice.
pub fn upgradable_groups<'a>(
    cluster: &Cluster,
    groups: &'a [NodeGroup],
    cloud: Cloud,
) -> Vec<&'a NodeGroup> {
    let support = capability(cluster.driver, cloud, Feature::UpgradeOfOneGroup);
    let alone = |group: &&NodeGroup| {
        !group.is_default && !group.is_control_plane() && !group.status.is_deletion()
    };
    let groups = groups.iter().filter(|_| support.is_offered());
    groups.filter(alone).collect()
}

/// Returns the versions before and after an upgrade; `None` if one is not known.
pub fn version_change(
    cluster: &Cluster,
    target: &Template,
    choice: &UpgradeChoice,
) -> Option<VersionChange> {
    Some(VersionChange {
        from: present_version(cluster)?,
        to: target.kubernetes_version()?,
        // other drivers leave the groups beside the default one as they are
        is_of_all_nodes: choice.group.is_none() && cluster.driver.family.is_cluster_api(),
    })
}

/// Returns whether an upgrade is to a newer patch release of the cluster's minor version, and to nothing else;
/// `false` if a version is not known, if the driver takes over further labels of the template, and for a single
/// node group, whose own version may be another.
pub fn is_patch(
    cluster: &Cluster,
    target: &Template,
    cloud: Cloud,
    choice: &UpgradeChoice,
) -> bool {
    let change = version_change(cluster, target, choice);
    let mut labels = label_changes(cluster, target, cloud).into_iter();
    choice.group.is_none()
        && change.is_some_and(|change| change.from.step_to(change.to) == Move::Patch)
        && !labels.any(|label| label.is_applied && label.key != VERSION_LABEL)
}

/// Returns the step that upgrades a cluster to a template, without the rest of a specification; `None` if
/// the cluster has the template already.
pub fn upgrade_to(cluster: &Cluster, target: &Template, cloud: Cloud) -> Option<Step> {
    upgrade_with(cluster, &[], target, cloud, &UpgradeChoice::default())
}

/// Returns why a cluster cannot be upgraded to a template in any state: the driver, or the version.
pub fn upgrade_refusal(cluster: &Cluster, target: &Template, cloud: Cloud) -> Option<String> {
    refusal(cluster, target, offer(cluster, cloud))
}

fn offer(cluster: &Cluster, cloud: Cloud) -> Offer {
    Offer {
        driver: cluster.driver,
        cloud,
    }
}

/// A label that the template of an upgrade has with another value than the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelChange {
    pub key: String,
    /// The cluster's value; `None`: the cluster does not have the label.
    pub present: Option<String>,
    /// The template's value.
    pub target: String,
    /// Whether the driver takes it over.
    pub is_applied: bool,
}

/// Returns the labels of a template that differ from those of a cluster.
pub fn label_changes(cluster: &Cluster, target: &Template, cloud: Cloud) -> Vec<LabelChange> {
    let support = capability(cluster.driver, cloud, Feature::TemplateLabelsOnUpgrade);
    let follows = match cluster.driver.family {
        Family::CapiHelm => Some("capi_helm_chart_version"),
        Family::ClusterApi => Some(VERSION_LABEL),
        Family::Heat | Family::Complete | Family::Unknown => None,
    };
    let changes = target.labels.iter().filter_map(|(key, value)| {
        let present = cluster.labels.get(key);
        (present != Some(value)).then(|| LabelChange {
            key: key.clone(),
            present: present.cloned(),
            target: value.clone(),
            is_applied: support.is_offered() || follows == Some(key.as_str()),
        })
    });
    changes.collect()
}

fn refusal(cluster: &Cluster, target: &Template, offer: Offer) -> Option<String> {
    offer
        .refusal(Feature::Upgrade)
        .or_else(|| other_driver(cluster, target))
        .or_else(|| version_refusal(present_version(cluster)?, target.kubernetes_version()?))
}

/// Returns why a template of another driver cannot be used.
pub fn other_driver(cluster: &Cluster, target: &Template) -> Option<String> {
    let (present, target) = (cluster.driver.family, target.driver.family);
    (present != target).then(|| {
        format!(
            "The template is for the driver {}, the cluster was made by {}: choose a template of the \
             same driver.",
            target.name(),
            present.name()
        )
    })
}

/// Returns why Kubernetes cannot change from one version to another.
pub fn version_refusal(from: KubernetesVersion, to: KubernetesVersion) -> Option<String> {
    match from.step_to(to) {
        Move::Same | Move::Patch | Move::Minor => None,
        Move::Skips => Some(format!(
            "From {from} to {to} skips minor versions. Kubernetes moves up one minor version at a time: \
             choose a template with v{}.{} first.",
            from.major,
            from.minor + 1
        )),
        Move::Back => Some(format!(
            "{to} is older than {from}. Kubernetes cannot go back to an older version."
        )),
    }
}

/// Returns the version that the cluster runs, or was made with.
pub fn present_version(cluster: &Cluster) -> Option<KubernetesVersion> {
    let reported = cluster.version.as_ref().and_then(|text| text.parse().ok());
    reported.or_else(|| cluster.labels.get(VERSION_LABEL)?.parse().ok())
}
