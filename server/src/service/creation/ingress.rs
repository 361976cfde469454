//! An Ingress until it has an address and each of its backends a ready endpoint, or what is missing.
use super::{
    choices::DEFAULT_INGRESS_CLASS, events_of, is_default_class, load_balancer::has_endpoints,
    newest_warning,
};
use crate::service::object::related::{
    ingress::{Route, addresses, routes},
    reader::{Reader, Select},
};
use futures::future;
use portico_domain::panel::{CreationProgress, CreationState, EventRow, ObjectRef};
use serde_json::Value;
use std::collections::BTreeSet;

/// The annotation that names the class in Ingresses from before `spec.ingressClassName`.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

pub async fn progress(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> CreationProgress {
    let backends: BTreeSet<(String, String)> = routes(value)
        .into_iter()
        .filter_map(|Route { service, port, .. }| Some((service?, port)))
        .collect();
    let checks: Vec<_> = backends
        .iter()
        .map(|(service, port)| backend(reader, service, port))
        .collect();
    let (events, class, backends) = tokio::join!(
        events_of(reader, object, value),
        class_problem(reader, value),
        future::join_all(checks),
    );
    let missing: Vec<String> = backends.into_iter().flatten().collect();
    describe(value, &events, class, missing)
}

/// Returns what a backend lacks, as far as that can be read.
async fn backend(reader: &Reader<'_>, service: &str, port: &str) -> Option<String> {
    let reference = reader.reference("", "services", service)?;
    let found = match reader.get(&reference).await {
        Ok(Some(found)) => found,
        Ok(None) => return Some(format!("The Service {service} does not exist.")),
        // named among the gaps
        Err(()) => return None,
    };
    if !has_port(&found, port) {
        return Some(format!("The Service {service} has no port {port}."));
    }
    let is_ready = has_endpoints(reader, service).await?;
    (!is_ready).then(|| format!("The Service {service} has no ready endpoints."))
}

fn has_port(service: &Value, port: &str) -> bool {
    let mut ports = service["spec"]["ports"].as_array().into_iter().flatten();
    ports.any(|known| {
        known["name"] == port
            || known["port"]
                .as_u64()
                .is_some_and(|number| number.to_string() == port)
    })
}

/// Returns why no controller may take the Ingress: its class does not exist, or it has none.
async fn class_problem(reader: &Reader<'_>, value: &Value) -> Option<String> {
    if value["metadata"]["annotations"][CLASS_ANNOTATION].is_string() {
        return None;
    }
    let kind = ("networking.k8s.io", "ingressclasses");
    let classes = reader
        .list_in(kind.0, kind.1, None, Select::default())
        .await?;
    match value["spec"]["ingressClassName"].as_str() {
        Some(name) => {
            let exists = classes
                .iter()
                .any(|class| class["metadata"]["name"] == name);
            (!exists).then(|| format!("The Ingress class {name} does not exist."))
        }
        None => {
            let has_default = classes
                .iter()
                .any(|class| is_default_class(class, &DEFAULT_INGRESS_CLASS));
            (!has_default).then(|| {
                "The Ingress names no class, and the cluster has no default one: a controller may \
                 ignore it."
                    .to_owned()
            })
        }
    }
}

fn describe(
    value: &Value,
    events: &[EventRow],
    class: Option<String>,
    missing: Vec<String>,
) -> CreationProgress {
    let found: Vec<String> = addresses(value).into_iter().map(|cell| cell.text).collect();
    if !found.is_empty() {
        let at = format!("Reachable at {}", found.join(", "));
        return if missing.is_empty() {
            CreationProgress {
                state: CreationState::Done,
                summary: format!("{at}."),
                details: Vec::new(),
                gaps: Vec::new(),
            }
        } else {
            CreationProgress {
                state: CreationState::Blocked,
                summary: format!("{at}, but not every backend can answer."),
                details: missing,
                gaps: Vec::new(),
            }
        };
    }
    let warning = newest_warning(events);
    let is_blocked = class.is_some() || warning.is_some() || !missing.is_empty();
    CreationProgress {
        state: if is_blocked {
            CreationState::Blocked
        } else {
            CreationState::Waiting
        },
        summary: "No controller has given the Ingress an address yet.".to_owned(),
        details: warning.into_iter().chain(class).chain(missing).collect(),
        gaps: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::event, *};
    use serde_json::json;

    fn with_address() -> Value {
        json!({ "status": { "loadBalancer": { "ingress": [{ "hostname": "lb.example.org" }] } } })
    }

    #[test]
    fn an_ingress_is_done_with_an_address_and_ready_backends() {
        let progress = describe(&with_address(), &[], None, Vec::new());
        assert_eq!(progress.state, CreationState::Done);
        assert_eq!(progress.summary, "Reachable at lb.example.org.");
    }

    #[test]
    fn an_address_without_endpoints_is_not_enough() {
        let missing = vec!["The Service web has no ready endpoints.".to_owned()];
        let progress = describe(&with_address(), &[], None, missing.clone());
        assert_eq!(progress.state, CreationState::Blocked);
        assert_eq!(progress.details, missing);
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        let failed = [event("Warning", "Rejected", "host in use")];
        let class = Some("The Ingress class nginx does not exist.".to_owned());
        let missing = vec!["The Service web does not exist.".to_owned()];
        let progress = describe(&json!({}), &failed, class, missing);
        assert_eq!(progress.state, CreationState::Blocked);
        assert_eq!(progress.details.len(), 3);
        let waits = describe(&json!({}), &[], None, Vec::new());
        assert_eq!(waits.state, CreationState::Waiting);
    }

    #[test]
    fn a_port_is_found_by_number_or_name() {
        let service = json!({ "spec": { "ports": [{ "name": "http", "port": 80 }] } });
        assert!(has_port(&service, "80") && has_port(&service, "http"));
        assert!(!has_port(&service, "443"));
    }
}
