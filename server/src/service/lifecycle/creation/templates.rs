//! The cluster templates, as cards.
use crate::service::{lifecycle::words::unknown_driver, support::support};
use jiff::civil::Date;
use portico_cluster_operations::{Drivers, mapping as objects, upgrades::image_version};
use portico_domain::panel::lifecycle::{CapabilityLine, TemplateDefaults, TemplateOption};
use portico_lifecycle::{
    capabilities::{FEATURES, Feature, capability},
    driver::{Cloud, Driver},
    preflight::MIN_FLAVOR,
};
use portico_openstack::{
    glance::Image,
    magnum::{Cluster, ClusterTemplate},
};
use std::collections::BTreeMap;

/// Labels of add-ons that are switched on by `true`, with the name to show.
const ADD_ONS: [(&str, &str); 10] = [
    ("auto_healing_enabled", "Auto-healing"),
    ("auto_scaling_enabled", "Autoscaling"),
    ("auto_upgrade_enabled", "Security updates"),
    ("monitoring_enabled", "Monitoring"),
    ("kube_dashboard_enabled", "Kubernetes dashboard"),
    ("keystone_auth_enabled", "Sign-in with Keystone"),
    ("metrics_server_enabled", "Metrics server"),
    ("cinder_csi_enabled", "Volumes"),
    ("manila_csi_enabled", "Shared file systems"),
    ("octavia_ingress_controller_enabled", "Ingress controller"),
];

/// What the cards are made from.
pub struct Sources<'a> {
    pub cloud: Cloud,
    /// The clusters of the project.
    pub clusters: &'a [Cluster],
    /// The images that the project may use; empty if they could not be read.
    pub images: &'a [Image],
    pub today: Date,
    /// Returns the usual duration of a creation with a template in seconds.
    pub usual_seconds: &'a (dyn Fn(&str) -> Option<u64> + Sync),
}

/// Returns the cards; deprecated and hidden ones last.
pub fn cards(
    templates: &[ClusterTemplate],
    sources: &Sources<'_>,
    drivers: &Drivers,
) -> Vec<TemplateOption> {
    let cards = templates
        .iter()
        .map(|template| card(template, sources, drivers));
    let mut cards: Vec<TemplateOption> = cards.collect();
    cards.sort_by(|one, other| {
        (one.is_folded, &one.name, one.id).cmp(&(other.is_folded, &other.name, other.id))
    });
    cards
}

fn card(template: &ClusterTemplate, sources: &Sources<'_>, drivers: &Drivers) -> TemplateOption {
    let mut model = objects::template(template, drivers);
    model.image_version = template
        .image_id
        .as_deref()
        .and_then(|wanted| image_version(sources.images, wanted));
    let version = model.kubernetes_version();
    let uuid = template.uuid.to_string();
    let users = sources.clusters.iter();
    let used_by = users
        .filter(|cluster| cluster.cluster_template_id == uuid)
        .count();
    TemplateOption {
        id: template.uuid,
        name: template.name.clone(),
        version: version.map(|version| support(&version.to_string(), sources.today)),
        driver: model.driver.family.name().to_owned(),
        capabilities: capabilities(model.driver, sources.cloud),
        fixed: fixed(template, model.driver),
        add_ons: add_ons(&template.labels),
        defaults: TemplateDefaults {
            keypair: template.keypair_id.clone(),
            flavor: template.flavor_id.clone(),
            control_plane_flavor: template.master_flavor_id.clone(),
            network: template.fixed_network.clone(),
            subnet: template.fixed_subnet.clone(),
            external_network: template.external_network_id.clone(),
            has_load_balancer: template.master_lb_enabled,
            has_floating_ips: template.floating_ip_enabled,
            docker_volume_size: template.docker_volume_size,
        },
        labels: template.labels.clone(),
        used_by: u32::try_from(used_by).unwrap_or(u32::MAX),
        is_folded: template.hidden || is_deprecated(template),
        min_vcpus: MIN_FLAVOR.vcpus,
        min_ram_mib: MIN_FLAVOR.ram_mib,
        usual_seconds: (sources.usual_seconds)(&uuid),
        refusal: refusal(template),
    }
}

