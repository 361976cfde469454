//! Who did what at the gateway, in the log (target `audit`) and in the store.
use jiff::Timestamp;
use portico_domain::identity::User;
use portico_store::{NewAuditEvent, Outcome, Session};
use serde_json::{Value, json};

use crate::{
    access::client_address::ClientAddress,
    state::{Context, Gateway},
};

/// One thing that happened.
pub(crate) struct Event<'a> {
    pub action: &'static str,
    pub outcome: Outcome,
    pub session: Option<&'a Session>,
    /// The name that somebody tried, where there is no session.
    pub name: Option<&'a str>,
    pub project: Option<&'a str>,
    pub target: &'a str,
    /// Why, in a few words.
    pub reason: &'a str,
    /// Whom it concerns, where that is somebody else than who did it.
    pub subject: Option<&'a User>,
}

impl<'a> Event<'a> {
    pub fn new(action: &'static str, outcome: Outcome) -> Self {
        Self {
            action,
            outcome,
            session: None,
            name: None,
            project: None,
            target: "",
            reason: "",
            subject: None,
        }
    }

    pub fn session(mut self, session: &'a Session) -> Self {
        self.session = Some(session);
        self
    }

    pub fn name(mut self, name: &'a str) -> Self {
        self.name = Some(name);
        self
    }

    pub fn project(mut self, project: Option<&'a str>) -> Self {
        self.project = project;
        self
    }

    pub fn target(mut self, target: &'a str) -> Self {
        self.target = target;
        self
    }

    pub fn subject(mut self, subject: Option<&'a User>) -> Self {
        self.subject = subject;
        self
    }

    pub fn reason(mut self, reason: &'a str) -> Self {
        self.reason = reason;
        self
    }
}

impl Gateway {
    /// Records an event. A store that cannot take it is an error in the log: what happened has
    /// happened.
    pub async fn audit(&self, context: &Context, event: Event<'_>) {
        let user = event
            .session
            .map(|session| session.user.name.as_str())
            .or(event.name)
            .unwrap_or_default();
        let address = context.address_text();
        tracing::info!(
            target: "audit",
            action = event.action,
            outcome = event.outcome.as_str(),
            user,
            session = event.session.map(|session| tracing::field::display(session.id)),
            project = event.project,
            object = event.target,
            reason = event.reason,
            subject = event.subject.map(|user| user.id.as_str()),
            address,
            "{}", event.action
        );
        let mut detail = json!({ "address": address });
        if !event.reason.is_empty() {
            detail["reason"] = json!(event.reason);
        }
        if let Some(user) = event.subject {
            detail["subject"] =
                json!({ "id": user.id, "name": user.name, "domain": user.domain.name });
        }
        let row = NewAuditEvent {
            request_id: context.request_id,
            session: event.session.map(|session| session.id),
            user_id: event.session.map(|session| session.user.id.clone()),
            user_name: (!user.is_empty()).then(|| user.chars().take(255).collect()),
            project_id: event.project.map(str::to_owned),
            action: event.action.to_owned(),
            target: event.target.to_owned(),
            outcome: event.outcome,
            detail: match context.client {
                ClientAddress::Known(_) | ClientAddress::Unknown => detail,
                ClientAddress::Internal => Value::Null,
            },
        };
        if let Err(error) = self.store.audit().append(&row, Timestamp::now()).await {
            tracing::error!(%error, action = event.action, "the audit log could not be written");
        }
    }
}
