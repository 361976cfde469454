//! A session in memory: its tokens, its open connections, and the state of its validation.
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use jiff::Timestamp;
use parking_lot::Mutex;
use portico_assertion::SealedClusterToken;
use portico_domain::identity::{Identity, Named, Project};
use portico_proxy::stream::connections::Connections;
use portico_store::{KeystoneToken, Session};
use secrecy::SecretString;
use tokio::time::Instant;
use uuid::Uuid;

use super::{assertion::SignedCache, provider_refresh::Refreshing};

/// A Keystone token of the session, scoped to one project.
#[derive(Clone, Debug)]
pub(crate) struct ProjectToken {
    pub id: Uuid,
    pub token: SecretString,
    pub project: Project,
    pub roles: Vec<Named>,
    pub expires_at: Timestamp,
}

/// A browser session with everything that depends on it: one per root, shared by its children.
#[derive(Debug)]
pub(crate) struct Live {
    root: Mutex<Arc<Session>>,
    pub id: Uuid,
    pub connections: Connections,
    pub projects: Mutex<foldhash::HashMap<String, Arc<ProjectToken>>>,
    /// Projects that Keystone has refused a token for, and when.
    pub refused: Mutex<HashMap<String, Instant>>,
    pub signed: Mutex<SignedCache>,
    pub cluster_tokens: Mutex<HashMap<ClusterTokenKey, SealedClusterToken>>,
    /// Held while a token is being issued: waiting requests find it in `projects`.
    pub issuing: tokio::sync::Mutex<()>,
    /// Held while the session is being validated at Keystone.
    pub validating: tokio::sync::Mutex<()>,
    /// The refresh of the provider's tokens that is in progress.
    pub refreshing: Refreshing,
    stale: AtomicBool,
    last_used: AtomicI64,
    last_touched: AtomicI64,
    /// When a federated token was last requested.
    last_federated: AtomicI64,
}

/// The cache key of a cluster token: each command line has its own, so that its sign-out ends them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClusterTokenKey {
    pub session: Uuid,
    pub cluster: Uuid,
    pub project: String,
}

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The session of the cookie or bearer: the root itself or a child.
    pub session: Arc<Session>,
    pub live: Arc<Live>,
}

impl Live {
    pub fn new(root: Arc<Session>) -> Self {
        Self {
            id: root.id,
            last_touched: AtomicI64::new(root.last_seen_at.as_second()),
            last_used: AtomicI64::new(root.last_seen_at.as_second()),
            last_federated: AtomicI64::new(0),
            root: Mutex::new(root),
            connections: Connections::default(),
            projects: Mutex::default(),
            refused: Mutex::default(),
            signed: Mutex::default(),
            cluster_tokens: Mutex::default(),
            issuing: tokio::sync::Mutex::default(),
            validating: tokio::sync::Mutex::default(),
            refreshing: Refreshing::default(),
            stale: AtomicBool::new(false),
        }
    }

    /// Returns the root's row as last read.
    pub fn root(&self) -> Arc<Session> {
        Arc::clone(&self.root.lock())
    }

    /// Replaces the root's row; signatures made with other content are dropped.
    pub fn set_root(&self, root: Arc<Session>) {
        let mut current = self.root.lock();
        let changed = current.projects != root.projects
            || current.last_project != root.last_project
            || current.keystone_expires_at != root.keystone_expires_at
            || current.provider != root.provider;
        let replaced = current.keystone_expires_at != root.keystone_expires_at;
        let rights = |session: &Session| {
            let profile = session.provider.as_ref().map(|provider| &provider.profile);
            profile.map(|profile| (profile.groups.clone(), profile.roles.clone()))
        };
        let other_rights = rights(&current) != rights(&root);
        *current = root;
        drop(current);
        if replaced {
            // new tokens have replaced them, perhaps by another replica
            self.forget_tokens();
        }
        if changed {
            self.signed.lock().clear();
        }
        if other_rights {
            // streams that were opened with groups that the user no longer has must reconnect
            self.connections.renew();
        }
    }

    /// Drops every token, after new ones have replaced them.
    pub fn forget_tokens(&self) {
        self.projects.lock().clear();
        self.refused.lock().clear();
        self.signed.lock().clear();
        self.cluster_tokens.lock().clear();
    }

    pub fn project(&self, id: &str) -> Option<Project> {
        let root = self.root();
        root.projects.iter().find(|p| p.id == id).cloned()
    }

    /// Returns the project that the user works in by default: the last used one that still
    /// exists for them, else the first.
    pub fn home_project(&self) -> Option<Project> {
        let root = self.root();
        let last = root.last_project.as_deref();
        root.projects
            .iter()
            .find(|project| Some(project.id.as_str()) == last)
            .or_else(|| root.projects.first())
            .cloned()
    }

    pub fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    pub fn set_stale(&self, stale: bool) {
        if self.stale.swap(stale, Ordering::Relaxed) != stale {
            self.signed.lock().clear();
        }
    }

    /// Records that a request has just used the session.
    pub fn used(&self, now: Timestamp) {
        self.last_used.store(now.as_second(), Ordering::Relaxed);
    }

    /// Returns whether the session is in use: by a request in the last minute, or an open
    /// connection.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.connections.count() > 0
            || now.as_second() - self.last_used.load(Ordering::Relaxed) < 60
    }

    /// Returns whether no federated token was requested in the last `pause` seconds.
    pub fn may_federate(&self, now: Timestamp, pause: i64) -> bool {
        now.as_second() - self.last_federated.load(Ordering::Relaxed) >= pause
    }

    /// Records that a federated token is being requested.
    pub fn federated(&self, now: Timestamp) {
        self.last_federated
            .store(now.as_second(), Ordering::Relaxed);
    }

    /// Returns whether the use of the session is due to be stored; true once per interval.
    pub fn touch_is_due(&self, now: Timestamp, interval: i64) -> bool {
        let last = self.last_touched.load(Ordering::Relaxed);
        now.as_second() - last >= interval
            && self
                .last_touched
                .compare_exchange(last, now.as_second(), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

impl ProjectToken {
    /// Returns a stored token; `None` for one without a project.
    pub fn of(stored: KeystoneToken) -> Option<Self> {
        Some(Self {
            id: stored.id,
            token: stored.token,
            project: stored.project?,
            roles: stored.roles,
            expires_at: stored.expires_at,
        })
    }

    /// Returns the session's user with the roles of this token.
    pub fn identity(&self, session: &Session) -> Identity {
        Identity {
            user: session.user.clone(),
            project: Some(self.project.clone()),
            roles: self.roles.clone(),
        }
    }
}