fn is_deprecated(template: &ClusterTemplate) -> bool {
    let texts = [Some(&template.name), template.tags.as_ref()];
    let mut texts = texts.into_iter().flatten();
    texts.any(|text| text.to_lowercase().contains("deprecated"))
}

fn refusal(template: &ClusterTemplate) -> Option<String> {
    let engine = template.coe.as_deref().filter(|coe| *coe != "kubernetes")?;
    Some(format!(
        "It makes clusters of {engine}. Choose a template for Kubernetes."
    ))
}

/// Returns what the template fixes, as sentences.
fn fixed(template: &ClusterTemplate, driver: Driver) -> Vec<String> {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let lines = [
        filled(&template.driver).map(|name| format!("The driver is {name}.")),
        unknown_driver(driver),
        filled(&template.image_id).map(|image| format!("The image is {image}.")),
        filled(&template.cluster_distro).map(|distro| format!("The distribution is {distro}.")),
        filled(&template.network_driver).map(|driver| format!("The network driver is {driver}.")),
        filled(&template.volume_driver).map(|driver| format!("The volume driver is {driver}.")),
        filled(&template.dns_nameserver).map(|server| format!("The name server is {server}.")),
        filled(&template.http_proxy)
            .or_else(|| filled(&template.https_proxy))
            .map(|_| "A proxy is set for the nodes.".to_owned()),
        filled(&template.insecure_registry)
            .map(|registry| format!("Images come from the registry {registry} without TLS.")),
    ];
    lines.into_iter().flatten().collect()
}

fn add_ons(labels: &BTreeMap<String, String>) -> Vec<String> {
    let is_on = |label: &str| {
        let value = labels.get(label);
        value.is_some_and(|value| value.eq_ignore_ascii_case("true"))
    };
    let names = ADD_ONS.iter().filter(|(label, _)| is_on(label));
    let mut names: Vec<String> = names.map(|(_, name)| (*name).to_owned()).collect();
    let ingress = labels.get("ingress_controller");
    names.extend(
        ingress
            .filter(|name| !name.is_empty())
            .map(|name| format!("Ingress ({name})")),
    );
    names
}

/// Returns what a driver can do and what it ignores.
fn capabilities(driver: Driver, cloud: Cloud) -> Vec<CapabilityLine> {
    let lines = FEATURES.into_iter().map(|feature| {
        let found = capability(driver, cloud, feature);
        CapabilityLine {
            feature: words(feature).to_owned(),
            is_offered: found.is_offered(),
            reason: found.reason,
        }
    });
    lines.collect()
}

