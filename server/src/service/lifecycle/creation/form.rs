//! The form as a specification, and back.
use portico_domain::panel::lifecycle::{
    ApiExposure, ControlPlaneForm, CreationForm, ExistingNetwork, FieldProblem, GroupForm,
};
use portico_lifecycle::spec::{
    self, Api, ClusterDocument, ClusterSpec, ControlPlane, Exposure, Metadata, Network,
    NodeGroupSpec, Taint,
};
use std::collections::BTreeMap;

/// Maximum number of characters of a text that a message repeats.
const MAX_QUOTED_CHARS: usize = 40;

/// Returns the specification that a form describes, and what of the form it cannot express: that is
/// not in it.
pub fn document_of(form: &CreationForm) -> (ClusterDocument, Vec<FieldProblem>) {
    let mut problems: Vec<_> = form.unreadable.iter().map(unreadable).collect();
    let groups = form.groups.iter().enumerate();
    let node_groups = groups
        .map(|(index, group)| group_spec(group, index, &mut problems))
        .collect();
    let masters = &form.control_plane;
    let spec = ClusterSpec {
        template: form.template.trim().to_owned(),
        keypair: filled(form.keypair.as_deref()),
        zone: filled(form.zone.as_deref()),
        control_plane: ControlPlane {
            replicas: masters.count,
            flavor: filled(masters.flavor.as_deref()),
            load_balancer: masters.load_balancer,
        },
        network: Network {
            existing: form.network.as_ref().and_then(existing),
            floating_ips: form.floating_ips,
        },
        api: Api {
            exposure: form.exposure.map(|exposure| match exposure {
                ApiExposure::Public => Exposure::Public,
                ApiExposure::Private => Exposure::Private,
            }),
            allowed_cidrs: texts(&form.allowed_cidrs),
        },
        create_timeout: form.create_timeout,
        docker_volume_size: form.docker_volume_size,
        discovery_url: filled(form.discovery_url.as_deref()),
        labels: pairs(&form.labels),
        node_groups,
        services: texts(&form.services),
        protection: form.protection.then_some(true),
        ..ClusterSpec::default()
    };
    let metadata = Metadata {
        name: form.name.trim().to_owned(),
        annotations: form.annotations.clone(),
        ..Metadata::default()
    };
    (ClusterDocument::new(metadata, spec), problems)
}

fn unreadable((field, text): (&String, &String)) -> FieldProblem {
    let text: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    FieldProblem {
        field: field.clone(),
        message: format!("{text:?} is not a whole number."),
    }
}

fn group_spec(group: &GroupForm, index: usize, problems: &mut Vec<FieldProblem>) -> NodeGroupSpec {
    let mut taints = Vec::new();
    for (position, text) in texts(&group.taints).iter().enumerate() {
        match text.parse::<Taint>() {
            Ok(taint) => taints.push(taint),
            Err(error) => problems.push(FieldProblem {
                field: format!("spec.nodeGroups[{index}].taints[{position}]"),
                message: format!("{error}."),
            }),
        }
    }
    NodeGroupSpec {
        name: group.name.trim().to_owned(),
        replicas: group.count,
        flavor: filled(group.flavor.as_deref()),
        min: group.min,
        max: group.max,
        labels: pairs(&group.labels),
        taints,
    }
}

fn existing(network: &ExistingNetwork) -> Option<spec::ExistingNetwork> {
    let existing = spec::ExistingNetwork {
        network: filled(network.network.as_deref()),
        subnet: filled(network.subnet.as_deref()),
    };
    (existing != spec::ExistingNetwork::default()).then_some(existing)
}

/// Returns a text of the form; `None` if it was left empty.
fn filled(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the lines of a list that were filled in.
fn texts(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| filled(Some(line))).collect()
}

