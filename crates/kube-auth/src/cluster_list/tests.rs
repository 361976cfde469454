use super::*;
use crate::listed::tests::{authority, empty, entry, leaf, list, relation};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use portico_assertion::SigningKey;
use portico_assertion::cluster_list::{ClusterList, ListSigner};
use portico_domain::enrolled_cluster::ListedCluster;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A publisher, with real signatures.
#[derive(Clone)]
struct Publisher {
    key: SigningKey,
    url: String,
    state: Arc<Mutex<Published>>,
}

#[derive(Default)]
struct Published {
    document: String,
    status: u16,
    requests: usize,
    not_modified: usize,
}

impl Publisher {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let publisher = Self {
            key: SigningKey::generate(),
            url: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
        };
        publisher.lock().status = 200;
        let router = Router::new()
            .route(PATH, get(answer))
            .route("/elsewhere", get(answer))
            .with_state(publisher.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        publisher
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Published> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(&self, sequence: u64, clusters: Vec<ListedCluster>) -> ClusterList {
        let now = Clock::system().now().as_second();
        ClusterList {
            iss: self.url.clone(),
            iat: now,
            exp: now + 3600,
            ..list(sequence, clusters)
        }
    }

    fn publish(&self, list: &ClusterList) {
        self.publish_signed_by(&self.key, list);
    }

    fn publish_signed_by(&self, key: &SigningKey, list: &ClusterList) {
        self.lock().document = ListSigner::new(key.clone()).sign(list).unwrap();
    }

    fn section(&self, dir: &TempDir) -> ClusterListConfig {
        let keys_file = dir.path().join("list.pub");
        std::fs::write(&keys_file, self.key.public_pem().unwrap()).unwrap();
        ClusterListConfig {
            url: self.url.clone(),
            issuer: None,
            keys_file,
            token_file: token_file(dir, TOKEN),
            ca_file: None,
            state_file: Some(dir.path().join("list.jws")),
        }
    }
}

fn token_file(dir: &TempDir, token: &str) -> PathBuf {
    let path = dir.path().join("token");
    std::fs::write(&path, token).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

async fn answer(State(publisher): State<Publisher>, headers: HeaderMap) -> Response {
    let mut state = publisher.lock();
    state.requests += 1;
    let token = headers.get(header::AUTHORIZATION);
    if token.is_none_or(|token| *token != format!("Bearer {TOKEN}")) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let end = state.document.len().saturating_sub(20);
    let etag = format!("\"{}\"", &state.document[end..]);
    let status = StatusCode::from_u16(state.status).unwrap();
    if status == StatusCode::OK
        && headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|tag| *tag == etag)
    {
        state.not_modified += 1;
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let headers = [
        (header::ETAG, etag),
        (header::LOCATION, "/elsewhere".to_owned()),
    ];
    (status, headers, state.document.clone()).into_response()
}

fn follower(section: &ClusterListConfig) -> (ClusterListFollower, Arc<ListedClusters>) {
    let listed = Arc::new(empty(&[]));
    let follower =
        ClusterListFollower::open(section, Arc::clone(&listed), Clock::system()).unwrap();
    (follower, listed)
}

fn now() -> i64 {
    Clock::system().now().as_second()
}

#[tokio::test]
async fn a_list_is_fetched_put_in_use_and_not_sent_again() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let one = authority("one");
    publisher.publish(&publisher.list(1, vec![entry(1, &one)]));
    let (mut follower, listed) = follower(&publisher.section(&dir));
    assert_eq!(follower.fetch().await, Ok(true));
    assert_eq!(relation(&listed, 1, &leaf(&one), now()), "bound");
    assert_eq!(follower.fetch().await, Ok(false));
    assert_eq!(publisher.lock().not_modified, 1);
    publisher.publish(&publisher.list(2, Vec::new()));
    assert_eq!(follower.fetch().await, Ok(true));
    assert_eq!(relation(&listed, 1, &leaf(&one), now()), "removed");
}

#[tokio::test]
async fn a_refused_token_is_reported_as_such_and_a_short_one_stops_the_start() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    publisher.publish(&publisher.list(1, Vec::new()));
    let section = publisher.section(&dir);
    token_file(&dir, &TOKEN.replace('f', "e"));
    let (mut wrong, _) = follower(&section);
    assert_eq!(wrong.fetch().await, Err(Failure::Token));
    // control case: with the right one, also at the end of a line
    token_file(&dir, &format!("{TOKEN}\n"));
    assert_eq!(follower(&section).0.fetch().await, Ok(true));
    token_file(&dir, &TOKEN[1..]);
    let short = ClusterListFollower::open(&section, Arc::new(empty(&[])), Clock::system());
    assert!(matches!(short, Err(ClusterListError::Token(_))));
}

#[tokio::test]
async fn attack_a_forged_list_or_another_publishers_changes_nothing() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let (one, attacker) = (authority("one"), authority("attacker"));
    publisher.publish(&publisher.list(1, vec![entry(1, &one)]));
    let (mut follower, listed) = follower(&publisher.section(&dir));
    follower.fetch().await.unwrap();
    let forged = publisher.list(9, vec![entry(1, &attacker)]);
    publisher.publish_signed_by(&SigningKey::generate(), &forged);
    let refused = |reason| Err(Failure::Refused(reason));
    assert_eq!(follower.fetch().await, refused(ListRefused::UnknownKey));
    let other = ClusterList {
        iss: "https://other.example.org".to_owned(),
        ..forged.clone()
    };
    publisher.publish(&other);
    assert_eq!(follower.fetch().await, refused(ListRefused::Issuer));
    publisher.lock().document = "nonsense".to_owned();
    assert_eq!(follower.fetch().await, refused(ListRefused::Shape));
    assert_eq!(relation(&listed, 1, &leaf(&one), now()), "bound");
    assert_eq!(relation(&listed, 1, &leaf(&attacker), now()), "unbound");
    // and what is saved is the good one
    let saved = std::fs::read_to_string(dir.path().join("list.jws")).unwrap();
    let read = follower
        .verifier
        .verify(&saved, Clock::system().now())
        .unwrap();
    assert_eq!(read.sequence, 1);
    // control case: with the publisher's key the same list is taken
    publisher.publish(&forged);
    assert_eq!(follower.fetch().await, Ok(true));
}