fn words(feature: Feature) -> &'static str {
    match feature {
        Feature::VersionLabel => "Version by label",
        Feature::CreateTimeout => "Timeout of the creation",
        Feature::FailureReported => "Failures are reported",
        Feature::Upgrade => "Upgrade",
        Feature::UpgradeOfOneGroup => "Upgrade of one node group",
        Feature::UpgradeBatchSize => "Batch size of an upgrade",
        Feature::ResizeWorkers => "Resize of workers",
        Feature::ResizeMasters => "Resize of the control plane",
        Feature::ZeroNodes => "Groups without nodes",
        Feature::ChosenNodes => "Choice of nodes to remove",
        Feature::NodeGroups => "Node groups",
        Feature::NodeLabelsAndTaints => "Labels and taints of nodes",
        Feature::RotateCa => "Rotation of the CA",
        Feature::RotateCredential => "Rotation of the credential",
        Feature::NodeAddresses => "Addresses of nodes",
        Feature::Proxy => "Proxy",
        Feature::AllowedCidrs => "Networks that may reach the API",
        Feature::ChangeLabels => "Change of labels",
        Feature::TemplateLabelsOnUpgrade => "New labels with an upgrade",
        Feature::StackEvents => "Events of the stack",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::fixtures::{TEMPLATE, with};
    use jiff::civil::date;
    use portico_lifecycle::driver::{ApiVersion, Family};
    use serde_json::{Value, json};

    fn template(uuid: &str, change: Value) -> ClusterTemplate {
        let mut template = json!({"uuid": uuid, "name": "small", "coe": "kubernetes", "public": true,
            "project_id": "acme", "driver": "k8s_capi_helm_v1", "image_id": "ubuntu",
            "labels": {"kube_tag": "v1.20.0", "monitoring_enabled": "True"}});
        for (key, value) in change.as_object().unwrap() {
            template[key] = value.clone();
        }
        serde_json::from_value(template).unwrap()
    }

    fn shown(templates: &[ClusterTemplate]) -> Vec<TemplateOption> {
        shown_with(templates, &Drivers::default())
    }

    fn shown_with(templates: &[ClusterTemplate], drivers: &Drivers) -> Vec<TemplateOption> {
        let image =
            json!({"id": "i1", "name": "ubuntu", "status": "active", "kube_version": "v1.32.1"});
        let images: Vec<Image> = serde_json::from_value(json!([image])).unwrap();
        let sources = Sources {
            cloud: Cloud {
                api: ApiVersion(14),
                release: None,
            },
            clusters: &[with("CREATE_COMPLETE", json!({}))],
            images: &images,
            today: date(2026, 1, 1),
            usual_seconds: &|_| Some(300),
        };
        cards(templates, &sources, drivers)
    }

    #[test]
    fn hidden_and_deprecated_templates_come_last() {
        let ids = [
            "00000000-0000-0000-0000-000000000001",
            "00000000-0000-0000-0000-000000000002",
            TEMPLATE,
        ];
        let found = shown(&[
            template(ids[0], json!({"name": "a", "hidden": true})),
            template(ids[1], json!({"name": "b", "tags": "Deprecated,old"})),
            template(ids[2], json!({"name": "c"})),
        ]);
        let names: Vec<_> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["c", "a", "b"]);
        assert_eq!(found[0].used_by, 1);
        assert_eq!(found[1].used_by, 0);
    }

    #[test]
    fn a_card_states_the_version_of_the_image_and_what_the_driver_ignores() {
        let found = shown(&[template(TEMPLATE, json!({}))]);
        let card = &found[0];
        assert_eq!(card.version.as_ref().unwrap().version, "v1.32.1");
        assert_eq!(card.add_ons, ["Monitoring"]);
        assert_eq!(card.usual_seconds, Some(300));
        let by_label = card.capabilities.iter();
        let mut by_label = by_label.filter(|line| line.feature == "Version by label");
        assert!(!by_label.next().unwrap().is_offered);
    }

    #[test]
    fn a_card_names_the_driver_and_explains_one_that_is_not_known() {
        let templates = [template(TEMPLATE, json!({"driver": "k8s_acme"}))];
        let of = |card: &TemplateOption, feature: Feature| {
            let mut lines = card.capabilities.iter();
            let line = lines.find(|line| line.feature == words(feature));
            line.unwrap().is_offered
        };
        let card = &shown(&templates)[0];
        assert_eq!(card.driver, "unknown driver");
        assert_eq!(card.fixed[0], "The driver is k8s_acme.");
        assert!(card.fixed[1].contains("magnum.drivers"), "{:?}", card.fixed);
        assert!(!of(card, Feature::RotateCa));
        let families = BTreeMap::from([("k8s_acme".to_owned(), Family::Complete)]);
        let card = &shown_with(&templates, &Drivers::new(families, None))[0];
        assert_eq!(card.driver, "driver with all operations");
        assert!(
            !card.fixed[1].contains("magnum.drivers"),
            "{:?}",
            card.fixed
        );
        assert!(of(card, Feature::RotateCa));
    }

    #[test]
    fn a_template_for_another_engine_is_refused() {
        let found = shown(&[template(TEMPLATE, json!({"coe": "swarm"}))]);
        assert!(found[0].refusal.as_ref().unwrap().contains("swarm"));
    }
}