/// Returns the pairs with their values as they are, and without rows that were left empty.
fn pairs(rows: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let filled = rows
        .iter()
        .filter(|(key, value)| !key.trim().is_empty() || !value.trim().is_empty());
    filled
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// Returns the form that describes a specification. The project and the cloud of a file are not part
/// of a form: the page has both.
pub fn form_of(document: &ClusterDocument) -> CreationForm {
    let spec = &document.spec;
    let masters = &spec.control_plane;
    CreationForm {
        name: document.metadata.name.clone(),
        annotations: document.metadata.annotations.clone(),
        template: spec.template.clone(),
        keypair: spec.keypair.clone(),
        zone: spec.zone.clone(),
        control_plane: ControlPlaneForm {
            count: masters.replicas,
            flavor: masters.flavor.clone(),
            load_balancer: masters.load_balancer,
        },
        groups: spec.node_groups.iter().map(group_form).collect(),
        network: spec
            .network
            .existing
            .as_ref()
            .map(|existing| ExistingNetwork {
                network: existing.network.clone(),
                subnet: existing.subnet.clone(),
            }),
        floating_ips: spec.network.floating_ips,
        exposure: spec.api.exposure.map(|exposure| match exposure {
            Exposure::Public => ApiExposure::Public,
            Exposure::Private => ApiExposure::Private,
        }),
        allowed_cidrs: spec.api.allowed_cidrs.clone(),
        labels: spec.labels.clone(),
        create_timeout: spec.create_timeout,
        docker_volume_size: spec.docker_volume_size,
        discovery_url: spec.discovery_url.clone(),
        services: spec.services.clone(),
        protection: spec.is_protected(),
        unreadable: BTreeMap::new(),
    }
}

fn group_form(group: &NodeGroupSpec) -> GroupForm {
    GroupForm {
        name: group.name.clone(),
        count: group.replicas,
        flavor: group.flavor.clone(),
        min: group.min,
        max: group.max,
        labels: group.labels.clone(),
        taints: group.taints.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_full_file_comes_back_from_the_form_as_it_was() {
        let file = json!({
            "apiVersion": "portico.dev/v1alpha1", "kind": "Cluster",
            "metadata": {"name": "shop", "annotations": {"portico.dev/reason": "CHG-12"}},
            "spec": {
                "template": "k8s-1.32", "keypair": "ops", "zone": "az1",
                "controlPlane": {"replicas": 3, "flavor": "m1.medium", "loadBalancer": true},
                "network": {"existing": {"network": "net", "subnet": "sub"}, "floatingIps": false},
                "api": {"exposure": "public", "allowedCIDRs": ["198.51.100.0/24"]},
                "createTimeout": 90, "dockerVolumeSize": 20,
                "labels": {"auto_healing_enabled": "true"},
                "nodeGroups": [
                    {"name": "default-worker", "replicas": 3, "flavor": "m1.small"},
                    {"name": "gpu", "replicas": 1, "min": 1, "max": 3, "labels": {"tier": "gpu"},
                     "taints": ["gpu=true:NoSchedule"]}
                ],
                "services": ["monitoring"], "protection": true
            }
        });
        let document = ClusterDocument::read(file).unwrap();
        let (back, problems) = document_of(&form_of(&document));
        assert_eq!(problems, []);
        assert_eq!(back, document);
    }

    #[test]
    fn empty_fields_are_the_templates() {
        let form = CreationForm {
            name: " shop ".to_owned(),
            keypair: Some(String::new()),
            network: Some(ExistingNetwork::default()),
            allowed_cidrs: vec![" ".to_owned()],
            labels: BTreeMap::from([(String::new(), String::new())]),
            ..CreationForm::default()
        };
        let (document, problems) = document_of(&form);
        assert_eq!(problems, []);
        assert_eq!(document.metadata.name, "shop");
        assert_eq!(document.spec, ClusterSpec::default());
    }

    #[test]
    fn a_text_that_is_not_a_number_is_named_with_its_field() {
        let mut form = CreationForm::default();
        form.read_number("spec.nodeGroups[0].replicas", "three");
        let (_, problems) = document_of(&form);
        assert_eq!(problems[0].field, "spec.nodeGroups[0].replicas");
        assert_eq!(problems[0].message, "\"three\" is not a whole number.");
    }

    #[test]
    fn a_text_that_is_not_a_taint_is_named_with_its_field() {
        let group = GroupForm {
            name: "gpu".to_owned(),
            taints: vec!["gpu:NoSchedule".to_owned(), "gpu".to_owned()],
            ..GroupForm::default()
        };
        let form = CreationForm {
            groups: vec![group],
            ..CreationForm::default()
        };
        let (document, problems) = document_of(&form);
        assert_eq!(problems[0].field, "spec.nodeGroups[0].taints[1]");
        assert_eq!(document.spec.node_groups[0].taints.len(), 1);
    }
}
