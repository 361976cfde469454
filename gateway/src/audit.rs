//! Records audit events of the gateway, in the log (target `audit`) and in the store.
use std::borrow::Cow;

use portico_clock::Clock;
use portico_domain::identity::User;
use portico_store::{NewAuditEvent, Outcome, Session, Store};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::request_context::Context;

/// An audit event.
pub(crate) struct Event<'a> {
    pub action: Cow<'a, str>,
    pub outcome: Outcome,
    pub session: Option<&'a Session>,
    /// The user name that was entered, where there is no session.
    pub name: Option<&'a str>,
    /// The domain of that name.
    pub domain: Option<&'a str>,
    /// The provider that the sign-in used.
    pub provider: Option<&'a str>,
    pub project: Option<&'a str>,
    pub cluster: Option<Uuid>,
    pub target: &'a str,
    /// The reason, in a few words.
    pub reason: &'a str,
    /// The user affected, where that is not the acting user.
    pub subject: Option<&'a User>,
    /// The newest entry of the cluster's journal.
    pub journal: Option<&'a str>,
}

impl<'a> Event<'a> {
    pub fn new(action: impl Into<Cow<'a, str>>, outcome: Outcome) -> Self {
        Self {
            action: action.into(),
            outcome,
            session: None,
            name: None,
            domain: None,
            provider: None,
            project: None,
            cluster: None,
            target: "",
            reason: "",
            subject: None,
            journal: None,
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

    pub fn domain(mut self, domain: &'a str) -> Self {
        self.domain = Some(domain);
        self
    }

    pub fn provider(mut self, provider: &'a str) -> Self {
        self.provider = Some(provider);
        self
    }

    pub fn cluster(mut self, cluster: Uuid) -> Self {
        self.cluster = Some(cluster);
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

    pub fn journal(mut self, journal: Option<&'a str>) -> Self {
        self.journal = journal;
        self
    }

    pub fn reason(mut self, reason: &'a str) -> Self {
        self.reason = reason;
        self
    }
}

/// Records audit events in the log and in the store.
#[derive(Clone, Debug)]
pub(crate) struct AuditLog {
    store: Store,
    clock: Clock,
}

impl AuditLog {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// Records an event. If the store cannot take it, the error is logged and counted; the action
    /// itself has already happened.
    pub async fn record(&self, context: &Context, event: Event<'_>) {
        let user = event
            .session
            .map(|session| session.user.name.as_str())
            .or(event.name)
            .unwrap_or_default();
        let address = context.address_text();
        tracing::info!(
            target: "audit",
            request_id = context.request_id.map(tracing::field::display),
            action = &*event.action,
            outcome = event.outcome.as_str(),
            user_id = event.session.map(|session| session.user.id.as_str()),
            user_name = user,
            session_id = event.session.map(|session| tracing::field::display(session.id)),
            domain = event.domain,
            provider = event.provider,
            project_id = event.project,
            cluster_id = event.cluster.map(tracing::field::display),
            object = event.target,
            reason = event.reason,
            subject_id = event.subject.map(|user| user.id.as_str()),
            client = address,
            "{}", event.action
        );
        let mut detail = Map::new();
        for (name, value) in [
            ("address", Some(address.as_str())),
            ("reason", Some(event.reason)),
            ("domain", event.domain),
            ("provider", event.provider),
            ("journal", event.journal),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                detail.insert(name.to_owned(), json!(value));
            }
        }
        if let Some(user) = event.subject {
            let subject = json!({ "id": user.id, "name": user.name, "domain": user.domain.name });
            detail.insert("subject".to_owned(), subject);
        }
        let row = NewAuditEvent {
            request_id: context.request_id,
            session: event.session.map(|session| session.id),
            user_id: event.session.map(|session| session.user.id.clone()),
            user_name: (!user.is_empty()).then(|| user.chars().take(255).collect()),
            project_id: event.project.map(str::to_owned),
            cluster_id: event.cluster.map(|id| id.to_string()),
            action: event.action.clone().into_owned(),
            target: event.target.to_owned(),
            outcome: event.outcome,
            // the gateway's own actions have no address, but may have a reason
            detail: if detail.is_empty() {
                Value::Null
            } else {
                Value::Object(detail)
            },
        };
        if let Err(error) = self.store.audit().append(&row, self.clock.now()).await {
            tracing::error!(%error, action = &*event.action, "the audit log could not be written");
        }
    }
}
