//! The audit of joining and leaving shared watches. It is in the log only: a stream has no response
//! in which it could be reported to the gateway.
use crate::{
    caller::{
        Caller,
        audit::{Outcome, record},
    },
    shared_watch::Viewer,
};
use uuid::Uuid;

/// A view of shared watches; writes the end of it when dropped.
pub struct AuditedView {
    caller: Caller,
    cluster: Uuid,
    object: String,
    outcome: Outcome,
}

impl AuditedView {
    /// Writes the start of the view; `None` if none of its watches is shared.
    pub fn start(caller: &Caller, cluster: Uuid, viewers: &[Viewer]) -> Option<Self> {
        let object = object(
            viewers
                .iter()
                .map(Viewer::scope)
                .filter(|scope| scope.is_shared()),
        )?;
        record(caller, "watch.join", cluster, &object, Outcome::Started);
        Some(Self {
            caller: caller.clone(),
            cluster,
            object,
            outcome: Outcome::Done,
        })
    }

    /// The view ends because the user has lost the right to it.
    pub fn cut(&mut self) {
        self.outcome = Outcome::Refused;
    }
}

impl Drop for AuditedView {
    fn drop(&mut self) {
        record(
            &self.caller,
            "watch.leave",
            self.cluster,
            &self.object,
            self.outcome,
        );
    }
}

/// Returns `pods`, or `shop,web/deployments.apps`.
fn object<'a>(
    mut scopes: impl Iterator<Item = &'a crate::shared_watch::WatchScope>,
) -> Option<String> {
    let first = scopes.next()?;
    let resource = first.resource();
    let kind = if resource.group.is_empty() {
        resource.plural.clone()
    } else {
        format!("{}.{}", resource.plural, resource.group)
    };
    let Some(namespace) = first.namespace() else {
        return Some(kind);
    };
    let others = scopes.filter_map(|scope| scope.namespace());
    let names: Vec<_> = std::iter::once(namespace).chain(others).collect();
    Some(format!("{}/{kind}", names.join(",")))
}
