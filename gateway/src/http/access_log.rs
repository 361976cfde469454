//! Writes the access log: one entry for each decision, under the log target `portico::access`.
//!
//! An entry holds who sent the request, what was requested, the decision and the rule behind it. It
//! never holds a query, a cookie, a token, a code or a form value: what is not in
//! [`AccessLogEntry`] cannot get into it. Handlers record what they find out on the way (the
//! caller, the matching rule) with [`caller`] and [`rule`].
use std::{borrow::Cow, cell::RefCell, sync::Arc, time::Duration};

use http::{HeaderValue, Method, Request, StatusCode, Uri};
use portico_request::client_address::ClientAddress;
use portico_store::Session;
use tokio::time::Instant;
use uuid::Uuid;

use super::error_response::{Problem, Source};
use crate::{metrics, request_context::Context, sessions::live::Caller};

/// The log target of the entries, for `log.level`.
const TARGET: &str = "portico::access";
const MAX_PATH_BYTES: usize = 512;
const MAX_HOST_BYTES: usize = 255;

tokio::task_local! {
    // boxed: each poll of a request moves what is here in and out
    static NOTES: RefCell<Box<Notes>>;
}

/// What handlers record while a request is handled.
#[derive(Clone, Debug, Default)]
struct Notes {
    request_id: Option<Uuid>,
    who: Option<Who>,
    rule: Option<RuleName>,
    asked: Option<String>,
    refused: bool,
    /// The app's rule that refuses the request, whatever the error code of the response.
    refused_by: Option<Arc<str>>,
    passed_on: bool,
}

/// The caller of a request.
#[derive(Clone, Debug)]
enum Who {
    /// A session, which is in memory anyway.
    Caller(Arc<Session>),
    /// A session that has just been established.
    Named { user: String, session: Uuid },
}

impl Notes {
    fn user(&self) -> Option<&str> {
        self.who.as_ref().map(|who| match who {
            Who::Caller(session) => session.user.id.as_str(),
            Who::Named { user, .. } => user,
        })
    }

    fn session(&self) -> Option<Uuid> {
        self.who.as_ref().map(|who| match who {
            Who::Caller(session) => session.id,
            Who::Named { session, .. } => *session,
        })
    }
}

/// The name of a rule in the log: a constant of the gateway, or a name from the configuration,
/// which is shared.
#[derive(Clone, Debug)]
pub(crate) enum RuleName {
    Ours(&'static str),
    Shared(Arc<str>),
}

impl RuleName {
    fn as_str(&self) -> &str {
        match self {
            Self::Ours(name) => name,
            Self::Shared(name) => name,
        }
    }
}

impl From<&'static str> for RuleName {
    fn from(name: &'static str) -> Self {
        Self::Ours(name)
    }
}

impl From<Arc<str>> for RuleName {
    fn from(name: Arc<str>) -> Self {
        Self::Shared(name)
    }
}

impl From<String> for RuleName {
    fn from(name: String) -> Self {
        Self::Shared(name.into())
    }
}

/// What was decided about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The request was forwarded to its upstream, or one of Portico's own pages did what was asked.
    Allowed,
    /// The browser is redirected first: to sign-in, or to an app's host.
    Redirected,
    /// The request was refused.
    Refused,
    /// The request may be permitted, but an upstream, Keystone, the store or Portico itself failed.
    Failed,
    /// The client disconnected before the response; an upstream may have acted on the request.
    Abandoned,
}

impl Decision {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Redirected => "redirected",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    fn of(status: StatusCode, problem: Option<Source>, notes: &Notes) -> Self {
        match problem {
            Some(Source::Downstream) => Self::Refused,
            Some(Source::Upstream | Source::Internal) => Self::Failed,
            None if notes.refused => Self::Refused,
            // the status of an upstream's own response is not a decision of the gateway
            None if notes.passed_on => Self::Allowed,
            None if status.is_redirection() => Self::Redirected,
            None if status.is_client_error() => Self::Refused,
            None if status.is_server_error() => Self::Failed,
            None => Self::Allowed,
        }
    }
}

