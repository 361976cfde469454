//! The rules of roles, and the subjects of bindings.
use super::{
    super::{pod_template::items, reader::Reader},
    joined, link, status, table, text,
};
use crate::kube::rbac::BoundSubject;
use portico_domain::panel::{DetailCell, DetailTable, Health, ObjectRef, Subject};
use serde::Deserialize;
use serde_json::Value;

/// Returns the rules of a role, one row each.
pub fn rules(value: &Value) -> DetailTable {
    let rows = items(&value["rules"])
        .map(|rule| {
            let paths = joined(&rule["nonResourceURLs"]);
            let resources = if paths.is_empty() {
                joined(&rule["resources"])
            } else {
                paths
            };
            let groups: Vec<_> = items(&rule["apiGroups"])
                .map(|group| match group.as_str() {
                    Some("") => "core".to_owned(),
                    _ => text(group),
                })
                .collect();
            let names = joined(&rule["resourceNames"]);
            vec![
                resources.into(),
                verbs(&rule["verbs"]),
                groups.join(", ").into(),
                if names.is_empty() { "all" } else { &names }.into(),
            ]
        })
        .collect();
    table(
        "Rules",
        &["Resources", "Verbs", "API groups", "Names"],
        rows,
    )
}

fn verbs(verbs: &Value) -> DetailCell {
    if items(verbs).any(|verb| verb == "*") {
        return status("everything (*)", Health::Warning);
    }
    joined(verbs).into()
}

/// Returns the subjects of a binding.
pub fn subjects(reader: &Reader<'_>, value: &Value) -> DetailTable {
    let rows = items(&value["subjects"])
        .map(|subject| {
            let [kind, name] = subject_cells(reader, subject);
            vec![kind, name, text(&subject["namespace"]).into()]
        })
        .collect();
    table("Subjects", &["Kind", "Name", "Namespace"], rows)
}

/// Returns the kind and the name of a binding's subject: Keystone's names where the viewer may see them.
pub fn subject_cells(reader: &Reader<'_>, subject: &Value) -> [DetailCell; 2] {
    let Ok(bound) = BoundSubject::deserialize(subject) else {
        return ["".into(), text(&subject["name"]).into()];
    };
    let named = |kind: &str, name: Option<String>, id: String| {
        let words = match name {
            Some(name) => format!("{name} ({id})"),
            None => id,
        };
        [kind.into(), words.into()]
    };
    match reader.names.subject(&bound) {
        Subject::KeystoneRole {
            id, name, project, ..
        } => {
            let name = match (name, project) {
                (Some(name), Some(project)) => Some(format!("{name} in {project}")),
                (name, _) => name,
            };
            named("Keystone role", name, id)
        }
        Subject::KeystoneUser { id, name } => named("Keystone user", name, id),
        Subject::KeystoneProject { id, name } => named("Keystone project", name, id),
        Subject::ServiceAccount { namespace, name } => {
            let account = reader
                .resource("", "serviceaccounts")
                .map(|resource| ObjectRef {
                    resource,
                    namespace: Some(namespace),
                    name: name.clone(),
                });
            ["ServiceAccount".into(), link(&name, account)]
        }
        Subject::User { name } => ["User".into(), name.into()],
        Subject::Group { name } => ["Group".into(), name.into()],
    }
}
