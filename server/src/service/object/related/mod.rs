//! What belongs to an object: its pods and revisions, and the objects related to it in both directions.
//! Everything is read with the viewer's own token; what they may not read is named as a gap.
mod around_pods;
mod definition;
mod deletion;
mod groups;
pub mod ingress;
mod label_match;
mod pod_template;
mod pods;
pub mod reader;
mod rollout;
mod selected;
mod storage;
mod tables;
mod used_by;

pub use deletion::plan as plan_deletion;
pub(super) use pod_template::items;
pub use pods::{is_owned, summary};
pub(super) use reader::unread;
pub use rollout::{stored_in, template};
pub use storage::deletion_note;

use super::owners;
use crate::{
    kube::{Api, discovery, objects},
    service::{access::Names, error::ServiceError},
};
use groups::Groups;
use pod_template::Used;
use portico_domain::panel::{ObjectRef, RelatedView, Relation};
use reader::{Reader, Select};
use serde_json::Value;

/// Reads what belongs to an object.
pub async fn view(
    api: &Api,
    names: &Names<'_>,
    object: &ObjectRef,
) -> Result<RelatedView, ServiceError> {
    let (value, catalog) = tokio::try_join!(objects::get(api, object), discovery::catalog(api))?;
    let owners = owners(&value, object, &catalog);
    let reader = Reader::new(api, names, catalog, namespace_of(object));
    let mut found = Groups::default();
    for owner in owners {
        found.add(Relation::OwnedBy, groups::named(&reader, owner));
    }
    let mut view = RelatedView {
        rollout: rollout_of(object, &value),
        ..RelatedView::default()
    };
    tokio::join!(
        async { view.pods = pods::selected(&reader, object, &value).await },
        async { view.revisions = rollout::revisions(&reader, object, &value).await },
        by_kind(&reader, &mut found, object, &value,),
        async { view.tables = tables::of(&reader, object, &value).await },
        async { view.instances = definition::instances(&reader, object, &value).await },
        async { view.notes = storage::notes(&reader, object, &value).await },
    );
    if is(object, "", "nodes") {
        view.pods = pods::on_node(&reader, &object.name).await;
    }
    view.notes.extend(selected::note(object, &value));
    view.groups = found.into_groups();
    view.gaps = reader.into_gaps();
    Ok(view)
}

/// Returns the namespace in which an object's related objects are: its own, or itself.
fn namespace_of(object: &ObjectRef) -> Option<String> {
    if is(object, "", "namespaces") {
        return Some(object.name.clone());
    }
    object.namespace.clone()
}

fn rollout_of(object: &ObjectRef, value: &Value) -> Option<portico_domain::panel::Rollout> {
    let plural = object.resource.plural.as_str();
    (object.resource.group == "apps")
        .then(|| rollout::rollout(plural, value))
        .flatten()
}

fn is(object: &ObjectRef, group: &str, plural: &str) -> bool {
    object.resource.group == group && object.resource.plural == plural
}

/// Adds the relations of the object's kind.
async fn by_kind(reader: &Reader<'_>, found: &mut Groups, object: &ObjectRef, value: &Value) {
    let resource = (
        object.resource.group.as_str(),
        object.resource.plural.as_str(),
    );
    let name = object.name.as_str();
    match resource {
        ("", "pods") => {
            let labels = &value["metadata"]["labels"];
            around_pods::add(reader, found, object, value, labels).await;
        }
        ("apps", "deployments" | "statefulsets" | "daemonsets" | "replicasets")
        | ("", "replicationcontrollers") => {
            let labels = &value["spec"]["template"]["metadata"]["labels"];
            around_pods::add(reader, found, object, value, labels).await;
        }
        ("batch", plural @ ("jobs" | "cronjobs")) => {
            if let Some(spec) = pod_template::spec_of(plural, value) {
                around_pods::add_used(reader, found, spec).await;
            }
            if plural == "cronjobs" {
                let mut jobs = reader.list("batch", "jobs", Select::default()).await;
                let uid = &value["metadata"]["uid"];
                jobs.retain(|job| pods::is_owned(job, uid));
                found.add_read(reader, Relation::Owns, ("batch", "jobs"), &jobs);
            }
        }
        ("", "services") => {
            let mut ingresses = reader
                .list("networking.k8s.io", "ingresses", Select::default())
                .await;
            ingresses.retain(|ingress| ingress::services(ingress).contains(name));
            let kind = ("networking.k8s.io", "ingresses");
            found.add_read(reader, Relation::RoutedBy, kind, &ingresses);
        }
        ("networking.k8s.io" | "extensions", "ingresses") => {
            used_by::of_ingress(reader, found, value).await;
        }
        ("", "configmaps") => used_by::add(reader, found, Used::ConfigMap, name).await,
        ("", "secrets") => used_by::add(reader, found, Used::Secret, name).await,
        ("", "persistentvolumeclaims") => {
            used_by::add(reader, found, Used::Claim, name).await;
            storage::of_claim(reader, found, value);
        }
        ("", "serviceaccounts") => used_by::add(reader, found, Used::ServiceAccount, name).await,
        ("", "persistentvolumes") => storage::of_volume(reader, found, value),
        ("storage.k8s.io", "storageclasses") => storage::of_class(reader, found, name).await,
        ("autoscaling", "horizontalpodautoscalers") => {
            if let Some(target) = groups::by_kind(reader, &value["spec"]["scaleTargetRef"]) {
                let related = match reader.get(&target).await {
                    Ok(Some(read)) => groups::assessed(reader, target, &read),
                    Ok(None) => groups::missing(reader, target),
                    Err(()) => groups::named(reader, target),
                };
                found.add(Relation::Scales, related);
            }
        }
        ("policy", "poddisruptionbudgets") | ("networking.k8s.io", "networkpolicies") => {
            selected::add_workloads(reader, found, object, value).await;
        }
        ("", "resourcequotas" | "limitranges") => {
            if let Some(namespace) = &object.namespace {
                found.add_named(reader, Relation::AppliesTo, ("", "namespaces"), namespace);
            }
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            if let Some(role) = groups::by_kind(reader, &value["roleRef"]) {
                found.add(Relation::Grants, groups::named(reader, role));
            }
        }
        ("rbac.authorization.k8s.io", plural @ ("roles" | "clusterroles")) => {
            used_by::of_role(reader, found, plural, name).await;
        }
        (group, plural) if tables::is_custom(group) => {
            definition::add(reader, found, group, plural);
        }
        _ => {}
    }
}
