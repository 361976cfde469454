//! From a cookie to a session, with a memory of a second; and how the end of a session is told.
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use portico_store::{EndReason, Session, Store, StoreError};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    live::{Caller, Live},
    lock::Lock,
};

/// How long a look into the store is believed.
const FRESH: Duration = Duration::from_secs(1);
/// How long it is believed by the others while one looks again.
const BEING_REFRESHED: Duration = Duration::from_secs(3);
/// How long an unused entry is kept.
const KEEP: Duration = Duration::from_secs(600);
/// How often the use of a session is written down.
const TOUCH: i64 = 30;

/// The sessions that this process has seen lately.
#[derive(Debug)]
pub(crate) struct Registry {
    store: Store,
    idle: Duration,
    by_secret: Lock<HashMap<[u8; 32], Entry>>,
    by_root: Lock<HashMap<Uuid, Arc<Live>>>,
}

#[derive(Debug)]
struct Entry {
    caller: Caller,
    ended: Option<EndReason>,
    checked: Instant,
    refreshing: bool,
}

/// What a cookie stands for.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    Signed(Caller),
    /// It stood for a session that has ended, as this process knows.
    Ended(EndReason),
    Unknown,
}

enum Remembered {
    Answer(Lookup),
    AskStore,
}

impl Registry {
    pub fn new(store: Store, idle: Duration) -> Self {
        Self {
            store,
            idle,
            by_secret: Lock::default(),
            by_root: Lock::default(),
        }
    }

    /// The session of a cookie.
    pub async fn find(&self, secret: &SecretString) -> Result<Lookup, StoreError> {
        let key: [u8; 32] = Sha256::digest(secret.expose_secret()).into();
        let now = Timestamp::now();
        match self.remembered(&key, now) {
            Remembered::Answer(lookup) => {
                self.note_use(&lookup, now);
                return Ok(lookup);
            }
            Remembered::AskStore => {}
        }
        let found = self
            .store
            .sessions()
            .find(secret.expose_secret(), now)
            .await;
        let lookup = match found {
            Ok(Some(session)) => match self.caller(session).await {
                Ok(Some(caller)) => Lookup::Signed(caller),
                Ok(None) => Lookup::Unknown,
                Err(error) => return Err(self.not_refreshed(&key, error)),
            },
            Ok(None) => self.gone(&key, now).await?,
            Err(error) => return Err(self.not_refreshed(&key, error)),
        };
        if let Lookup::Signed(caller) = &lookup {
            self.by_secret.lock().insert(
                key,
                Entry {
                    caller: caller.clone(),
                    ended: None,
                    checked: Instant::now(),
                    refreshing: false,
                },
            );
        }
        self.note_use(&lookup, now);
        Ok(lookup)
    }

    /// The caller behind a row that has just been read; `None` when its root has ended.
    pub async fn caller(&self, session: Session) -> Result<Option<Caller>, StoreError> {
        let session = Arc::new(session);
        let root = if session.parent.is_none() {
            Arc::clone(&session)
        } else {
            match self.store.sessions().get(session.root()).await? {
                Some(root) if root.is_live(Timestamp::now()) => Arc::new(root),
                _ => return Ok(None),
            }
        };
        let live = self.live(root);
        if live.connections.has_ended() {
            return Ok(None);
        }
        Ok(Some(Caller { session, live }))
    }

    fn live(&self, root: Arc<Session>) -> Arc<Live> {
        let mut by_root = self.by_root.lock();
        if let Some(live) = by_root.get(&root.id) {
            let live = Arc::clone(live);
            drop(by_root);
            live.set_root(root);
            return live;
        }
        let live = Arc::new(Live::new(root));
        by_root.insert(live.id, Arc::clone(&live));
        live
    }

    fn remembered(&self, key: &[u8; 32], now: Timestamp) -> Remembered {
        let mut entries = self.by_secret.lock();
        let Some(entry) = entries.get_mut(key) else {
            return Remembered::AskStore;
        };
        if let Some(reason) = entry.ended {
            return Remembered::Answer(Lookup::Ended(reason));
        }
        let age = entry.checked.elapsed();
        let good = entry.caller.session.is_live(now) && !entry.caller.live.connections.has_ended();
        if good && (age < FRESH || (entry.refreshing && age < BEING_REFRESHED)) {
            return Remembered::Answer(Lookup::Signed(entry.caller.clone()));
        }
        entry.refreshing = true;
        Remembered::AskStore
    }

