//! Forms that create objects: what they offer, the manifest that they write, and what became of the
//! object. Everything is read with the viewer's own token.
mod choices;
mod claim;
mod ingress;
mod load_balancer;

pub use choices::choices;

use super::{access::Names, error::ServiceError, health, object::related::reader::Reader};
use crate::kube::{Api, discovery, events, objects};
use jiff::Timestamp;
use portico_domain::panel::{
    CreationKind, CreationProgress, CreationState, EventRow, Health, NewObject, ObjectRef, Refusal,
};
use serde_json::Value;

/// Returns the manifest of a form as YAML, also if the form has problems.
pub fn manifest(new: &NewObject) -> Result<String, ServiceError> {
    Ok(objects::plain_yaml(new.manifest())?)
}

/// Returns how far a created object is: a claim until it is bound, a Service of type LoadBalancer until
/// it has an address, an Ingress until it has an address and each of its backends a ready endpoint, any
/// other object by its health.
pub async fn progress(
    api: &Api,
    names: &Names<'_>,
    object: &ObjectRef,
) -> Result<CreationProgress, ServiceError> {
    let (value, catalog) = tokio::try_join!(objects::get(api, object), discovery::catalog(api))?;
    let reader = Reader::new(api, names, catalog, object.namespace.clone());
    let mut progress = match CreationKind::of(&object.resource) {
        Some(CreationKind::Claim) => claim::progress(&reader, object, &value).await,
        Some(CreationKind::Service) => load_balancer::progress(&reader, object, &value).await,
        Some(CreationKind::Ingress) => ingress::progress(&reader, object, &value).await,
        None => by_health(object, &value, api.now()),
    };
    progress.gaps = reader.into_gaps();
    Ok(progress)
}

fn by_health(object: &ObjectRef, value: &Value, now: Timestamp) -> CreationProgress {
    let assessment = health::assess(&object.resource, value, now);
    let state = match assessment.health {
        Health::Ok | Health::Unknown => CreationState::Done,
        Health::Progressing => CreationState::Waiting,
        _ => CreationState::Blocked,
    };
    CreationProgress {
        state,
        summary: format!("{}.", assessment.status),
        details: assessment.reason.into_iter().collect(),
        gaps: Vec::new(),
    }
}

/// Reads the events of an object, the newest first; none, with a gap, if they cannot be read.
async fn events_of(reader: &Reader<'_>, object: &ObjectRef, value: &Value) -> Vec<EventRow> {
    let uid = value["metadata"]["uid"].as_str().unwrap_or_default();
    match events::of_object(reader.api, object, uid).await {
        Ok(events) => events,
        Err(error) => {
            let refusal = ServiceError::from(error).into_brief_refusal();
            reader.gap(Refusal {
                reason: format!("Events are not included: {}", refusal.reason),
                ..refusal
            });
            Vec::new()
        }
    }
}

/// Returns the newest warning in words.
fn newest_warning(events: &[EventRow]) -> Option<String> {
    let warning = events.iter().find(|event| event.kind == "Warning")?;
    Some(sentence(&warning.reason, &warning.message))
}

fn sentence(reason: &str, message: &str) -> String {
    let message = message.trim();
    let end = if message.ends_with('.') { "" } else { "." };
    format!("{reason}: {message}{end}")
}

/// Returns whether a class has an annotation that makes it the default one.
fn is_default_class(class: &Value, annotations: &[&str]) -> bool {
    let all = &class["metadata"]["annotations"];
    annotations.iter().any(|name| all[*name] == "true")
}

#[cfg(test)]
fn event(kind: &str, reason: &str, message: &str) -> EventRow {
    EventRow {
        kind: kind.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        source: String::new(),
        count: 1,
        last_seen: None,
    }
}
