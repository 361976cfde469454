//! The step to another template.
use super::{Action, Impact, Offer, Step};
use crate::{
    capabilities::Feature,
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