/// What is known of a request on arrival. It is formatted only when the entry is written.
#[derive(Debug)]
pub(crate) struct AccessLogEntry {
    request_id: Option<Uuid>,
    client: ClientAddress,
    method: Method,
    host: Option<HeaderValue>,
    uri: Uri,
}

impl AccessLogEntry {
    /// Returns the entry of a request with this `Host` header.
    pub fn of<B>(context: &Context, request: &Request<B>, host: Option<&HeaderValue>) -> Self {
        Self {
            request_id: context.request_id,
            client: context.client,
            method: request.method().clone(),
            host: host.cloned(),
            uri: request.uri().clone(),
        }
    }

    /// Handles the request with a place to record notes, and writes the log entry afterwards.
    pub async fn written_after<F, T>(
        self,
        route: &str,
        started: Instant,
        handle: F,
    ) -> (Decision, T)
    where
        F: Future<Output = (StatusCode, Option<(&'static str, Source)>, Duration, T)>,
    {
        let notes = Box::new(Notes {
            request_id: self.request_id,
            ..Notes::default()
        });
        let scope = NOTES.scope(RefCell::new(notes), async {
            let mut unanswered = Unanswered {
                line: &self,
                route,
                started,
                answered: false,
            };
            let (status, problem, took, answer) = handle.await;
            unanswered.answered = true;
            let decision =
                NOTES.with(|notes| self.decided(route, status, problem, took, &notes.borrow()));
            (decision, answer)
        });
        scope.await
    }

    /// Writes the entry of a request that has a response; returns the decision about it.
    fn decided(
        &self,
        route: &str,
        status: StatusCode,
        problem: Option<(&'static str, Source)>,
        took: Duration,
        notes: &Notes,
    ) -> Decision {
        let decision = Decision::of(status, problem.map(|(_, source)| source), notes);
        let rule = match (&notes.refused_by, problem) {
            (Some(rule), _) => rule,
            (None, Some((code, _))) => code,
            (None, None) => notes.rule.as_ref().map_or("public", RuleName::as_str),
        };
        self.write(route, decision, rule, Some(status), took, notes);
        decision
    }

    fn write(
        &self,
        route: &str,
        decision: Decision,
        rule: &str,
        status: Option<StatusCode>,
        took: Duration,
        notes: &Notes,
    ) {
        let (mut request_id, mut session) = (Uuid::encode_buffer(), Uuid::encode_buffer());
        let request_id = self
            .request_id
            .map_or("", |id| written(id, &mut request_id));
        let session = notes.session().map(|id| written(id, &mut session));
        let client = self.client.text();
        macro_rules! line {
            ($level:expr) => {
                // the request's span would repeat the same fields
                tracing::event!(
                    target: TARGET,
                    parent: None,
                    $level,
                    message = decision.as_str(),
                    request_id,
                    client,
                    method = self.method.as_str(),
                    host = &*host(&self.uri, self.host.as_ref()),
                    path = &*path(&self.uri),
                    route,
                    decision = decision.as_str(),
                    rule,
                    user_id = notes.user(),
                    session_id = session,
                    asked = notes.asked,
                    status = status.map(|status| status.as_u16()),
                    duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
                )
            };
        }
        if decision == Decision::Allowed && is_chatter(self.uri.path()) {
            line!(tracing::Level::DEBUG);
        } else {
            line!(tracing::Level::INFO);
        }
    }
}

/// A request that is being handled. If it is dropped before the response, it still writes the
/// entry, so that a client cannot avoid the log by disconnecting early.
struct Unanswered<'l> {
    line: &'l AccessLogEntry,
    route: &'l str,
    started: Instant,
    answered: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let notes = NOTES.try_with(|notes| notes.borrow().clone());
        let notes = notes.unwrap_or_default();
        let rule = notes.rule.as_ref().map_or("public", RuleName::as_str);
        let (decision, took) = (Decision::Abandoned, self.started.elapsed());
        self.line
            .write(self.route, decision, rule, None, took, &notes);
        metrics::abandoned(self.route, decision.as_str());
    }
}

/// Returns the ID of the request that is being handled; empty without one.
pub(crate) fn request_id() -> String {
    let id = NOTES.try_with(|notes| notes.borrow().request_id);
    id.ok()
        .flatten()
        .map(|id| id.to_string())
        .unwrap_or_default()
}

/// Records the caller of the request.
pub(crate) fn caller(caller: &Caller) {
    note(|notes| notes.who = Some(Who::Caller(Arc::clone(&caller.session))));
    rule_unless_known("session");
}

/// Records the session that the request belongs to, or that it has just established.
pub(crate) fn session(session: &Session) {
    note(|notes| {
        notes.who = Some(Who::Named {
            user: session.user.id.clone(),
            session: session.id,
        });
    });
}

/// Records the rule that permits the request.
pub(crate) fn rule(rule: impl Into<RuleName>) {
    note(|notes| notes.rule = Some(rule.into()));
}

/// Records the request that another proxy asks about and holds back until it gets the answer.
pub(crate) fn asked(method: &Method, origin: &str, path: &str) {
    let path = shortened(path, MAX_PATH_BYTES);
    note(|notes| notes.asked = Some(format!("{method} {origin}{path}")));
}

/// Records why a request is refused by a response that is not a [`Problem`].
pub(crate) fn refused(code: &'static str) {
    note(|notes| {
        notes.rule = Some(code.into());
        notes.refused = true;
    });
}

/// Records the app's rule that refuses a request.
pub(crate) fn refused_by(rule: Arc<str>) {
    note(|notes| {
        notes.refused = true;
        notes.refused_by = Some(rule);
    });
}

/// Records that the request was forwarded to its upstream.
pub(crate) fn passed_on() {
    note(|notes| notes.passed_on = true);
}

/// Returns the parts of a problem that go into the entry.
pub(crate) fn of_problem(problem: &Problem) -> (&'static str, Source) {
    (problem.code, problem.source)
}

fn rule_unless_known(rule: &'static str) {
    note(|notes| {
        notes.rule.get_or_insert(RuleName::Ours(rule));
    });
}

/// Work that the gateway does without a request has no log entry, so notes on it are dropped.
fn note(write: impl FnOnce(&mut Notes)) {
    let _ = NOTES.try_with(|notes| write(&mut notes.borrow_mut()));
}

/// Returns the path without the query, which may hold codes and user input.
fn path(uri: &Uri) -> Cow<'_, str> {
    shortened(uri.path(), MAX_PATH_BYTES)
}

/// Returns the host of the request, without the user information that a URL may hold before it.
fn host<'r>(uri: &'r Uri, host: Option<&'r HeaderValue>) -> Cow<'r, str> {
    let named = host
        .and_then(|value| value.to_str().ok())
        .or_else(|| uri.authority().map(http::uri::Authority::as_str))
        .unwrap_or_default();
    let user_information = named.rfind('@');
    let from = user_information.map_or(0, |end| end + 1);
    shortened(named.get(from..).unwrap_or_default(), MAX_HOST_BYTES)
}

fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.len() <= max_chars {
        return text.into();
    }
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

fn written(id: Uuid, buffer: &mut [u8]) -> &str {
    id.hyphenated().encode_lower(buffer)
}

/// Returns whether the path is requested constantly and of no interest in the log: static files and
/// probes.
fn is_chatter(path: &str) -> bool {
    path.starts_with("/oauth2/static/")
        || path.starts_with("/pkg/")
        || matches!(
            path,
            "/ping" | "/ready" | "/favicon.svg" | "/favicon.ico" | "/robots.txt"
        )
}

#[cfg(test)]
mod tests;
