//! Caches recently verified bearer tokens: their verifications, and the connections that are open for
//! them.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hmac::{Hmac, Mac as _};
use jiff::{SignedDuration, Timestamp};
use moka::future::Cache;
use portico_clock::Clock;
use portico_domain::identity::{Identity, User};
use portico_openstack::keystone::TokenDetails;
use portico_store::{Session, SessionKind, SessionProvider};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use uuid::Uuid;

use super::Fault;
use crate::{
    http::cookies::{NoRandomness, random_secret},
    sessions::live::{Caller, Live, ProjectToken},
};

/// How long a verification about a token is cached.
const VERIFICATION_TTL: Duration = Duration::from_secs(10);
const MAX_VERIFICATIONS: u64 = 10_000;

/// The cache of verifications, by an HMAC of the token, never by the token itself.
#[derive(Debug)]
pub(crate) struct VerifiedTokenCache {
    clock: Clock,
    key: SecretString,
    verifications: Cache<[u8; 32], Verification>,
}

/// A verified bearer token, or why it is refused.
pub(super) type Verification = Result<Arc<Bearer>, Fault>;

/// A verified bearer token and its caller.
#[derive(Debug)]
pub(crate) struct Bearer {
    caller: Caller,
    pub(super) expires_at: Timestamp,
    watched: AtomicBool,
}

impl VerifiedTokenCache {
    /// Returns an empty cache.
    pub fn new(clock: Clock) -> Result<Self, NoRandomness> {
        Ok(Self {
            clock,
            key: random_secret()?,
            verifications: Cache::builder()
                .max_capacity(MAX_VERIFICATIONS)
                .time_to_live(VERIFICATION_TTL)
                .build(),
        })
    }

    /// Returns the verification about a token at an app, determined once for concurrent requests. Errors
    /// are not cached.
    pub(super) async fn verification<E: Send + Sync + 'static>(
        &self,
        app: &str,
        token: &SecretString,
        work: impl Future<Output = Result<Verification, E>>,
    ) -> Result<Verification, Arc<E>> {
        let Some(key) = self.hash(app, token) else {
            return Ok(Err(Fault::Invalid("it cannot be read")));
        };
        let verification = self.verifications.try_get_with(key, work).await?;
        Ok(match verification {
            Ok(bearer) if bearer.expires_at <= self.clock.now() => {
                Err(Fault::Invalid("it has expired"))
            }
            // the cached verification is of the request that was throttled
            Err(Fault::Throttled(seconds)) => {
                self.verifications.invalidate(&key).await;
                Err(Fault::Throttled(seconds))
            }
            other => other,
        })
    }

    fn hash(&self, app: &str, token: &SecretString) -> Option<[u8; 32]> {
        let key = self.key.expose_secret().as_bytes();
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        // an app's ID contains no line break
        mac.update(app.as_bytes());
        mac.update(b"\n");
        mac.update(token.expose_secret().as_bytes());
        Some(mac.finalize().into_bytes().into())
    }
}

impl Bearer {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the token to validate at Keystone again.
    pub(super) fn keystone_token(&self) -> Option<SecretString> {
        let projects = self.live().projects.lock();
        projects.values().next().map(|held| held.token.clone())
    }

    /// Returns whether no task yet watches what is open for the bearer token.
    pub(super) fn begins_watch(&self) -> bool {
        !self.watched.swap(true, Ordering::AcqRel)
    }

    /// Ends the watch, and returns whether it has to end. A connection that was opened since the last
    /// look found the watch still running, so that no other one began: then this one begins again.
    pub(super) fn ends_watch(&self) -> bool {
        // a read as well, so that the connections of an earlier `begins_watch` are counted below
        self.watched.swap(false, Ordering::AcqRel);
        let connections = &self.live().connections;
        connections.count() == 0 || connections.has_ended() || !self.begins_watch()
    }

    pub(super) fn live(&self) -> &Arc<Live> {
        &self.caller.live
    }

    /// Returns the bearer of a project-scoped Keystone token.
    pub(super) fn of_keystone(
        details: TokenDetails,
        token: SecretString,
        now: Timestamp,
    ) -> Result<Option<Arc<Self>>, NoRandomness> {
        let Identity {
            user,
            project: Some(project),
            roles,
        } = details.identity
        else {
            return Ok(None);
        };
        let session = Session {
            projects: vec![project.clone()],
            ..passing(user, details.methods, details.expires_at, now)?
        };
        let bearer = Self::of(session, details.expires_at);
        let held = ProjectToken {
            id: Uuid::nil(),
            token,
            project,
            roles,
            expires_at: details.expires_at,
        };
        let mut projects = bearer.live().projects.lock();
        projects.insert(held.project.id.clone(), Arc::new(held));
        drop(projects);
        Ok(Some(bearer))
    }

