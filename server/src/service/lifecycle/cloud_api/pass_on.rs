//! Passes calls on, and records changes.
use super::{
    check::{Changing, Checked, CloudRequest, NotPermitted, Subject, check},
    creation::store_creation,
    protected, rights,
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            access::MagnumAccess,
            error,
            feeds::Accepted,
            journal::{Change, RequestOutcome, begin, record},
            progress::follow,
            viewer::Viewer,
        },
    },
};
use app::error::UiErrorKind;
use axum::http::StatusCode;
use portico_openstack::{
    keystone::error::Unavailable,
    rest::{Effect, Error, ErrorKind, PassedAnswer},
};
use serde_json::Value;
use uuid::Uuid;

/// Why there is no answer of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudRefusal {
    pub status: StatusCode,
    /// A sentence, with the next step.
    pub detail: String,
}

impl CloudRefusal {
    /// Returns a refusal with a status and a sentence.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
        }
    }
}

/// Passes a request on. Of a change, the audit log has the outcome; of a change of a cluster, the journal
/// has an entry before it is sent, and one with the outcome. The deletion of a cluster that is protected in
/// Portico is recorded as refused, and not sent. What Magnum's policy forbids the caller is not sent either,
/// and only the audit log has it. A cluster of another project does not exist here.
///
/// # Errors
/// If the request is not permitted, the cluster is protected, the change cannot be recorded, or the service
/// does not answer.
pub async fn pass_on(
    services: &Services,
    caller: &Caller,
    request: &CloudRequest,
) -> Result<PassedAnswer, CloudRefusal> {
    let access = services.magnum().map_err(of_panel)?;
    let viewer = access.viewer(caller).await.map_err(of_panel)?;
    let checked = check(request, viewer.project_id());
    let Checked {
        call,
        change,
        cluster,
    } = checked.map_err(|refused| of_request(caller, refused))?;
    let rest = &access.clients.rest;
    let Some(mut change) = change else {
        let is_template = call.operation == "template";
        if let Some(cluster) = cluster {
            rights::ensure_own(&access.clients, &access.own, &viewer, cluster).await?;
        }
        let answer = rest.pass_on(&viewer.token, call).await;
        let answer = answer.map_err(|error| of_service(&error))?;
        if is_template {
            rights::ensure_visible(&answer, &viewer)?;
        }
        return Ok(understandable(answer));
    };
    if let Subject::Cluster(cluster) = change.subject {
        let permitted = permitted(access, &viewer, cluster, &change).await;
        // before anything is written: a reader must not fill a journal
        permitted.inspect_err(|_| refused(caller, &change, cluster))?;
        change.target = target(access, &viewer, cluster, &change).await;
    }
    if matches!(change.action, "change_template" | "delete_template") {
        let found = rights::is_own_template(&access.clients, &viewer, &change.target).await;
        found.inspect_err(|_| refused(caller, &change, Uuid::nil()))?;
    }
    let change = change;
    let entry = |cluster| Change {
        cluster,
        action: change.action,
        target: &change.target,
        reason: request.reason.as_deref(),
    };
    if let Some(cluster) = protected::deleted(&change) {
        protected::ensure_deletable(services, caller, access, &viewer, entry(cluster)).await?;
    }
    let begun = match change.subject {
        Subject::Cluster(cluster) => {
            let begun = begin(services, caller, entry(cluster)).await;
            begun.map_err(of_panel)?
        }
        Subject::NewCluster | Subject::Other => None,
    };
    let answer = rest.pass_on(&viewer.token, call).await;
    let (outcome, text) = outcome(&answer);
    if let Some(begun) = begun {
        begun.end(caller, outcome, text).await;
    }
    let cluster = cluster_of(&change, &answer);
    let is_creation = matches!(change.subject, Subject::NewCluster);
    let created = cluster.filter(|_| is_creation && outcome == RequestOutcome::Accepted);
    if let Some(cluster) = created {
        // the journal needs the UUID
        record(services, caller, entry(cluster), outcome, None).await;
    }
    audit::record(
        caller,
        change.action,
        cluster.unwrap_or_default(),
        &change.target,
        audited(outcome),
    );
    if let Some(cluster) = created {
        let (store, now) = (access.attempts.store(), services.clock.now());
        store_creation(store, &viewer, cluster, &change, now).await;
    }
    if let (RequestOutcome::Accepted, Some(cluster)) = (outcome, cluster)
        && let Some(accepted) = accepted(&change)
    {
        follow(services, caller, cluster, &accepted).await;
    }
    answer
        .map(understandable)
        .map_err(|error| of_service(&error))
}

/// Records a change that is not sent.
fn refused(caller: &Caller, change: &Changing, cluster: Uuid) {
    let target = &change.target;
    audit::record(caller, change.action, cluster, target, Outcome::Refused);
}

