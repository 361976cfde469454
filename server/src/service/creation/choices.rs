//! What the forms offer: storage classes, workloads, Services, Ingress classes and certificates.
use super::is_default_class;
use crate::{
    kube::{
        Api, KubeError, discovery,
        listing::{self, Selection},
        reviews,
    },
    service::{
        access::Names,
        error::ServiceError,
        object::related::reader::{Reader, Select, unread},
    },
};
use portico_domain::panel::{
    CreationChoices, CreationKind, IngressClassChoice, PortChoice, Refusal, ResourceRef,
    ServiceChoice, StorageClassChoice, WorkloadChoice,
};
use serde_json::Value;

/// The annotations that make a StorageClass the default one, the newest first.
pub(super) const DEFAULT_STORAGE_CLASS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];
pub(super) const DEFAULT_INGRESS_CLASS: [&str; 1] = ["ingressclass.kubernetes.io/is-default-class"];
/// Kinds in `apps` whose pods a Service can select.
const WORKLOADS: [(&str, &str); 3] = [
    ("deployments", "Deployment"),
    ("statefulsets", "StatefulSet"),
    ("daemonsets", "DaemonSet"),
];

/// Returns what the form for a kind offers. Without a namespace only what belongs to the cluster.
pub async fn choices(
    api: &Api,
    names: &Names<'_>,
    kind: CreationKind,
    namespace: Option<String>,
) -> Result<CreationChoices, ServiceError> {
    let catalog = discovery::catalog(api).await?;
    let reader = Reader::new(api, names, catalog, namespace);
    let (mut choices, refusal) = tokio::join!(of_kind(&reader, kind), refusal(&reader, kind));
    choices.refusal = refusal;
    choices.gaps = reader.into_gaps();
    Ok(choices)
}

async fn of_kind(reader: &Reader<'_>, kind: CreationKind) -> CreationChoices {
    let mut choices = CreationChoices::default();
    match kind {
        CreationKind::Claim => {
            choices.storage_classes = cluster_list(reader, "storage.k8s.io", "storageclasses")
                .await
                .iter()
                .filter_map(storage_class)
                .collect();
        }
        CreationKind::Service => choices.workloads = workloads(reader).await,
        CreationKind::Ingress => {
            let (services, classes, secrets) = tokio::join!(
                services(reader),
                cluster_list(reader, "networking.k8s.io", "ingressclasses"),
                tls_secrets(reader),
            );
            choices.services = services;
            choices.ingress_classes = classes.iter().filter_map(ingress_class).collect();
            choices.tls_secrets = secrets;
        }
    }
    choices
}

/// Returns why the viewer may not create the object. New objects are applied server-side, which the API
/// server permits to those who may create and patch.
async fn refusal(reader: &Reader<'_>, kind: CreationKind) -> Option<Refusal> {
    let namespace = reader.namespace.as_deref()?;
    let resource = kind.resource();
    let questions =
        ["create", "patch"].map(|verb| reviews::question(verb, &resource, Some(namespace)));
    let results = reviews::review_all(reader.api, questions.to_vec()).await;
    let refused = |(_, result): &(_, Result<reviews::ReviewResult, KubeError>)| {
        // without an answer the server decides when it is done
        result.as_ref().is_ok_and(|result| !result.allowed)
    };
    let (missing, _) = questions.into_iter().zip(results).find(refused)?;
    Some(Refusal::of(missing))
}

async fn cluster_list(reader: &Reader<'_>, group: &str, plural: &str) -> Vec<Value> {
    let found = reader.list_in(group, plural, None, Select::default()).await;
    found.unwrap_or_default()
}

fn storage_class(class: &Value) -> Option<StorageClassChoice> {
    let text = |value: &Value, otherwise: &str| value.as_str().unwrap_or(otherwise).to_owned();
    Some(StorageClassChoice {
        name: name_of(class)?,
        provisioner: text(&class["provisioner"], ""),
        is_default: is_default_class(class, &DEFAULT_STORAGE_CLASS),
        can_expand: class["allowVolumeExpansion"] == true,
        waits_for_pod: class["volumeBindingMode"] == "WaitForFirstConsumer",
        reclaim_policy: text(&class["reclaimPolicy"], "Delete"),
    })
}

fn ingress_class(class: &Value) -> Option<IngressClassChoice> {
    Some(IngressClassChoice {
        name: name_of(class)?,
        is_default: is_default_class(class, &DEFAULT_INGRESS_CLASS),
    })
}

