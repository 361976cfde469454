//! A Service until it is reachable: one of type LoadBalancer until it has an external address.
use super::{events_of, newest_warning};
use crate::service::object::related::{ingress::addresses, reader::Reader};
use portico_domain::panel::{CreationProgress, CreationState, EventRow, ObjectRef};
use serde_json::Value;

pub async fn progress(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> CreationProgress {
    let (events, has_endpoints) = tokio::join!(
        events_of(reader, object, value),
        has_endpoints(reader, &object.name),
    );
    describe(value, &events, has_endpoints)
}

/// Returns whether a Service has a ready endpoint; `None` if that cannot be read.
pub async fn has_endpoints(reader: &Reader<'_>, service: &str) -> Option<bool> {
    let reference = reader.reference("", "endpoints", service)?;
    let found = reader.get(&reference).await.ok()?;
    let subsets = found.as_ref().and_then(|found| found["subsets"].as_array());
    let is_ready = |subset: &Value| {
        let addresses = subset["addresses"].as_array();
        addresses.is_some_and(|addresses| !addresses.is_empty())
    };
    Some(subsets.is_some_and(|subsets| subsets.iter().any(is_ready)))
}

fn describe(value: &Value, events: &[EventRow], has_endpoints: Option<bool>) -> CreationProgress {
    let mut details = Vec::new();
    if has_endpoints == Some(false) {
        details.push(
            "No ready pod has the labels of the selector: requests get no answer yet.".to_owned(),
        );
    }
    if value["spec"]["type"] != "LoadBalancer" {
        let summary = match value["spec"]["clusterIP"].as_str() {
            None | Some("" | "None") => "The Service exists.".to_owned(),
            Some(address) => format!("Reachable inside the cluster at {address}."),
        };
        return CreationProgress {
            state: CreationState::Done,
            summary,
            details,
            gaps: Vec::new(),
        };
    }
    let found: Vec<String> = addresses(value).into_iter().map(|cell| cell.text).collect();
    if !found.is_empty() {
        return CreationProgress {
            state: CreationState::Done,
            summary: format!("External address: {}.", found.join(", ")),
            details,
            gaps: Vec::new(),
        };
    }
    if let Some(warning) = newest_warning(events) {
        details.insert(0, warning);
        return CreationProgress {
            state: CreationState::Blocked,
            summary: "The load balancer could not be created.".to_owned(),
            details,
            gaps: Vec::new(),
        };
    }
    if events.is_empty() {
        details.push(
            "No controller has reported anything about the Service. A cluster without a load \
             balancer controller assigns no address."
                .to_owned(),
        );
    }
    CreationProgress {
        state: CreationState::Waiting,
        summary: "Waiting for an external address.".to_owned(),
        details,
        gaps: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::event, *};
    use serde_json::json;

    fn pending() -> Value {
        json!({ "spec": { "type": "LoadBalancer", "clusterIP": "10.0.0.7" }, "status": {} })
    }

    #[test]
    fn a_load_balancer_is_done_with_its_address() {
        let mut service = pending();
        service["status"] = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.7" }] } });
        let progress = describe(&service, &[], Some(true));
        assert_eq!(progress.state, CreationState::Done);
        assert_eq!(progress.summary, "External address: 192.0.2.7.");
        assert!(progress.details.is_empty());
    }

    #[test]
    fn a_warning_explains_why_there_is_no_address() {
        let failed = [event("Warning", "SyncLoadBalancerFailed", "quota exceeded")];
        let progress = describe(&pending(), &failed, Some(true));
        assert_eq!(progress.state, CreationState::Blocked);
        assert_eq!(
            progress.details,
            ["SyncLoadBalancerFailed: quota exceeded."]
        );
    }

    #[test]
    fn without_any_event_a_missing_controller_is_the_likely_reason() {
        let progress = describe(&pending(), &[], Some(false));
        assert_eq!(progress.state, CreationState::Waiting);
        assert_eq!(progress.details.len(), 2, "{:?}", progress.details);
        let ensuring = [event("Normal", "EnsuringLoadBalancer", "Ensuring")];
        assert!(describe(&pending(), &ensuring, None).details.is_empty());
    }

    #[test]
    fn other_types_are_reachable_at_once() {
        let service = json!({ "spec": { "type": "ClusterIP", "clusterIP": "10.0.0.7" } });
        let progress = describe(&service, &[], None);
        assert_eq!(progress.state, CreationState::Done);
        assert!(progress.summary.contains("10.0.0.7"));
    }
}
