//! Records the audit events of the panel, which has no store of its own.
//!
//! The panel reports them in a response header ([`portico_assertion::audit_report`]), which is read
//! from the panel's responses only. A request that may change something is completed even if the
//! client disconnects meanwhile, so that disconnecting hides nothing.
use std::{panic::resume_unwind, sync::Arc};

use axum::{body::Body, response::Response};
use http::{HeaderMap, Request};
use portico_assertion::audit_report::{self, AuditReport, ReportedOutcome};
use portico_proxy::{
    forward::{Added, ForwardError},
    headers::Trust,
    stream::{connections::Connection, upgrade},
};
use portico_runtime::request_id;
use portico_store::{Outcome, Session};
use tracing::Instrument as _;

use super::ReverseProxy;
use crate::{audit::Event, request_context::Context};

/// The user for whom a request goes to the panel.
#[derive(Clone)]
pub(super) struct OnBehalf {
    pub session: Arc<Session>,
    /// The project of the URL, if the user has a role in it.
    pub project: Option<String>,
}

impl ReverseProxy {
    /// Forwards a request to the panel and records the audit events that it reports.
    pub(super) async fn forward_to_panel(
        &self,
        context: &Context,
        request: Request<Body>,
        added: Added,
        connection: Connection,
        on_behalf: OnBehalf,
    ) -> Result<Response, ForwardError> {
        let Some(reverse_proxy) = self.me.upgrade() else {
            // the process is stopping
            return Err(ForwardError::SessionEnded);
        };
        let may_change = !request.method().is_safe() || upgrade::asked(&request);
        let work = forward(
            reverse_proxy,
            context.clone(),
            request,
            added,
            connection,
            on_behalf,
        );
        if !may_change {
            return work.await;
        }
        let work = request_id::in_current_request(work.in_current_span());
        let task = self.changes.spawn(work);
        match task.await {
            Ok(result) => result,
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Err(_) => Err(ForwardError::SessionEnded),
        }
    }
}

async fn forward(
    reverse_proxy: Arc<ReverseProxy>,
    context: Context,
    request: Request<Body>,
    added: Added,
    connection: Connection,
    on_behalf: OnBehalf,
) -> Result<Response, ForwardError> {
    let may_change = !request.method().is_safe();
    let path = request.uri().path().to_owned();
    let mut reports = Vec::new();
    let result = reverse_proxy
        .forwarder
        .forward(
            request,
            &reverse_proxy.panel,
            Trust::Panel,
            added,
            connection,
            |headers| reports = read(headers),
        )
        .await;
    for report in &reports {
        let action = format!("panel.{}", report.action);
        let outcome = match report.outcome {
            ReportedOutcome::Succeeded => Outcome::Succeeded,
            ReportedOutcome::Denied => Outcome::Denied,
            ReportedOutcome::Failed => Outcome::Failed,
        };
        let event = Event::new(action, outcome)
            .session(&on_behalf.session)
            .project(on_behalf.project.as_deref())
            .cluster(report.cluster)
            .target(&report.object)
            .journal(report.journal.as_deref());
        reverse_proxy.audit.record(&context, event).await;
        if let (Outcome::Succeeded, Some(candidate)) = (outcome, &report.candidate) {
            let candidates = &reverse_proxy.namespace_candidates;
            candidates.add(report.cluster, candidate).await;
        }
    }
    if let Err(error) = &result
        && may_change
    {
        // the panel may have done it: see the API server's audit log
        let reason = format!("no answer from the panel: {error}");
        let event = Event::new("panel.request", Outcome::Failed)
            .session(&on_behalf.session)
            .project(on_behalf.project.as_deref())
            .target(&path)
            .reason(&reason);
        reverse_proxy.audit.record(&context, event).await;
    }
    result
}

fn read(headers: &HeaderMap) -> Vec<AuditReport> {
    let mut all = Vec::new();
    for value in headers.get_all(audit_report::HEADER) {
        match audit_report::decode(value.as_bytes()) {
            Ok(reports) => all.extend(reports),
            Err(error) => tracing::error!(%error, "an audit report of the panel cannot be read"),
        }
    }
    all
}
