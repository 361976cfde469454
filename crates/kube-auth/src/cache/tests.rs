use super::*;
use portico_domain::identity::{Identity, Named, User};
use portico_openstack::keystone::TokenScope;
use portico_openstack::keystone::error::Unavailable;
use portico_openstack::keystone::token::UsedApplicationCredential;
use std::sync::atomic::AtomicUsize;
use tokio::sync::Barrier;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

fn validations(ttl: Duration) -> Validations {
    Validations::new(ttl, Clock::from_fn(|| NOW))
}

fn details(life: Duration) -> TokenDetails {
    TokenDetails {
        identity: Identity {
            user: User {
                id: "u1".to_owned(),
                name: "ada".to_owned(),
                domain: Named {
                    id: "default".to_owned(),
                    name: "Default".to_owned(),
                },
            },
            project: None,
            roles: Vec::new(),
        },
        scope: TokenScope::Unscoped,
        issued_at: NOW,
        expires_at: NOW + jiff::SignedDuration::try_from(life).unwrap(),
        methods: Vec::new(),
        audit_ids: Vec::new(),
        application_credential: None,
        trust: None,
        is_oauth: false,
    }
}

const LONG: Duration = Duration::from_secs(30);

/// Counts how often Keystone is asked.
#[derive(Clone, Default)]
struct Asked(Arc<AtomicUsize>);

