//! The documents of a text: which objects they describe.
use super::{problem, strip};
use crate::{
    kube::{Api, discovery, discovery::Catalog},
    service::error::ServiceError,
};
use portico_domain::panel::{
    MAX_MANIFEST_BYTES, MAX_MANIFEST_DOCUMENTS, ManifestProblem, ObjectRef,
};
use portico_runtime::yaml::{self, Limits};
use serde_json::Value;

const LIMITS: Limits = Limits {
    max_bytes: MAX_MANIFEST_BYTES,
    max_depth: 100,
    max_nodes: 200_000,
};

/// A document that describes an object of a kind that the cluster has.
#[derive(Debug)]
pub struct Document {
    pub index: usize,
    pub title: String,
    /// With an empty name if the API server is to generate one.
    pub object: ObjectRef,
    pub value: Value,
}

/// A document that cannot be sent.
#[derive(Debug)]
pub struct Unusable {
    pub index: usize,
    pub title: String,
    pub problem: ManifestProblem,
}

/// Reads the documents of a text. `namespace` is for documents that name none.
///
/// # Errors
/// `Invalid` for a text that is not YAML, is too large or holds no document.
pub async fn read(
    api: &Api,
    text: &str,
    namespace: Option<&str>,
) -> Result<Vec<Result<Document, Unusable>>, ServiceError> {
    let values: Vec<Value> = parse(text)?;
    let catalog = discovery::catalog(api).await?;
    Ok(values
        .into_iter()
        .enumerate()
        .flat_map(|(index, value)| items(value).into_iter().map(move |value| (index, value)))
        .map(|(index, value)| describe(&catalog, index, value, namespace))
        .collect())
}

/// Reads a text of exactly one document.
pub fn parse_one(text: &str) -> Result<Value, ServiceError> {
    let mut values = parse(text)?;
    match values.len() {
        1 => Ok(values.remove(0)),
        _ => Err(ServiceError::invalid(
            "The text has several documents; one object can be edited at a time.",
        )),
    }
}

fn parse(text: &str) -> Result<Vec<Value>, ServiceError> {
    let values: Vec<Value> = yaml::documents_from_str(text, LIMITS, MAX_MANIFEST_DOCUMENTS)
        .map_err(|error| ServiceError::invalid(format!("This is not valid YAML: {error}.")))?;
    let values: Vec<_> = values
        .into_iter()
        .filter(|value| !value.is_null())
        .collect();
    if values.is_empty() {
        return Err(ServiceError::invalid("There is no manifest in this text."));
    }
    Ok(values)
}

/// Returns the objects of a `List`, or the object itself.
fn items(mut value: Value) -> Vec<Value> {
    let is_list = value["kind"].as_str() == Some("List");
    match value.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if is_list => items,
        Some(other) => {
            value["items"] = other;
            vec![value]
        }
        None => vec![value],
    }
}