/// Checks that the caller may request a change of a cluster of the project.
async fn permitted(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    change: &Changing,
) -> Result<(), CloudRefusal> {
    let found = rights::own_cluster(&access.clients, viewer, cluster).await;
    let found = found.map_err(|refusal| {
        let is_missing = refusal.status == StatusCode::NOT_FOUND;
        let detail = match is_missing {
            true => refusal.detail,
            false => format!("The change was not sent. {}", refusal.detail),
        };
        CloudRefusal { detail, ..refusal }
    })?;
    rights::ensure_permitted(viewer, change.action, &found)
}

/// Returns what a change is about. Readers of the journal know a node group by its name, and the command
/// line sends its UUID.
async fn target(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    change: &Changing,
) -> String {
    let is_of_group = matches!(
        change.action,
        "resize_node_group" | "change_node_group" | "delete_node_group"
    );
    if !is_of_group || change.target.is_empty() {
        return change.target.clone();
    }
    let magnum = &access.clients.magnum;
    let group = magnum.node_group_named(&viewer.token, cluster, &change.target);
    match group.await {
        Ok(group) => group.name,
        // Magnum's answer to the change is the better one
        Err(_) => change.target.clone(),
    }
}

fn cluster_of(change: &Changing, answer: &Result<PassedAnswer, Error>) -> Option<Uuid> {
    match change.subject {
        Subject::Cluster(cluster) => Some(cluster),
        Subject::NewCluster => {
            let answer = answer.as_ref().ok()?;
            let body: Value = serde_json::from_slice(&answer.body).ok()?;
            body.get("uuid")?.as_str()?.parse().ok()
        }
        Subject::Other => None,
    }
}

fn accepted(change: &Changing) -> Option<Accepted> {
    match change.action {
        "create_cluster" => Some(Accepted::Creation {
            name: change.target.clone(),
        }),
        "delete_cluster" => Some(Accepted::Deletion),
        _ => None,
    }
}

/// Returns what became of a change, and why it was refused or has failed.
pub(super) fn outcome(answer: &Result<PassedAnswer, Error>) -> (RequestOutcome, Option<String>) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(failed) => {
            let outcome = match failed.effect {
                Effect::Unknown => RequestOutcome::Unknown,
                Effect::None => RequestOutcome::Failed,
            };
            return (outcome, Some(error::message(failed)));
        }
    };
    let status = answer.status;
    let text = || {
        let text = answer.fault.clone();
        let text = text.unwrap_or_else(|| format!("The service answered with status {status}"));
        Some(error::sentence(&text))
    };
    match status.as_u16() {
        200..=299 => (RequestOutcome::Accepted, None),
        // proxies in front of a service answer so when they have not passed a request on
        429 | 503 => (RequestOutcome::Failed, text()),
        500..=599 => (RequestOutcome::Unknown, text()),
        _ => (RequestOutcome::Refused, text()),
    }
}

fn audited(outcome: RequestOutcome) -> Outcome {
    match outcome {
        RequestOutcome::Accepted => Outcome::Done,
        RequestOutcome::Refused => Outcome::Refused,
        RequestOutcome::Sending | RequestOutcome::Unknown => Outcome::Started,
        RequestOutcome::Failed => Outcome::Failed,
    }
}

/// Returns an answer for the command line, which renews its own token after a 401: of a service, a 401 is
/// about the Keystone token of the session.
fn understandable(answer: PassedAnswer) -> PassedAnswer {
    if answer.status != StatusCode::UNAUTHORIZED {
        return answer;
    }
    let error = serde_json::json!({"errors": [{
        "status": 401,
        "code": "unauthorized",
        "detail": "The service does not accept the token of your session. Sign in again.",
    }]});
    PassedAnswer {
        body: error.to_string().into_bytes(),
        ..answer
    }
}

fn of_request(caller: &Caller, refused: NotPermitted) -> CloudRefusal {
    tracing::warn!(
        request_id = caller.request_id(),
        user_id = caller.identity().user.id,
        reason = %refused,
        "a call of the command line was not passed on"
    );
    CloudRefusal::new(refused.status(), refused.to_string())
}

pub(super) fn of_panel(error: ServiceError) -> CloudRefusal {
    let status = match error.kind {
        UiErrorKind::NotPermitted => StatusCode::FORBIDDEN,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let next_step = error.next_step.unwrap_or_default();
    let detail = format!("{} {next_step}", error.message);
    CloudRefusal::new(status, detail.trim_end())
}

/// Returns that a service did not answer. The command line concludes from 502 and 504 that the change may
/// have had its effect, and from 503 that it had none.
pub(super) fn of_service(failed: &Error) -> CloudRefusal {
    let status = match (&failed.kind, failed.effect) {
        (ErrorKind::Unavailable(Unavailable::Timeout), Effect::Unknown) => {
            StatusCode::GATEWAY_TIMEOUT
        }
        (_, Effect::Unknown) => StatusCode::BAD_GATEWAY,
        (ErrorKind::Invalid(_), _) => StatusCode::BAD_REQUEST,
        (ErrorKind::Forbidden(_), _) => StatusCode::FORBIDDEN,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let detail = format!("{} {}", error::message(failed), error::next_step(failed));
    CloudRefusal::new(status, detail)
}
