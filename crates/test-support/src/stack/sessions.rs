//! Sessions of a stack, and browsers that have their cookies.
use jiff::{SignedDuration, Timestamp};
use portico_domain::identity::{Named, Project, User};
use portico_store::{
    ChildKind, NewChild, NewKeystoneToken, NewSession, ProviderProfile, Session, SessionProvider,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{APP, APP_HOST, FIREFOX, MAIN, MAIN_HOST, Stack};
use crate::browser::Browser;

fn named(name: &str) -> Named {
    Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    }
}

impl Stack {
    /// Creates a session as sign-in does, with a token for the project: no request to Keystone is
    /// made.
    pub async fn session(&self, roles: &[&str]) -> (SecretString, Session) {
        self.session_of("u1", "ada", roles).await
    }

    /// Does the same for another user.
    pub async fn session_of(
        &self,
        id: &str,
        name: &str,
        roles: &[&str],
    ) -> (SecretString, Session) {
        let now = Timestamp::now();
        let in_hours = |hours| now + SignedDuration::from_hours(hours);
        let project = Project {
            id: "p1".to_owned(),
            name: "acme".to_owned(),
            domain: named("Default"),
        };
        let new = NewSession {
            user: User {
                id: id.to_owned(),
                name: name.to_owned(),
                domain: named("Default"),
            },
            projects: vec![project],
            last_project: None,
            auth_methods: vec!["password".to_owned()],
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
            idle_expires_at: in_hours(1),
            absolute_expires_at: in_hours(2),
            keystone_expires_at: in_hours(1),
            authenticated_at: Some(now),
        };
        let (secret, session) = self
            .store
            .sessions()
            .create(&new, now)
            .await
            .expect("session");
        self.project_token(&session, roles).await;
        (secret, session)
    }

    /// Gives a session the tokens of a sign-in: an unscoped one, and one for the project.
    pub async fn project_token(&self, session: &Session, roles: &[&str]) {
        let now = Timestamp::now();
        for project in [None, session.projects.first().cloned()] {
            let new = NewKeystoneToken {
                session: session.id,
                roles: match project {
                    Some(_) => roles.iter().map(|role| named(role)).collect(),
                    None => Vec::new(),
                },
                token: SecretString::from(match project {
                    Some(_) => "keystone-token-of-p1",
                    None => "unscoped-keystone-token",
                }),
                project,
                audit_id: "audit".to_owned(),
                expires_at: now + SignedDuration::from_hours(1),
            };
            let stored = self.store.keystone_tokens().store(&new, now).await;
            assert!(matches!(stored, Ok(portico_store::Stored::Usable(_))));
        }
    }

    /// Gives the family's command line a token of its own, as Keystone would at the first request.
    pub async fn token_of_the_command_line(&self, root: &Session, token: &str) {
        let now = Timestamp::now();
        let all = self.store.sessions().list_of_user("u1", now).await;
        let child = all
            .expect("sessions")
            .into_iter()
            .find(|session| session.parent == Some(root.id))
            .expect("a command line");
        self.own_token(&child, token).await;
    }

    /// Gives a child a token of its own for the project, as Keystone would at the first request.
    pub async fn own_token(&self, child: &Session, token: &str) {
        let now = Timestamp::now();
        let new = NewKeystoneToken {
            session: child.id,
            project: child.projects.first().cloned(),
            roles: Vec::new(),
            token: SecretString::from(token),
            audit_id: "audit".to_owned(),
            expires_at: now + SignedDuration::from_hours(1),
        };
        let stored = self.store.keystone_tokens().store(&new, now).await;
        assert!(matches!(stored, Ok(portico_store::Stored::Usable(_))));
    }

    /// Returns a browser that has opened the app with this session.
    pub async fn at_app(&self, root: &Session) -> (Browser, Session) {
        let child = NewChild {
            parent: root.id,
            kind: ChildKind::App("prometheus".to_owned()),
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
        };
        let created = self.store.sessions().create_child(&child, Timestamp::now());
        let (secret, session) = created.await.expect("store").expect("a live parent");
        let mut browser = Browser::new(self.address);
        browser.set_cookie(APP_HOST, "portico", secret.expose_secret());
        (browser, session)
    }

