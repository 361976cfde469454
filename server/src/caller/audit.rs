//! Audit of the panel's actions for a user: one log line each, and a report to the gateway, which
//! records it in the audit log (see [`portico_assertion::audit_report`]). No values, no tokens.
use super::Caller;
use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue},
    middleware::Next,
    response::Response,
};
use portico_assertion::audit_report::{self, AuditReport, Candidate, ReportedOutcome};
use portico_domain::panel::ObjectRef;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// The outcome of an action.
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

    fn reported(self) -> ReportedOutcome {
        match self {
            Self::Started | Self::Done => ReportedOutcome::Succeeded,
            Self::Refused => ReportedOutcome::Denied,
            Self::Failed => ReportedOutcome::Failed,
        }
    }
}

/// The reports of one request. Closed once the response's head is made: what a stream does later is
/// in the log only.
#[derive(Clone, Debug)]
pub struct Reports {
    /// `None` once closed.
    all: Arc<Mutex<Option<Vec<AuditReport>>>>,
    /// The newest entry of a cluster's journal, for the next report.
    journal: Arc<Mutex<Option<String>>>,
}

impl Default for Reports {
    fn default() -> Self {
        Self {
            all: Arc::new(Mutex::new(Some(Vec::new()))),
            journal: Arc::default(),
        }
    }
}

impl Reports {
    fn push(&self, report: AuditReport) {
        let mut reports = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        match reports.as_mut() {
            Some(reports) if reports.len() < audit_report::MAX_ENTRIES => reports.push(report),
            Some(_) => tracing::error!(
                action = report.action,
                "a request does more than it can report: this is in the log only"
            ),
            None => {}
        }
    }

    fn take_journal(&self) -> Option<String> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.take()
    }

    fn close(&self) -> Vec<AuditReport> {
        let mut reports = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        reports.take().unwrap_or_default()
    }
}

/// Notes the newest entry of a cluster's journal: the next action that is recorded names it, so that the
/// sealed audit log holds the journal's chain (ADR 0025).
pub fn note_journal(caller: &Caller, sequence: i64, hash: &str) {
    let journal = &caller.reports().journal;
    let mut journal = journal.lock().unwrap_or_else(PoisonError::into_inner);
    *journal = Some(format!("{sequence}:{hash}"));
}

/// Maximum length of what an action was about, in characters.
const MAX_OBJECT_CHARS: usize = 300;

/// Writes the log line and adds the report.
pub fn record(caller: &Caller, action: &str, cluster: Uuid, object: &str, outcome: Outcome) {
    record_with(caller, action, cluster, object, outcome, None);
}

/// Does the same for an action that gives a subject rights in a namespace, or that adds a namespace
/// of a user.
pub fn record_with(
    caller: &Caller,
    action: &str,
    cluster: Uuid,
    object: &str,
    outcome: Outcome,
    candidate: Option<Candidate>,
) {
    let identity = caller.identity();
    // it may be what a user typed
    let object = shortened(object);
    tracing::info!(
        target: "audit",
        request_id = caller.request_id(),
        user_id = identity.user.id,
        user_name = identity.user.name,
        project_id = caller.project().map_or("", |project| project.id.as_str()),
        action,
        cluster_id = %cluster,
        object,
        outcome = outcome.word(),
    );
    caller.reports().push(AuditReport {
        action: action.to_owned(),
        cluster,
        object: object.to_owned(),
        outcome: outcome.reported(),
        candidate,
        journal: caller.reports().take_journal(),
    });
}

fn shortened(object: &str) -> &str {
    match object.char_indices().nth(MAX_OBJECT_CHARS) {
        Some((end, _)) => &object[..end],
        None => object,
    }
}

/// Adds a request's reports to its response.
pub async fn report(request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Caller>().cloned();
    let mut response = next.run(request).await;
    let reports = caller.map(|caller| caller.reports().close());
    let Some(reports) = reports.filter(|reports| !reports.is_empty()) else {
        return response;
    };
    let value = audit_report::encode(&reports)
        .map_err(|error| error.to_string())
        .and_then(|text| HeaderValue::try_from(text).map_err(|error| error.to_string()));
    match value {
        Ok(value) => {
            let name = HeaderName::from_static(audit_report::HEADER);
            response.headers_mut().insert(name, value);
        }
        Err(error) => tracing::error!(
            error,
            "an audit report cannot be sent: it is in the log only"
        ),
    }
    response
}

/// Returns the name of an object in the audit log.
pub fn target(object: &ObjectRef) -> String {
    object.audit_name()
}
