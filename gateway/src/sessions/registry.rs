//! Finds the session of a cookie, with a cache that is as current as the feed of changes; and
//! reports the end of sessions.
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use portico_clock::Clock;
use portico_store::{EndReason, Session, Store, StoreError};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    feed::Feed,
    live::{Caller, Live},
};
use crate::metrics;

/// Bounds the reads of a session that changes while it is read.
const MAX_READ_ATTEMPTS: u32 = 3;
/// How long an unused entry stays in memory.
const IDLE_TTL: Duration = Duration::from_secs(600);
/// How often the last use of a session is stored.
const TOUCH_INTERVAL_SECONDS: i64 = 30;

/// The sessions that this process has used recently.
#[derive(Debug)]
pub(crate) struct Registry {
    store: Store,
    idle: Duration,
    clock: Clock,
    by_secret: Mutex<foldhash::HashMap<[u8; 32], Entry>>,
    by_root: Mutex<HashMap<Uuid, Arc<Live>>>,
    pub(super) feed: Feed,
    /// Set when changes may have been missed: every session with open connections is read again.
    distrusted: AtomicBool,
    /// Sessions with open connections that were changed elsewhere: read again.
    pub(super) suspects: Mutex<HashSet<Uuid>>,
}

#[derive(Debug)]
struct Entry {
    caller: Caller,
    ended: Option<EndReason>,
    used: Instant,
}

/// The result of looking up a cookie.
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    Signed(Caller),
    /// It belonged to a session that has ended, as this process knows.
    Ended(EndReason),
    Unknown,
}

enum Remembered {
    Answer(Lookup),
    AskStore,
}

impl Registry {
    pub fn new(store: Store, idle: Duration, clock: Clock) -> Self {
        Self {
            store,
            idle,
            clock,
            by_secret: Mutex::default(),
            by_root: Mutex::default(),
            feed: Feed::default(),
            distrusted: AtomicBool::new(false),
            suspects: Mutex::default(),
        }
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns whether sessions in memory are known to be current.
    pub fn is_covered(&self) -> bool {
        self.feed.is_current()
    }

    /// Returns the session of a cookie.
    pub async fn find(&self, secret: &SecretString) -> Result<Lookup, StoreError> {
        let key: [u8; 32] = Sha256::digest(secret.expose_secret()).into();
        let now = self.clock.now();
        match self.remembered(&key, now) {
            Remembered::Answer(lookup) => {
                self.note_use(&lookup, now);
                return Ok(lookup);
            }
            Remembered::AskStore => {}
        }
        let mut reads = 0;
        loop {
            let began = Instant::now();
            let lookup = Box::pin(self.ask_store(&key, secret, began, now)).await?;
            let Lookup::Signed(caller) = &lookup else {
                return Ok(lookup);
            };
            reads += 1;
            let changed = self.has_changed(caller, began);
            if changed {
                // the row may be older than the change: usable for this request at most
                self.by_secret.lock().remove(&key);
            }
            if !changed || reads == MAX_READ_ATTEMPTS {
                self.note_use(&lookup, now);
                return Ok(lookup);
            }
        }
    }

    async fn ask_store(
        &self,
        key: &[u8; 32],
        secret: &SecretString,
        began: Instant,
        now: Timestamp,
    ) -> Result<Lookup, StoreError> {
        let sessions = self.store.sessions();
        let Some(session) = sessions.find(secret.expose_secret(), now).await? else {
            return self.gone(key, now).await;
        };
        let Some(caller) = self.caller(session, began).await? else {
            return Ok(Lookup::Unknown);
        };
        let entry = Entry {
            caller: caller.clone(),
            ended: None,
            used: Instant::now(),
        };
        self.by_secret.lock().insert(*key, entry);
        Ok(Lookup::Signed(caller))
    }

    /// Returns whether the caller's session has changed since a read of it began.
    fn has_changed(&self, caller: &Caller, began: Instant) -> bool {
        let sessions = [caller.session.id, caller.live.id];
        self.feed.changed_since(began, sessions)
    }

    /// Returns the caller of a row whose read began at `began`; `None` when its root has ended.
    pub async fn caller(
        &self,
        session: Session,
        began: Instant,
    ) -> Result<Option<Caller>, StoreError> {
        let session = Arc::new(session);
        let root = if session.parent.is_none() {
            Arc::clone(&session)
        } else {
            match self.store.sessions().get(session.root()).await? {
                Some(root) if root.is_live(self.clock.now()) => Arc::new(root),
                _ => return Ok(None),
            }
        };
        let live = self.live(root);
        if self.feed.changed_since(began, [session.id, live.id]) {
            self.recheck(&live).await?;
        }
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
        entry.used = Instant::now();
        // the times of a row change without an entry in the feed: a session that looks expired may
        // have been used elsewhere
        let good = entry.caller.session.is_live(now) && !entry.caller.live.connections.has_ended();
        if good && self.is_covered() {
            return Remembered::Answer(Lookup::Signed(entry.caller.clone()));
        }
        Remembered::AskStore
    }

    /// Returns why the store has no live session for this cookie: the session has ended, or only
    /// has a new cookie.
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
        match root {
            Some(root) if root.is_live(now) => {}
            Some(root) if root.ended_at.is_none() => self.expire(root.id, now).await?,
            _ => self.end(known.live.id, reason.unwrap_or(EndReason::Expired)),
        }
        let Some(reason) = reason else {
            self.by_secret.lock().remove(key);
            return Ok(Lookup::Unknown);
        };
        if let Some(entry) = self.by_secret.lock().get_mut(key) {
            entry.ended = Some(reason);
            entry.used = Instant::now();
        }
        Ok(Lookup::Ended(reason))
    }