    /// Creates a session of a user of the provider `corp`, with these groups and without Keystone.
    pub async fn session_of_provider(&self, name: &str, groups: &[&str]) -> Session {
        let (_, like) = self.session_of("u9", name, &[]).await;
        let provider = SessionProvider {
            id: "corp".to_owned(),
            subject: name.to_owned(),
            sid: None,
            profile: ProviderProfile {
                email: Some(format!("{name}@corp.example")),
                email_verified: name != "mallory",
                display_name: Some(format!("{name} of Corp")),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                roles: Vec::new(),
                keystone: false,
            },
            expires_at: None,
        };
        let new = NewSession {
            projects: Vec::new(),
            ..self.new_session(&like)
        };
        let sessions = self.store.sessions();
        let created = sessions.create_of_provider(&new, provider, Timestamp::now());
        created.await.expect("session").1
    }

    /// Creates an expired session that has not been deleted yet.
    pub async fn expired_session(&self) -> SecretString {
        let past = Timestamp::now() - SignedDuration::from_secs(1);
        let (_, session) = self.session(&[]).await;
        let new = NewSession {
            idle_expires_at: past,
            ..self.new_session(&session)
        };
        let created = self.store.sessions().create(&new, past).await;
        created.expect("session").0
    }

    /// Returns the data for another session like this one.
    pub fn new_session(&self, session: &Session) -> NewSession {
        NewSession {
            user: session.user.clone(),
            projects: session.projects.clone(),
            last_project: session.last_project.clone(),
            auth_methods: session.auth_methods.clone(),
            user_agent: session.user_agent.clone(),
            address: session.address.clone(),
            idle_expires_at: session.idle_expires_at,
            absolute_expires_at: session.absolute_expires_at,
            keystone_expires_at: session.keystone_expires_at,
            authenticated_at: session.authenticated_at,
        }
    }

    /// Returns a browser that has a cookie of this session on the app's host, as the hand-over
    /// leaves it.
    pub async fn on_the_app(&self, session: &Session) -> Browser {
        let new = NewChild {
            parent: session.id,
            kind: ChildKind::App("prometheus".to_owned()),
            user_agent: FIREFOX.to_owned(),
            address: "192.0.2.7".to_owned(),
        };
        let created = self.store.sessions().create_child(&new, Timestamp::now());
        let (secret, _) = created.await.expect("stored").expect("live");
        let mut browser = Browser::new(self.address);
        browser.set_cookie(APP_HOST, "portico", secret.expose_secret());
        browser
    }

    /// Returns a browser that has the cookie of another user's session.
    pub async fn signed_in_as(&self, id: &str, name: &str, roles: &[&str]) -> (Browser, Session) {
        let (secret, session) = self.session_of(id, name, roles).await;
        let mut browser = Browser::new(self.address);
        browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
        (browser, session)
    }

    /// Returns a browser that has been let into the app on its own host.
    pub async fn in_app(&self) -> Browser {
        let (mut browser, _) = self.signed_in(&["k8s_admin"]).await;
        let form = browser.follow(APP).await;
        let code = form.field("code");
        let url = format!("{APP}/oauth2/handover");
        let page = browser.submit(MAIN, &url, &[("code", &code)]).await;
        assert_eq!(page.status, http::StatusCode::SEE_OTHER, "{}", page.body);
        browser
    }

    /// Returns a browser that has this session's cookie.
    pub async fn signed_in(&self, roles: &[&str]) -> (Browser, Session) {
        let (secret, session) = self.session(roles).await;
        let mut browser = Browser::new(self.address);
        browser.set_cookie(MAIN_HOST, "portico", secret.expose_secret());
        (browser, session)
    }
}
