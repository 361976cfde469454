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
        if let Some(reports) = reports.as_mut() {
            reports.push(report);
        }
    }

    fn take_journal(&self) -> Option<String> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.take()
    }

    fn close(&self) -> Vec<AuditReport> {
        let mut reports = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        fitted(reports.take().unwrap_or_default())
    }
}

/// Returns the reports as they fit into one response: the first ones and the last one, which is the request
/// itself, as they are, and one that counts those between.
fn fitted(mut reports: Vec<AuditReport>) -> Vec<AuditReport> {
    if reports.len() <= audit_report::MAX_ENTRIES {
        return reports;
    }
    let last = reports.pop();
    let between = reports.split_off(audit_report::MAX_ENTRIES - 2);
    reports.extend(summary(&between));
    reports.extend(last);
    reports
}

/// Returns one report that counts several; `None` for none. Its outcome is the worst of theirs.
fn summary(reports: &[AuditReport]) -> Option<AuditReport> {
    let first = reports.first()?;
    let count =
        |outcome: ReportedOutcome| reports.iter().filter(|one| one.outcome == outcome).count();
    let succeeded = count(ReportedOutcome::Succeeded);
    let denied = count(ReportedOutcome::Denied);
    let failed = count(ReportedOutcome::Failed);
    let outcome = match (denied, failed) {
        (0, 0) => ReportedOutcome::Succeeded,
        (_, 0) => ReportedOutcome::Denied,
        _ => ReportedOutcome::Failed,
    };
    let is_one_action = reports.iter().all(|one| one.action == first.action);
    let action = if is_one_action {
        first.action.clone()
    } else {
        "several".to_owned()
    };
    Some(AuditReport {
        action,
        cluster: first.cluster,
        object: format!(
            "and {} more: {succeeded} succeeded, {denied} denied, {failed} failed",
            reports.len()
        ),
        outcome,
        candidate: None,
        journal: reports.iter().rev().find_map(|one| one.journal.clone()),
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn deletion(number: usize, outcome: ReportedOutcome) -> AuditReport {
        AuditReport {
            action: "delete".to_owned(),
            cluster: Uuid::from_u128(7),
            object: format!("shop/services/s{number}"),
            outcome,
            candidate: None,
            journal: None,
        }
    }

    #[test]
    fn reports_beyond_the_maximum_are_counted_before_the_last_one() {
        let deletions = |count| -> Vec<_> {
            (1..=count)
                .map(|number| deletion(number, ReportedOutcome::Succeeded))
                .collect()
        };
        let all = deletions(audit_report::MAX_ENTRIES);
        assert_eq!(fitted(all.clone()), all);

        let mut all = deletions(500);
        all[300].outcome = ReportedOutcome::Denied;
        all[400].journal = Some("17:7f3a".to_owned());
        let request = AuditReport {
            action: "delete_cluster".to_owned(),
            ..deletion(0, ReportedOutcome::Succeeded)
        };
        all.push(request.clone());
        let sent = fitted(all.clone());
        assert_eq!(sent.len(), audit_report::MAX_ENTRIES);
        assert_eq!(sent[..30], all[..30]);
        assert_eq!(sent[31], request);
        let counted = &sent[30];
        assert_eq!(
            counted.object,
            "and 470 more: 469 succeeded, 1 denied, 0 failed"
        );
        assert_eq!(counted.action, "delete");
        assert_eq!(counted.outcome, ReportedOutcome::Denied);
        assert_eq!(counted.journal.as_deref(), Some("17:7f3a"));
        assert!(audit_report::encode(&sent).is_ok());

        all[100].action = "uncordon".to_owned();
        assert_eq!(fitted(all)[30].action, "several");
    }
}