    /// Ends an expired session for every replica, with its tokens.
    async fn expire(&self, root: Uuid, now: Timestamp) -> Result<(), StoreError> {
        let ended = self.store.sessions().expire(root, now).await?;
        if !ended.is_empty() {
            metrics::sessions_ended(&ended, EndReason::Expired);
            self.end(root, EndReason::Expired);
        }
        Ok(())
    }

    /// Reports in this process that a session has ended: its connections close now. The end of a
    /// child affects only itself.
    pub fn end(&self, session: Uuid, reason: EndReason) {
        self.feed.note(session);
        if let Some(live) = self.by_root.lock().remove(&session) {
            live.connections.end(reason.as_str());
            live.forget_tokens();
        }
        for entry in self.by_secret.lock().values_mut() {
            let concerned = entry.caller.live.id == session || entry.caller.session.id == session;
            if concerned && entry.ended.is_none() {
                entry.ended = Some(reason);
                entry.used = Instant::now();
            }
        }
    }

    /// Drops the cached cookies of a session, after it got a new one or changed otherwise.
    pub fn refresh(&self, session: Uuid) {
        self.feed.note(session);
        self.by_secret.lock().retain(|_, entry| {
            let concerned = entry.caller.live.id == session || entry.caller.session.id == session;
            !concerned || entry.ended.is_some()
        });
    }

    /// Drops what was read of every session, after changes may have been missed.
    pub(super) fn distrust(&self) {
        self.by_secret
            .lock()
            .retain(|_, entry| entry.ended.is_some());
        self.distrusted.store(true, Ordering::Relaxed);
    }

    /// Schedules every session with open connections to be read again.
    pub fn doubt(&self) {
        self.distrusted.store(true, Ordering::Relaxed);
    }

    /// Returns how long ago the feed was read in full; `None` before the first time.
    pub fn lag(&self) -> Option<Duration> {
        self.feed.lag()
    }

    /// Returns a session in memory, by its root.
    pub(super) fn known(&self, root: Uuid) -> Option<Arc<Live>> {
        self.by_root.lock().get(&root).cloned()
    }

    /// Returns the sessions with open connections that must be read again: those that seem expired,
    /// and all of them when the feed is not current.
    pub fn suspected(&self, now: Timestamp) -> Vec<Arc<Live>> {
        let all = self.distrusted.swap(false, Ordering::Relaxed) || !self.is_covered();
        let suspects = std::mem::take(&mut *self.suspects.lock());
        self.all()
            .into_iter()
            .filter(|live| live.connections.count() > 0)
            .filter(|live| all || suspects.contains(&live.id) || !live.root().is_live(now))
            .collect()
    }

    /// Returns every session in memory.
    pub fn all(&self) -> Vec<Arc<Live>> {
        self.by_root.lock().values().cloned().collect()
    }

    /// Reads a session with open connections again: another replica may have ended it.
    pub async fn recheck(&self, live: &Arc<Live>) -> Result<(), StoreError> {
        let now = self.clock.now();
        match self.store.sessions().get(live.id).await? {
            Some(root) if root.is_live(now) => live.set_root(Arc::new(root)),
            Some(root) if root.ended_at.is_none() => self.expire(root.id, now).await?,
            Some(root) => self.end(live.id, root.end_reason.unwrap_or(EndReason::Expired)),
            None => self.end(live.id, EndReason::Expired),
        }
        Ok(())
    }

    /// Drops entries that have not been used for a while.
    pub fn prune(&self, now: Timestamp) {
        self.by_secret
            .lock()
            .retain(|_, entry| entry.used.elapsed() < IDLE_TTL);
        let known: HashSet<Uuid> = self
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

    /// Stores the new idle expiry, in the background and once per interval.
    pub fn note_use_of(&self, caller: &Caller, now: Timestamp) {
        caller.live.used(now);
        if !caller.live.touch_is_due(now, TOUCH_INTERVAL_SECONDS) {
            return;
        }
        let Ok(idle) = jiff::SignedDuration::try_from(self.idle) else {
            return;
        };
        let (store, session) = (self.store.clone(), Arc::clone(&caller.session));
        #[allow(
            clippy::disallowed_methods,
            reason = "a stop loses no more than the time of the last use"
        )]
        tokio::spawn(async move {
            if let Err(error) = store.sessions().touch(&session, now + idle, now).await {
                tracing::warn!(%error, "the use of a session could not be written down");
            }
        });
    }
}
