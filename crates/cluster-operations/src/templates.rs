//! Cluster templates: copies with other values, the flags of an administrator, and the clusters that use
//! a template.
use portico_openstack::magnum::{Cluster, ClusterTemplate, NewClusterTemplate, PatchOperation};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A flag that only administrators of the cloud set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// Every project may use the template.
    Public,
    /// It is offered to administrators only.
    Hidden,
}

impl Flag {
    /// Returns the change that sets or removes the flag. Magnum accepts a change of both at once only
    /// while no cluster uses the template.
    pub fn operation(self, is_on: bool) -> PatchOperation {
        PatchOperation::set(self.field(), is_on)
    }

    /// Returns the name of the field.
    pub fn field(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Hidden => "hidden",
        }
    }
}

/// Values of a copy. `None` is the value of the other template, an empty text no value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyValues {
    pub name: Option<String>,
    pub image: Option<String>,
    pub flavor: Option<String>,
    pub master_flavor: Option<String>,
    pub keypair: Option<String>,
    pub external_network: Option<String>,
    pub network: Option<String>,
    pub subnet: Option<String>,
    /// All labels of the copy.
    pub labels: Option<BTreeMap<String, String>>,
}

/// Returns a new template with the values of another one and those of the user. It is private to the
/// project.
pub fn copy(from: ClusterTemplate, values: CopyValues) -> NewClusterTemplate {
    NewClusterTemplate {
        name: values.name,
        coe: from.coe.unwrap_or_else(|| "kubernetes".to_owned()),
        image_id: chosen(values.image, from.image_id).unwrap_or_default(),
        flavor_id: chosen(values.flavor, from.flavor_id),
        master_flavor_id: chosen(values.master_flavor, from.master_flavor_id),
        keypair_id: chosen(values.keypair, from.keypair_id),
        external_network_id: chosen(values.external_network, from.external_network_id),
        fixed_network: chosen(values.network, from.fixed_network),
        fixed_subnet: chosen(values.subnet, from.fixed_subnet),
        network_driver: from.network_driver,
        volume_driver: from.volume_driver,
        docker_storage_driver: from.docker_storage_driver,
        docker_volume_size: from.docker_volume_size,
        dns_nameserver: from.dns_nameserver,
        apiserver_port: from.apiserver_port,
        http_proxy: from.http_proxy,
        https_proxy: from.https_proxy,
        no_proxy: from.no_proxy,
        insecure_registry: from.insecure_registry,
        registry_enabled: Some(from.registry_enabled),
        labels: values.labels.unwrap_or(from.labels),
        tls_disabled: Some(from.tls_disabled),
        public: None,
        hidden: None,
        tags: from.tags,
        server_type: from.server_type,
        driver: from.driver,
        master_lb_enabled: Some(from.master_lb_enabled),
        floating_ip_enabled: Some(from.floating_ip_enabled),
    }
}

fn chosen(value: Option<String>, present: Option<String>) -> Option<String> {
    match value {
        Some(text) => Some(text).filter(|text| !text.is_empty()),
        None => present,
    }
}

/// Returns those of a project's clusters that use a template.
pub fn users(clusters: &[Cluster], template: Uuid) -> Vec<&Cluster> {
    let template = template.to_string();
    let users = clusters.iter();
    users
        .filter(|cluster| cluster.cluster_template_id == template)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn template() -> ClusterTemplate {
        serde_json::from_value(json!({
            "uuid": "f7617ea3-8060-4dd2-9479-e441e1a40404", "name": "k8s-1.31", "coe": "kubernetes",
            "image_id": "ubuntu-1.31", "flavor_id": "m1.small", "keypair_id": "ops",
            "fixed_network": "shop-net", "public": true, "hidden": true, "http_proxy": "http://proxy:3128",
            "driver": "k8s_sim_v1", "master_lb_enabled": true,
            "labels": {"kube_tag": "v1.31.0", "monitoring_enabled": "true"}
        }))
        .unwrap()
    }

    #[test]
    fn a_copy_has_what_was_not_chosen_and_is_private() {
        let values = CopyValues {
            name: Some("k8s-1.32".to_owned()),
            image: Some("ubuntu-1.32".to_owned()),
            ..CopyValues::default()
        };
        let copy = copy(template(), values);
        assert_eq!(copy.name.as_deref(), Some("k8s-1.32"));
        assert_eq!(copy.image_id, "ubuntu-1.32");
        assert_eq!(copy.flavor_id.as_deref(), Some("m1.small"));
        assert_eq!(copy.http_proxy.as_deref(), Some("http://proxy:3128"));
        assert_eq!(copy.labels["kube_tag"], "v1.31.0");
        assert_eq!((copy.public, copy.hidden), (None, None));
        assert_eq!(copy.master_lb_enabled, Some(true));
    }

    #[test]
    fn an_empty_value_and_other_labels_replace_those_of_the_template() {
        let values = CopyValues {
            network: Some(String::new()),
            labels: Some(BTreeMap::from([("a".to_owned(), "b".to_owned())])),
            ..CopyValues::default()
        };
        let copy = copy(template(), values);
        assert_eq!(copy.fixed_network, None);
        assert_eq!(copy.labels.len(), 1);
    }

    #[test]
    fn only_clusters_of_the_template_are_its_users() {
        let cluster = |name: &str, template: &str| -> Cluster {
            serde_json::from_value(json!({
                "uuid": Uuid::nil(), "name": name, "status": "CREATE_COMPLETE",
                "cluster_template_id": template
            }))
            .unwrap()
        };
        let used = template().uuid;
        let clusters = [
            cluster("shop", &used.to_string()),
            cluster("web", "0f6a0fb5-2f0a-4a53-9c1f-9d1b64f2f001"),
        ];
        let names: Vec<_> = users(&clusters, used)
            .into_iter()
            .map(|cluster| cluster.name.as_str())
            .collect();
        assert_eq!(names, ["shop"]);
    }
}
