//! One line for every change and for every opened terminal, log or YAML. No values, no tokens.
use super::caller::Caller;
use portico_domain::panel::ObjectRef;
use uuid::Uuid;

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Started,
    Done,
    Refused,
    Failed,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// Writes the line.
pub fn record(caller: &Caller, action: &str, cluster: Uuid, target: &str, outcome: Outcome) {
    let identity = caller.identity();
    tracing::info!(
        target: "audit",
        request_id = caller.request_id(),
        user = identity.user.id,
        user_name = identity.user.name,
        project = caller.project().map_or("", |project| project.id.as_str()),
        action,
        cluster = %cluster,
        target,
        outcome = outcome.word(),
    );
}

/// `shop/pods/web-1`, `persistentvolumes/pv-1`.
pub fn target(object: &ObjectRef) -> String {
    let kind = if object.resource.group.is_empty() {
        object.resource.plural.clone()
    } else {
        format!("{}.{}", object.resource.plural, object.resource.group)
    };
    match &object.namespace {
        Some(namespace) => format!("{namespace}/{kind}/{}", object.name),
        None => format!("{kind}/{}", object.name),
    }
}