    fn not_refreshed(&self, key: &[u8; 32], error: StoreError) -> StoreError {
        if let Some(entry) = self.by_secret.lock().get_mut(key) {
            entry.refreshing = false;
        }
        error
    }

    /// The store knows no live session of this cookie. Where there was one, find out whether it
    /// has ended or only has a new cookie.
    async fn gone(&self, key: &[u8; 32], now: Timestamp) -> Result<Lookup, StoreError> {
        let Some(known) = self
            .by_secret
            .lock()
            .get(key)
            .map(|entry| entry.caller.clone())
        else {
            return Ok(Lookup::Unknown);
        };
        let own = self.store.sessions().get(known.session.id).await?;
        let root = match known.session.parent {
            Some(parent) => self.store.sessions().get(parent).await?,
            None => own.clone(),
        };
        let reason = own
            .filter(|own| !own.is_live(now))
            .map(|own| own.end_reason.unwrap_or(EndReason::Expired));
        if !root.is_some_and(|root| root.is_live(now)) {
            self.end(known.live.id, reason.unwrap_or(EndReason::Expired));
        }
        let Some(reason) = reason else {
            self.by_secret.lock().remove(key);
            return Ok(Lookup::Unknown);
        };
        if let Some(entry) = self.by_secret.lock().get_mut(key) {
            entry.ended = Some(reason);
            entry.checked = Instant::now();
        }
        Ok(Lookup::Ended(reason))
    }

    /// Tells everybody in this process that a session has ended: its connections close now.
    pub fn end(&self, root: Uuid, reason: EndReason) {
        if let Some(live) = self.by_root.lock().remove(&root) {
            live.connections.end();
            live.forget_tokens();
        }
        for entry in self.by_secret.lock().values_mut() {
            if entry.caller.live.id == root && entry.ended.is_none() {
                entry.ended = Some(reason);
                entry.checked = Instant::now();
            }
        }
    }

    /// Forgets the cookies of a session, after it got a new one or changed otherwise.
    pub fn refresh(&self, root: Uuid) {
        self.by_secret
            .lock()
            .retain(|_, entry| entry.caller.live.id != root || entry.ended.is_some());
    }

    /// Every session in memory.
    pub fn all(&self) -> Vec<Arc<Live>> {
        self.by_root.lock().values().cloned().collect()
    }

    /// Looks at a session with open connections again: another replica may have ended it.
    pub async fn recheck(&self, live: &Arc<Live>) -> Result<(), StoreError> {
        let now = Timestamp::now();
        match self.store.sessions().get(live.id).await? {
            Some(root) if root.is_live(now) => live.set_root(Arc::new(root)),
            Some(root) => self.end(live.id, root.end_reason.unwrap_or(EndReason::Expired)),
            None => self.end(live.id, EndReason::Expired),
        }
        Ok(())
    }

    /// Drops what nobody has asked for in a while.
    pub fn prune(&self, now: Timestamp) {
        self.by_secret
            .lock()
            .retain(|_, entry| entry.checked.elapsed() < KEEP);
        let known: std::collections::HashSet<Uuid> = self
            .by_secret
            .lock()
            .values()
            .map(|entry| entry.caller.live.id)
            .collect();
        self.by_root
            .lock()
            .retain(|id, live| known.contains(id) || live.is_active(now));
    }

    fn note_use(&self, lookup: &Lookup, now: Timestamp) {
        let Lookup::Signed(caller) = lookup else {
            return;
        };
        self.note_use_of(caller, now);
    }

    /// Moves the idle expiry, in the background and once in a while.
    pub fn note_use_of(&self, caller: &Caller, now: Timestamp) {
        caller.live.used(now);
        if !caller.live.touch_is_due(now, TOUCH) {
            return;
        }
        let Ok(idle) = jiff::SignedDuration::try_from(self.idle) else {
            return;
        };
        let (store, session) = (self.store.clone(), Arc::clone(&caller.session));
        tokio::spawn(async move {
            if let Err(error) = store.sessions().touch(&session, now + idle, now).await {
                tracing::warn!(%error, "the use of a session could not be written down");
            }
        });
    }
}