    /// Returns the bearer of a provider's JWT.
    pub(super) fn of_provider(
        user: User,
        methods: Vec<String>,
        provider: SessionProvider,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Arc<Self>, NoRandomness> {
        let session = Session {
            provider: Some(provider),
            ..passing(user, methods, expires_at, now)?
        };
        Ok(Self::of(session, expires_at))
    }

    fn of(session: Session, expires_at: Timestamp) -> Arc<Self> {
        let session = Arc::new(session);
        let live = Arc::new(Live::new(Arc::clone(&session)));
        Arc::new(Self {
            caller: Caller { session, live },
            expires_at,
            watched: AtomicBool::new(false),
        })
    }
}

/// Returns a substitute for a session while a bearer token is cached. It is in no store and in no
/// list.
fn passing(
    user: User,
    auth_methods: Vec<String>,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<Session, NoRandomness> {
    Ok(Session {
        id: Uuid::new_v4(),
        parent: None,
        kind: SessionKind::App,
        app: None,
        client: None,
        user,
        projects: Vec::new(),
        last_project: None,
        auth_methods,
        csrf: random_secret()?,
        user_agent: String::new(),
        address: String::new(),
        created_at: now,
        last_seen_at: now,
        idle_expires_at: expires_at,
        absolute_expires_at: expires_at,
        keystone_expires_at: expires_at,
        keystone_checked_at: now,
        ended_at: None,
        end_reason: None,
        provider: None,
        authenticated_at: None,
    })
}

/// How often the token of a caller with open connections is validated again.
pub(super) const REVALIDATION_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::identity::Named;
    use std::sync::atomic::AtomicUsize;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn cache() -> VerifiedTokenCache {
        VerifiedTokenCache::new(Clock::from_fn(|| NOW)).unwrap()
    }

    fn bearer(seconds: i64) -> Arc<Bearer> {
        let user = User {
            id: "u1".to_owned(),
            name: "ada".to_owned(),
            domain: Named {
                id: "default".to_owned(),
                name: "Default".to_owned(),
            },
        };
        let expires_at = NOW + SignedDuration::from_secs(seconds);
        let session = passing(user, Vec::new(), expires_at, NOW).unwrap();
        Bearer::of(session, expires_at)
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_at_once_cost_one_question() {
        let accepted = cache();
        let asked = AtomicUsize::new(0);
        let token = SecretString::from("t");
        let ask = || {
            accepted.verification::<()>("app", &token, async {
                asked.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(Ok(bearer(60)))
            })
        };
        let all = futures::future::join_all((0..50).map(|_| ask())).await;
        assert!(
            all.iter()
                .all(|verification| matches!(verification, Ok(Ok(_))))
        );
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_connection_that_is_opened_at_the_end_of_a_watch_is_watched() {
        let bearer = bearer(60);
        let connections = &bearer.live().connections;
        assert!(bearer.begins_watch());
        let open = connections.open();
        assert!(!bearer.begins_watch(), "one watch runs already");
        assert!(!bearer.ends_watch(), "it begins again");
        assert!(!bearer.begins_watch());
        drop(open);
        assert!(bearer.ends_watch());
        // a token that has ended closes what is opened later
        assert!(bearer.begins_watch());
        let _open = connections.open();
        connections.end("expired");
        assert!(bearer.ends_watch());
    }

    #[tokio::test]
    async fn a_verification_is_for_one_token_at_one_app() {
        let accepted = cache();
        let of = |app: &'static str, token: &'static str, good: bool| {
            let accepted = &accepted;
            async move {
                let work = async move {
                    Ok::<_, ()>(if good {
                        Ok(bearer(60))
                    } else {
                        Err(Fault::Invalid("no"))
                    })
                };
                let token = SecretString::from(token);
                accepted
                    .verification(app, &token, work)
                    .await
                    .unwrap()
                    .is_ok()
            }
        };
        assert!(of("a", "t", true).await);
        assert!(of("a", "t", false).await, "kept");
        assert!(!of("b", "t", false).await, "another app");
        assert!(!of("a", "u", false).await, "another token");
        assert!(!of("a", "u", true).await, "a refusal is kept too");
    }

    #[tokio::test]
    async fn an_undecided_bearer_is_verified_again_and_an_expired_one_never_counts() {
        let accepted = cache();
        let token = SecretString::from("t");
        let outage = accepted
            .verification("a", &token, async { Err("outage") })
            .await;
        assert!(outage.is_err());
        let verification = accepted.verification::<()>("a", &token, async { Ok(Ok(bearer(-1))) });
        assert_eq!(
            verification.await.unwrap().err(),
            Some(Fault::Invalid("it has expired"))
        );
    }
}
