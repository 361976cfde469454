//! The workloads whose pods a PodDisruptionBudget protects or a NetworkPolicy restricts.
use super::{
    groups::Groups,
    is,
    label_match::selects,
    pod_template::labels_of,
    reader::{Reader, Select},
    used_by::has_controller,
};
use portico_domain::panel::{ObjectRef, Relation};
use serde_json::{Map, Value};

/// Kinds with a pod template.
const WORKLOADS: [(&str, &str); 6] = [
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("apps", "replicasets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
];

/// Adds the workloads of the namespace whose pods the object selects. What another workload makes is
/// left out.
pub async fn add_workloads(
    reader: &Reader<'_>,
    found: &mut Groups,
    object: &ObjectRef,
    value: &Value,
) {
    let Some((relation, selector)) = selection(object, value) else {
        return;
    };
    let lists = WORKLOADS.map(|(group, plural)| reader.list(group, plural, Select::default()));
    let lists = futures::future::join_all(lists).await;
    for ((group, plural), mut list) in WORKLOADS.into_iter().zip(lists) {
        list.retain(|one| !has_controller(one) && selects(selector, labels_of(plural, one)));
        found.add_read(reader, relation, (group, plural), &list);
    }
}

/// Returns the relation to the pods and their selector; `None` if it selects none.
fn selection<'v>(object: &ObjectRef, value: &'v Value) -> Option<(Relation, &'v Value)> {
    if is(object, "networking.k8s.io", "networkpolicies") {
        return Some((Relation::Restricts, &value["spec"]["podSelector"]));
    }
    let selector = &value["spec"]["selector"];
    // https://kubernetes.io/docs/reference/using-api/deprecation-guide/#poddisruptionbudget-v125
    let is_none = is_empty(selector) && object.resource.version == "v1beta1";
    let is_budget = is(object, "policy", "poddisruptionbudgets");
    (is_budget && !is_none).then_some((Relation::Protects, selector))
}

fn is_empty(selector: &Value) -> bool {
    let mut fields = selector.as_object().into_iter().flatten();
    fields.all(|(_, field)| field.as_object().is_some_and(Map::is_empty))
}

/// Returns a sentence about a selector that selects every pod of the namespace.
pub fn note(object: &ObjectRef, value: &Value) -> Option<String> {
    let (_, selector) = selection(object, value)?;
    (selector.is_object() && is_empty(selector)).then(|| {
        "Its selector is empty: it applies to every pod of the namespace, also to those that are \
         created later."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceRef;
    use serde_json::json;

    fn object(group: &str, version: &str, plural: &str) -> ObjectRef {
        ObjectRef {
            resource: ResourceRef::new(group, version, plural),
            namespace: Some("shop".to_owned()),
            name: "web".to_owned(),
        }
    }

    #[test]
    fn an_empty_selector_selects_all_pods_except_in_the_first_version_of_budgets() {
        let empty = json!({"spec": {"selector": {}, "podSelector": {"matchLabels": {}}}});
        let policy = object("networking.k8s.io", "v1", "networkpolicies");
        assert!(note(&policy, &empty).is_some());
        assert!(note(&object("policy", "v1", "poddisruptionbudgets"), &empty).is_some());
        let old = object("policy", "v1beta1", "poddisruptionbudgets");
        assert!(selection(&old, &empty).is_none());
        let web = json!({"spec": {"selector": {"matchLabels": {"app": "web"}}}});
        assert!(selection(&old, &web).is_some());
        assert!(note(&old, &web).is_none());
    }
}
