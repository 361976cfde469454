//! The containers of a pod template: image, ports, requests and limits, environment.
use super::{super::pod_template::items, table, text};
use portico_domain::panel::{DetailCell, DetailTable};
use serde_json::Value;

pub fn of(spec: &Value) -> Vec<DetailTable> {
    let containers = || {
        ["initContainers", "containers"]
            .into_iter()
            .flat_map(|list| items(&spec[list]).map(move |container| (list, container)))
    };
    let resources = containers()
        .map(|(list, container)| {
            let name = text(&container["name"]);
            let name = if list == "initContainers" {
                format!("{name} (init)")
            } else {
                name
            };
            let amount = |kind: &str, of: &str| -> DetailCell {
                let amount = text(&container["resources"][kind][of]);
                if amount.is_empty() {
                    "—".into()
                } else {
                    amount.into()
                }
            };
            vec![
                name.into(),
                text(&container["image"]).into(),
                ports(container).into(),
                amount("requests", "cpu"),
                amount("limits", "cpu"),
                amount("requests", "memory"),
                amount("limits", "memory"),
            ]
        })
        .collect();
    let environment = containers()
        .flat_map(|(_, container)| {
            let name = text(&container["name"]);
            environment(container)
                .into_iter()
                .map(move |(variable, value)| {
                    vec![
                        name.clone().into(),
                        variable.into(),
                        DetailCell::from(value),
                    ]
                })
        })
        .collect();
    vec![
        table(
            "Containers and resources",
            &[
                "Container",
                "Image",
                "Ports",
                "CPU request",
                "CPU limit",
                "Memory request",
                "Memory limit",
            ],
            resources,
        ),
        table(
            "Environment",
            &["Container", "Variable", "Value"],
            environment,
        ),
    ]
}

fn ports(container: &Value) -> String {
    let ports: Vec<_> = items(&container["ports"])
        .map(|port| {
            let number = text(&port["containerPort"]);
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["name"].as_str() {
                Some(name) => format!("{name} {number}/{protocol}"),
                None => format!("{number}/{protocol}"),
            }
        })
        .collect();
    ports.join(", ")
}

/// Returns the variables with their values, or with where they come from.
fn environment(container: &Value) -> Vec<(String, String)> {
    let from_all = items(&container["envFrom"]).map(|source| {
        let prefix = text(&source["prefix"]);
        let origin = if source["secretRef"].is_object() {
            format!("all keys of Secret {}", text(&source["secretRef"]["name"]))
        } else {
            format!(
                "all keys of ConfigMap {}",
                text(&source["configMapRef"]["name"])
            )
        };
        (format!("{prefix}*"), origin)
    });
    let single = items(&container["env"]).map(|variable| {
        let from = &variable["valueFrom"];
        let value = if let Some(secret) = from.get("secretKeyRef") {
            format!(
                "key {} of Secret {}",
                text(&secret["key"]),
                text(&secret["name"])
            )
        } else if let Some(map) = from.get("configMapKeyRef") {
            format!(
                "key {} of ConfigMap {}",
                text(&map["key"]),
                text(&map["name"])
            )
        } else if let Some(field) = from.get("fieldRef") {
            format!("field {}", text(&field["fieldPath"]))
        } else if let Some(resource) = from.get("resourceFieldRef") {
            format!("resource {}", text(&resource["resource"]))
        } else {
            text(&variable["value"])
        };
        (text(&variable["name"]), value)
    });
    from_all.chain(single).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_containers_requests_limits_and_environment_are_shown() {
        let spec = json!({"containers": [{"name": "web", "image": "web:1",
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}},
            "envFrom": [{"configMapRef": {"name": "settings"}}],
            "env": [{"name": "MODE", "value": "fast"},
                {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}]}]});
        let tables = of(&spec);
        let row = |table: usize, row: usize| {
            let cells: Vec<_> = tables[table].rows[row]
                .iter()
                .map(|cell| cell.text.as_str())
                .collect();
            cells.join(" | ")
        };
        assert_eq!(
            row(0, 0),
            "web | web:1 | http 8080/TCP | 100m | — | — | 64Mi"
        );
        assert_eq!(row(1, 0), "web | * | all keys of ConfigMap settings");
        assert_eq!(row(1, 1), "web | MODE | fast");
        assert_eq!(row(1, 2), "web | PASSWORD | key password of Secret db");
    }
}
