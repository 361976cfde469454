//! The kubectl commands that do the same as a change of many objects.
use super::{
    BulkAction, BulkTarget, ResourceKind,
    change::{quoted, resource},
};
use std::collections::BTreeMap;

/// Maximum number of objects in the commands; more would not be read.
const MAX_OBJECTS: usize = 50;

/// Returns one command for each namespace, each in a line; `None` for too many objects.
pub fn bulk_command(
    action: &BulkAction,
    kind: &ResourceKind,
    targets: &[BulkTarget],
) -> Option<String> {
    if targets.is_empty() || targets.len() > MAX_OBJECTS {
        return None;
    }
    let mut by_namespace: BTreeMap<Option<&str>, Vec<String>> = BTreeMap::new();
    for target in targets {
        let names = by_namespace.entry(target.namespace.as_deref()).or_default();
        names.push(quoted(&target.name));
    }
    let (verb, arguments) = words(action);
    let lines: Vec<_> = by_namespace
        .into_iter()
        .map(|(namespace, names)| {
            let place = match namespace {
                Some(namespace) => format!(" -n {}", quoted(namespace)),
                None => String::new(),
            };
            let names = names.join(" ");
            format!(
                "kubectl {verb} {} {names}{arguments}{place}",
                resource(kind)
            )
        })
        .collect();
    Some(lines.join("\n"))
}

fn words(action: &BulkAction) -> (&'static str, String) {
    match action {
        BulkAction::Delete { .. } => ("delete", String::new()),
        BulkAction::Restart => ("rollout restart", String::new()),
        BulkAction::Scale { replicas } => ("scale", format!(" --replicas={replicas}")),
        BulkAction::Label { set, remove } => {
            let set = set
                .iter()
                .map(|(key, value)| format!("{key}={}", quoted(value)));
            let remove = remove.iter().map(|key| format!("{key}-"));
            let pairs: Vec<_> = set.chain(remove).collect();
            ("label --overwrite", format!(" {}", pairs.join(" ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(namespace: &str, name: &str) -> BulkTarget {
        BulkTarget {
            uid: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    fn deployments() -> ResourceKind {
        ResourceKind {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            plural: "deployments".to_owned(),
            kind: "Deployment".to_owned(),
            namespaced: true,
            verbs: Vec::new(),
            short_names: Vec::new(),
        }
    }

    #[test]
    fn a_change_of_many_is_one_command_for_each_namespace() {
        let targets = [
            target("shop", "web"),
            target("bank", "web"),
            target("shop", "api"),
        ];
        let command = |action: &BulkAction| bulk_command(action, &deployments(), &targets);
        assert_eq!(
            command(&BulkAction::Restart).as_deref(),
            Some(
                "kubectl rollout restart deployment web -n bank\n\
                 kubectl rollout restart deployment web api -n shop"
            )
        );
        let scaled = command(&BulkAction::Scale { replicas: 2 }).unwrap();
        assert!(scaled.ends_with("scale deployment web api --replicas=2 -n shop"));
        let label = BulkAction::Label {
            set: vec![("app".to_owned(), "web".to_owned())],
            remove: vec!["tier".to_owned()],
        };
        let labelled = command(&label).unwrap();
        assert!(labelled.contains("label --overwrite deployment web app=web tier- -n bank"));
    }

    #[test]
    fn too_many_objects_have_no_command() {
        let targets: Vec<_> = (0..=MAX_OBJECTS)
            .map(|number| target("shop", &number.to_string()))
            .collect();
        let command =
            |targets: &[BulkTarget]| bulk_command(&BulkAction::Restart, &deployments(), targets);
        assert_eq!(command(&targets), None);
        assert_eq!(command(&[]), None);
        assert!(command(&targets[1..]).is_some());
    }
}