async fn workloads(reader: &Reader<'_>) -> Vec<WorkloadChoice> {
    let mut found = Vec::new();
    if reader.namespace.is_none() {
        return found;
    }
    for (plural, kind) in WORKLOADS {
        let list = reader.list("apps", plural, Select::default()).await;
        found.extend(list.iter().filter_map(|value| workload(kind, value)));
    }
    found
}

/// Returns a workload with the labels of its selector; a Service selects by equality alone, so one that
/// has no `matchLabels` is left out.
fn workload(kind: &str, value: &Value) -> Option<WorkloadChoice> {
    let labels = value["spec"]["selector"]["matchLabels"].as_object()?;
    let pairs: Vec<String> = labels
        .iter()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    let containers = items(&value["spec"]["template"]["spec"]["containers"]);
    Some(WorkloadChoice {
        kind: kind.to_owned(),
        name: name_of(value)?,
        selector: (!pairs.is_empty()).then(|| pairs.join(","))?,
        ports: containers
            .flat_map(|container| items(&container["ports"]))
            .filter_map(|value| port(value, "containerPort"))
            .collect(),
    })
}

async fn services(reader: &Reader<'_>) -> Vec<ServiceChoice> {
    if reader.namespace.is_none() {
        return Vec::new();
    }
    let list = reader.list("", "services", Select::default()).await;
    list.iter()
        // a name in DNS has no endpoints that a controller could reach
        .filter(|service| service["spec"]["type"] != "ExternalName")
        .filter_map(|service| {
            Some(ServiceChoice {
                name: name_of(service)?,
                ports: items(&service["spec"]["ports"])
                    .filter_map(|value| port(value, "port"))
                    .collect(),
            })
        })
        .collect()
}

/// Returns the names of the Secrets with a certificate; their values are not read.
async fn tls_secrets(reader: &Reader<'_>) -> Vec<String> {
    let Some(namespace) = reader.namespace.as_deref() else {
        return Vec::new();
    };
    let secrets = ResourceRef::core("secrets");
    let selection = Selection {
        fields: "type=kubernetes.io/tls".to_owned(),
        ..Selection::default()
    };
    match listing::list_one(reader.api, &secrets, Some(namespace), &selection).await {
        Ok(part) => part.rows.into_iter().map(|found| found.row.name).collect(),
        Err(error) => {
            let refusal = unread(&secrets, "list", Some(namespace), &error);
            reader.gap(Refusal {
                reason: format!("Secrets are not included: {}", refusal.reason),
                ..refusal
            });
            Vec::new()
        }
    }
}

fn port(value: &Value, field: &str) -> Option<PortChoice> {
    Some(PortChoice {
        number: u16::try_from(value[field].as_u64()?).ok()?,
        name: value["name"].as_str().unwrap_or_default().to_owned(),
        protocol: value["protocol"].as_str().unwrap_or("TCP").to_owned(),
    })
}

fn name_of(value: &Value) -> Option<String> {
    value["metadata"]["name"].as_str().map(str::to_owned)
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_storage_class_is_described_with_its_defaults() {
        let class = json!({
            "metadata": { "name": "disk",
                "annotations": { "storageclass.kubernetes.io/is-default-class": "true" } },
            "provisioner": "disks.example.org",
            "volumeBindingMode": "WaitForFirstConsumer",
        });
        let choice = storage_class(&class).unwrap();
        assert!(choice.is_default && choice.waits_for_pod && !choice.can_expand);
        assert_eq!(choice.reclaim_policy, "Delete");
    }

    #[test]
    fn a_workload_offers_its_labels_and_ports() {
        let value = json!({ "metadata": { "name": "web" }, "spec": {
            "selector": { "matchLabels": { "app": "web", "tier": "front" } },
            "template": { "spec": { "containers": [
                { "ports": [{ "containerPort": 8080, "name": "http" }] },
                { "ports": [{ "containerPort": 53, "protocol": "UDP" }] },
            ] } } } });
        let choice = workload("Deployment", &value).unwrap();
        assert_eq!(choice.selector, "app=web,tier=front");
        let ports: Vec<_> = choice
            .ports
            .iter()
            .map(|port| (port.number, port.name.as_str(), port.protocol.as_str()))
            .collect();
        assert_eq!(ports, [(8080, "http", "TCP"), (53, "", "UDP")]);
        let without = json!({ "metadata": { "name": "web" }, "spec": { "selector": {
            "matchExpressions": [{ "key": "app", "operator": "Exists" }] } } });
        assert!(workload("Deployment", &without).is_none());
    }
}
