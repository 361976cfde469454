//! The step to another template.
use super::{Action, Impact, Offer, Step, busy};
use crate::{
    capabilities::{Feature, capability},
    driver::{Cloud, Family},
    model::{Cluster, Template},
    version::{KubernetesVersion, Move},
};

/// Returns the upgrade, if the specification names another template than the cluster's.
pub fn step(cluster: &Cluster, target: &Template, offer: Offer) -> Option<Step> {
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
        },
        effect: format!(
            "Upgrades the whole cluster{versions} with the template {}. Nodes are replaced one after \
             another; pods move, and data on their disks is lost. It cannot be stopped.",
            target.name
        ),
        impact: Impact::Disruptive,
        refusal: refusal(cluster, target, offer),
    })
}

/// Returns the step that upgrades a cluster to a template, without the rest of a specification; `None` if
/// the cluster has the template already.
pub fn upgrade_to(cluster: &Cluster, target: &Template, cloud: Cloud) -> Option<Step> {
    let mut step = step(cluster, target, offer(cluster, cloud))?;
    if step.refusal.is_none() {
        step.refusal = busy(cluster, &step.action);
    }
    Some(step)
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
        Family::ClusterApi => Some("kube_tag"),
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
    reported.or_else(|| cluster.labels.get("kube_tag")?.parse().ok())
}
