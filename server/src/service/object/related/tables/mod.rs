//! The parts of an object that are shown as tables, by kind.
mod containers;
mod generic;
mod network;
mod policy;
mod rbac;

use super::{is, pod_template, reader::Reader};
use portico_domain::panel::{DetailCell, DetailTable, Health, ObjectRef};
use serde_json::Value;

/// Groups of Kubernetes itself, whose kinds have tables or fields of their own.
const BUILT_IN_SUFFIX: &str = ".k8s.io";

/// Returns the tables of an object.
pub async fn of(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<DetailTable> {
    let resource = (
        object.resource.group.as_str(),
        object.resource.plural.as_str(),
    );
    let mut tables = match resource {
        ("", "services") => network::service(reader, object, value).await,
        ("networking.k8s.io" | "extensions", "ingresses") => vec![network::routes(reader, value)],
        ("networking.k8s.io", "networkpolicies") => vec![network::policy_rules(value)],
        ("", "endpoints") => vec![network::endpoints(reader, value)],
        ("discovery.k8s.io", "endpointslices") => vec![network::endpoint_slice(reader, value)],
        ("", "resourcequotas") => vec![policy::quota(value)],
        ("", "limitranges") => vec![policy::limits(value)],
        ("", "namespaces") => policy::of_namespace(reader).await,
        ("autoscaling", "horizontalpodautoscalers") => vec![policy::scaling(value)],
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => vec![rbac::rules(value)],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            vec![rbac::subjects(reader, value)]
        }
        ("apiextensions.k8s.io", "customresourcedefinitions") => vec![generic::versions(value)],
        ("", "nodes") => vec![policy::taints(value)],
        (_, plural) if pod_template::spec_of(plural, value).is_some() && has_pods(object) => {
            let spec = pod_template::spec_of(plural, value).unwrap_or(&Value::Null);
            containers::of(spec)
        }
        (group, _) if is_custom(group) => generic::fields(value),
        _ => Vec::new(),
    };
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Returns whether a group has kinds of its own that are not of Kubernetes itself.
pub fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(BUILT_IN_SUFFIX)
}

fn has_pods(object: &ObjectRef) -> bool {
    matches!(object.resource.group.as_str(), "apps" | "batch") || is(object, "", "pods")
}

/// Makes a table.
fn table(title: &str, columns: &[&str], rows: Vec<Vec<DetailCell>>) -> DetailTable {
    DetailTable {
        title: title.to_owned(),
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        rows,
    }
}

/// Makes a cell that links to an object.
fn link(text: &str, object: Option<ObjectRef>) -> DetailCell {
    DetailCell {
        object,
        ..text.into()
    }
}

/// Makes a cell with a status.
fn status(text: impl Into<String>, health: Health) -> DetailCell {
    DetailCell {
        health: Some(health),
        ..text.into().into()
    }
}

/// Returns a scalar as text; empty for anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => String::new(),
    }
}

/// Returns the strings of an array, separated by commas.
fn joined(value: &Value) -> String {
    let texts: Vec<String> = pod_template::items(value).map(text).collect();
    texts.join(", ")
}