#[tokio::test]
async fn attack_an_older_list_is_refused_also_after_a_restart() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let (one, removed) = (authority("one"), authority("removed"));
    let old = publisher.list(4, vec![entry(1, &one), entry(2, &removed)]);
    publisher.publish(&publisher.list(5, vec![entry(1, &one)]));
    let section = publisher.section(&dir);
    let (mut before, _) = follower(&section);
    before.fetch().await.unwrap();
    publisher.publish(&old);
    let older = Err(Failure::Older {
        found: 4,
        current: 5,
    });
    assert_eq!(before.fetch().await, older);
    let (mut restarted, listed) = follower(&section);
    assert_eq!(restarted.fetch().await, older);
    assert_eq!(relation(&listed, 2, &leaf(&removed), now()), "unknown");
    // control case: without the file the older list cannot be known as such
    let forgetful = ClusterListConfig {
        state_file: None,
        ..section
    };
    let (mut forgetful, _) = follower(&forgetful);
    assert_eq!(forgetful.fetch().await, Ok(true));
}

#[tokio::test]
async fn after_a_restart_the_saved_list_serves_while_the_publisher_is_away() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let one = authority("one");
    publisher.publish(&publisher.list(1, vec![entry(1, &one)]));
    let section = publisher.section(&dir);
    follower(&section).0.fetch().await.unwrap();
    publisher.lock().status = 503;
    let (mut restarted, listed) = follower(&section);
    let failed = Err(Failure::Get(GetError::Status(503)));
    assert_eq!(restarted.fetch().await, failed);
    assert_eq!(relation(&listed, 1, &leaf(&one), now()), "bound");
    assert_eq!(relation(&listed, 1, &leaf(&one), now() + 3601), "expired");
    // a file that was changed, or that is of another key, is not used
    let saved = dir.path().join("list.jws");
    let text = std::fs::read_to_string(&saved).unwrap();
    for other in [String::new(), text.replacen('.', ".A", 1), "x".repeat(64)] {
        std::fs::write(&saved, other).unwrap();
        let (_, listed) = follower(&section);
        assert_eq!(relation(&listed, 1, &leaf(&one), now()), "unknown");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_a_changed_key_is_taken_over() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    publisher.publish(&publisher.list(1, Vec::new()));
    publisher.lock().status = 302;
    let section = publisher.section(&dir);
    let (mut follower, _) = follower(&section);
    let failed = Err(Failure::Get(GetError::Status(302)));
    assert_eq!(follower.fetch().await, failed);
    assert_eq!(publisher.lock().requests, 1);
    publisher.lock().status = 200;
    let next = SigningKey::generate();
    publisher.publish_signed_by(&next, &publisher.list(1, Vec::new()));
    assert!(follower.fetch().await.is_err());
    std::fs::write(&section.keys_file, "no key").unwrap();
    assert!(follower.fetch().await.is_err());
    std::fs::write(&section.keys_file, next.public_pem().unwrap()).unwrap();
    assert_eq!(follower.fetch().await, Ok(true));
}

#[tokio::test]
async fn files_that_cannot_be_used_stop_the_start() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let section = publisher.section(&dir);
    let open = |section: &ClusterListConfig| {
        ClusterListFollower::open(section, Arc::new(empty(&[])), Clock::system()).err()
    };
    assert!(open(&section).is_none());
    let mut without_key = section.clone();
    without_key.keys_file = dir.path().join("missing");
    assert!(matches!(
        open(&without_key),
        Some(ClusterListError::Keys(_))
    ));
    let mut without_ca = section.clone();
    without_ca.ca_file = Some(section.keys_file.clone());
    assert!(matches!(
        open(&without_ca),
        Some(ClusterListError::Client(_))
    ));
    let mut folder = section;
    folder.state_file = Some(dir.path().to_owned());
    assert!(matches!(
        open(&folder),
        Some(ClusterListError::State { .. })
    ));
}

#[tokio::test]
async fn an_unknown_client_causes_a_fetch_within_a_second_and_no_more_than_one() {
    let (publisher, dir) = (Publisher::start().await, tempfile::tempdir().unwrap());
    let one = authority("one");
    publisher.publish(&publisher.list(1, Vec::new()));
    let (follower, listed) = follower(&publisher.section(&dir));
    let running = tokio::spawn(follower.run());
    while listed.is_expired(Clock::system().now()) {
        tokio::task::yield_now().await;
    }
    publisher.publish(&publisher.list(2, vec![entry(1, &one)]));
    let started = tokio::time::Instant::now();
    while relation(&listed, 1, &leaf(&one), now()) == "unknown" {
        listed.want_newest();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(started.elapsed() < Duration::from_secs(5));
    }
    assert!(publisher.lock().requests <= 3);
    running.abort();
}