impl Asked {
    fn answer(
        &self,
        answer: Result<TokenDetails, Error>,
    ) -> impl Future<Output = Result<TokenDetails, Error>> + Send + use<> {
        let times = Arc::clone(&self.0);
        async move {
            times.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            answer
        }
    }

    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_known_token_is_not_asked_about_again() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    let first = cache.get(key, || asked.answer(Ok(details(LONG)))).await;
    let second = cache.get(key, || asked.answer(Ok(details(LONG)))).await;
    assert_eq!((first.cached, second.cached), (false, true));
    assert_eq!(asked.times(), 1);
    let other = cache
        .get(cache.key_of("u"), || asked.answer(Ok(details(LONG))))
        .await;
    assert!(!other.cached);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_at_once_are_one_question() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    let start = Arc::new(Barrier::new(1000));
    let tasks: Vec<_> = (0..1000)
        .map(|_| {
            let (cache, asked, start) = (cache.clone(), asked.clone(), Arc::clone(&start));
            tokio::spawn(async move {
                start.wait().await;
                cache.get(key, || asked.answer(Ok(details(LONG)))).await
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap().answer.is_ok());
    }
    assert_eq!(asked.times(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_entry_ends_with_its_token() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    let life = Duration::from_secs(6);
    cache
        .get(key, || asked.answer(Ok(details(life))))
        .await
        .answer
        .unwrap();
    tokio::time::sleep(life).await;
    let later = cache
        .get(key, || asked.answer(Err(Error::InvalidToken)))
        .await;
    assert_eq!(later.answer.unwrap_err(), Error::InvalidToken);
    assert_eq!(asked.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_entry_ends_with_the_time_to_live() {
    let ttl = Duration::from_secs(6);
    let (cache, asked) = (validations(ttl), Asked::default());
    let key = cache.key_of("t");
    for expected in [1, 2] {
        cache
            .get(key, || asked.answer(Ok(details(LONG))))
            .await
            .answer
            .unwrap();
        assert_eq!(asked.times(), expected);
        tokio::time::sleep(ttl).await;
    }
}

/// Uses a token after four fifths of its time, and again when the time is over.
async fn late_uses(answer: Result<TokenDetails, Error>) -> (Known, Known, usize) {
    let ttl = Duration::from_secs(10);
    let (cache, asked) = (validations(ttl), Asked::default());
    let key = cache.key_of("t");
    let first = cache.get(key, || asked.answer(Ok(details(LONG)))).await;
    assert!(!first.cached);
    tokio::time::sleep(ttl.mul_f64(0.85)).await;
    let late = cache.get(key, || asked.answer(answer.clone())).await;
    // a second use meanwhile asks no more
    cache.get(key, || asked.answer(answer.clone())).await;
    tokio::time::sleep(ttl.mul_f64(0.25)).await;
    let times = asked.times();
    let after = cache.get(key, || asked.answer(Err(Error::Forbidden))).await;
    (late, after, times)
}

#[tokio::test(start_paused = true)]
async fn a_token_in_use_is_asked_about_before_any_request_waits() {
    let (late, after, times) = late_uses(Ok(details(LONG))).await;
    assert!(late.cached && late.answer.is_ok());
    assert!(after.cached && after.answer.is_ok());
    assert_eq!(times, 2);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_died_meanwhile_ends_at_once() {
    let (late, after, times) = late_uses(Err(Error::InvalidToken)).await;
    assert!(late.answer.is_ok());
    assert_eq!(after.answer.unwrap_err(), Error::InvalidToken);
    assert_eq!(times, 2);
}

#[tokio::test(start_paused = true)]
async fn an_outage_while_asking_ahead_prolongs_nothing() {
    let (late, after, times) = late_uses(Err(Error::Unavailable(Unavailable::Connect(None)))).await;
    assert!(late.answer.is_ok());
    assert_eq!(
        (after.cached, after.answer.unwrap_err()),
        (false, Error::Forbidden)
    );
    assert_eq!(times, 2);
}

#[tokio::test]
async fn a_refusal_is_remembered_and_a_failure_is_not() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    let away = Error::Unavailable(Unavailable::Connect(None));
    for expected in [1, 2] {
        let known = cache.get(key, || asked.answer(Err(away.clone()))).await;
        assert_eq!(known.answer.unwrap_err(), away);
        assert_eq!(asked.times(), expected);
    }
    for cached in [false, true] {
        let known = cache
            .get(key, || asked.answer(Err(Error::InvalidToken)))
            .await;
        assert_eq!(known.answer.unwrap_err(), Error::InvalidToken);
        assert_eq!(known.cached, cached);
    }
    assert_eq!(asked.times(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_ends_with_its_own_time_to_live() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    for (pause, expected) in [
        (Duration::ZERO, 1),
        (INVALID_TTL.mul_f64(0.9), 1),
        (INVALID_TTL.mul_f64(0.1), 2),
    ] {
        tokio::time::sleep(pause).await;
        let known = cache
            .get(key, || asked.answer(Err(Error::InvalidToken)))
            .await;
        assert_eq!(known.answer.unwrap_err(), Error::InvalidToken);
        assert_eq!(asked.times(), expected);
    }
}

#[tokio::test]
async fn two_processes_share_no_fingerprint() {
    let (a, b) = (validations(LONG), validations(LONG));
    assert_eq!(a.key_of("t"), a.key_of("t"));
    assert_ne!(a.key_of("t").fingerprint(), b.key_of("t").fingerprint());
    assert_eq!(a.key_of("t").fingerprint().len(), 12);
}

#[tokio::test]
async fn the_cache_holds_what_keystone_returned() {
    let (cache, asked) = (validations(LONG), Asked::default());
    let key = cache.key_of("t");
    let mut validated = details(LONG);
    validated.audit_ids = vec!["audit".to_owned()];
    validated.identity.user.name = "ada lovelace \u{1f511}".to_owned();
    validated.application_credential = Some(UsedApplicationCredential {
        id: "credential".to_owned(),
        access_rules: Some(vec!["kubernetes".to_owned()]),
    });
    for _ in 0..2 {
        let known = cache.get(key, || asked.answer(Ok(validated.clone()))).await;
        assert_eq!(known.answer.unwrap(), validated);
    }
    assert_eq!(cache.fresh(key).await, Some(validated));
    assert_eq!(cache.fresh(cache.key_of("u")).await, None);
    assert_eq!(asked.times(), 1);
}