fn describe(
    catalog: &Catalog,
    index: usize,
    mut value: Value,
    namespace: Option<&str>,
) -> Result<Document, Unusable> {
    let text = |pointer: &str| {
        value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (api_version, kind) = (text("/apiVersion").to_owned(), text("/kind").to_owned());
    let name = text("/metadata/name").to_owned();
    let generated = !text("/metadata/generateName").is_empty();
    let own_namespace =
        Some(text("/metadata/namespace").to_owned()).filter(|name| !name.is_empty());
    let unusable = |path: &str, message: String| Unusable {
        index,
        title: title(&kind, own_namespace.as_deref(), &name),
        problem: problem(index, path, message),
    };
    if api_version.is_empty() || kind.is_empty() {
        return Err(unusable(
            if kind.is_empty() {
                "kind"
            } else {
                "apiVersion"
            },
            "A manifest needs apiVersion and kind, such as apps/v1 and Deployment.".to_owned(),
        ));
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let Some(found) = catalog.by_kind(group, version, &kind) else {
        let other = catalog.by_group_and_kind(group, &kind);
        let hint = other.map_or_else(String::new, |other| {
            let group = if other.group.is_empty() {
                String::new()
            } else {
                format!("{}/", other.group)
            };
            format!(" It has {kind} in {group}{}.", other.version)
        });
        let message = format!("This cluster has no {kind} in {api_version}.{hint}");
        return Err(unusable("apiVersion", message));
    };
    if name.is_empty() && !generated {
        return Err(unusable(
            "metadata.name",
            "The object needs a name.".to_owned(),
        ));
    }
    let namespace = match (found.namespaced, own_namespace.as_deref().or(namespace)) {
        (true, Some(namespace)) => Some(namespace.to_owned()),
        (true, None) => {
            let message = "Name a namespace in the manifest, or choose one above.".to_owned();
            return Err(unusable("metadata.namespace", message));
        }
        (false, _) => None,
    };
    let title = title(&kind, namespace.as_deref(), &name);
    let object = ObjectRef {
        resource: discovery::reference(found),
        namespace,
        name,
    };
    strip::server_fields(&mut value);
    Ok(Document {
        index,
        title,
        object,
        value,
    })
}

/// Returns `Deployment shop/web`, as far as it is known.
pub fn title(kind: &str, namespace: Option<&str>, name: &str) -> String {
    let kind = if kind.is_empty() { "Document" } else { kind };
    match (namespace, name) {
        (_, "") => format!("{kind} without a name"),
        (Some(namespace), name) => format!("{kind} {namespace}/{name}"),
        (None, name) => format!("{kind} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::ResourceKind;
    use serde_json::json;

    fn catalog() -> Catalog {
        let kind =
            |group: &str, version: &str, kind: &str, plural: &str, namespaced| ResourceKind {
                group: group.to_owned(),
                version: version.to_owned(),
                plural: plural.to_owned(),
                kind: kind.to_owned(),
                namespaced,
                verbs: Vec::new(),
                short_names: Vec::new(),
            };
        Catalog::new(vec![
            kind("apps", "v1", "Deployment", "deployments", true),
            kind("", "v1", "Namespace", "namespaces", false),
        ])
    }

    fn described(value: Value, namespace: Option<&str>) -> Result<String, String> {
        match describe(&catalog(), 0, value, namespace) {
            Ok(document) => Ok(document.title),
            Err(unusable) => Err(format!(
                "{}: {}",
                unusable.problem.path, unusable.problem.message
            )),
        }
    }

    #[test]
    fn a_document_is_of_its_own_namespace_or_of_the_chosen_one() {
        let web = |namespace: Value| {
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": namespace}})
        };
        assert_eq!(
            described(web(json!("shop")), Some("bank")).unwrap(),
            "Deployment shop/web"
        );
        assert_eq!(
            described(web(Value::Null), Some("bank")).unwrap(),
            "Deployment bank/web"
        );
        let error = described(web(Value::Null), None).unwrap_err();
        assert!(error.starts_with("metadata.namespace: "), "{error}");
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        assert_eq!(described(namespace, Some("bank")).unwrap(), "Namespace a");
    }

    #[test]
    fn a_kind_of_another_version_is_refused_with_the_one_that_exists() {
        let old = json!({"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "web"}});
        assert_eq!(
            described(old, Some("shop")).unwrap_err(),
            "apiVersion: This cluster has no Deployment in apps/v1beta1. It has Deployment in apps/v1."
        );
        assert!(
            described(json!({"kind": "Pod"}), None)
                .unwrap_err()
                .starts_with("apiVersion: ")
        );
        assert!(
            described(json!([]), None)
                .unwrap_err()
                .starts_with("kind: ")
        );
        let unnamed = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {}});
        assert!(
            described(unnamed, None)
                .unwrap_err()
                .starts_with("metadata.name: ")
        );
    }

    #[test]
    fn a_list_is_its_items() {
        let list = json!({"kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]});
        assert_eq!(items(list).len(), 2);
        let other = json!({"kind": "Menu", "items": [1]});
        assert_eq!(items(other.clone()), [other]);
    }
}
