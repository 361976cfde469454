use jiff::{SignedDuration, Timestamp};
use portico_domain::identity::{Named, Project, User};
use portico_store::{ChildKind, NewChild, NewKeystoneToken, NewSession, Session, Store};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub fn minutes(minutes: i64) -> SignedDuration {
    SignedDuration::from_mins(minutes)
}

fn named(name: &str) -> Named {
    Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    }
}

pub fn roles(names: &[&str]) -> Vec<Named> {
    names.iter().map(|name| named(name)).collect()
}

pub fn project(name: &str) -> Project {
    Project {
        id: format!("{name}-id"),
        name: name.to_owned(),
        domain: named("Default"),
    }
}

/// A session from second 0 on: idle for an hour, at most half a day.
pub fn new_session(user: &str) -> NewSession {
    NewSession {
        user: User {
            id: format!("{user}-id"),
            name: user.to_owned(),
            domain: named("Default"),
        },
        projects: vec![project("acme"), project("globex")],
        last_project: None,
        auth_methods: vec!["password".to_owned()],
        user_agent: "Mozilla/5.0".to_owned(),
        address: "192.0.2.7".to_owned(),
        idle_expires_at: at(3600),
        absolute_expires_at: at(12 * 3600),
        keystone_expires_at: at(12 * 3600),
        authenticated_at: Some(at(0)),
    }
}

pub async fn signed_in(store: &Store, user: &str) -> (String, Session) {
    let (secret, session) = store
        .sessions()
        .create(&new_session(user), at(0))
        .await
        .unwrap();
    (secret.expose_secret().to_owned(), session)
}

pub fn new_child(parent: Uuid, kind: ChildKind) -> NewChild {
    NewChild {
        parent,
        kind,
        user_agent: "agent".to_owned(),
        address: "192.0.2.8".to_owned(),
    }
}

pub async fn on_app(store: &Store, parent: Uuid) -> (String, Session) {
    let child = new_child(parent, ChildKind::App("prometheus".to_owned()));
    let (secret, session) = store
        .sessions()
        .create_child(&child, at(1))
        .await
        .unwrap()
        .unwrap();
    (secret.expose_secret().to_owned(), session)
}

pub async fn on_command_line(store: &Store, parent: Uuid) -> Session {
    let child = new_child(parent, ChildKind::CommandLine("laptop".to_owned()));
    let (_, session) = store
        .sessions()
        .create_child(&child, at(1))
        .await
        .unwrap()
        .unwrap();
    session
}

pub fn new_token(session: Uuid, project_name: Option<&str>, token: &str) -> NewKeystoneToken {
    NewKeystoneToken {
        session,
        project: project_name.map(project),
        roles: roles(&["k8s_admin"]),
        token: SecretString::from(token),
        audit_id: "audit".to_owned(),
        expires_at: at(3600),
    }
}
