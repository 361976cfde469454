//! A conductor that does not run. All clusters of the stack have the same one, so no other test of Magnum
//! runs meanwhile (`.config/nextest.toml`).
use crate::service_proxy::{Rules, ServiceProxy};
use crate::tenant::{Tenant, cluster, create, json};
use portico_openstack::magnum::ConductorState;
use portico_openstack::rest::ScopedToken;
use portico_testkit::{TestEnv, program};
use reqwest::Method;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long Magnum may take to report another state of its conductor: `service_down_time` in
/// `scripts/services/magnum.sh`, and some seconds.
const REPORT_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a command may take until it looks for the record of its cluster.
const LOOK_TIMEOUT: Duration = Duration::from_secs(15);

/// The stopped conductor; it starts again when this is dropped.
struct Stopped {
    pid: String,
}

impl Stopped {
    fn new(env: &TestEnv) -> Self {
        let record = std::fs::read_to_string(env.get("MAGNUM_PID_FILE").unwrap()).unwrap();
        let pid = record.split_whitespace().next().unwrap().to_owned();
        signal("-USR1", &pid);
        Self { pid }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("-USR2", &self.pid);
    }
}

fn signal(signal: &str, pid: &str) {
    let sent = Command::new("kill").args([signal, pid]).status();
    assert!(sent.unwrap().success());
}

/// Returns whether Magnum was read after a change, which a command does that looks for its record.
fn looks_for_the_record(magnum: &ServiceProxy) -> bool {
    let received = magnum.received();
    let mut since = received
        .iter()
        .skip_while(|request| request.method == Method::GET);
    since.any(|request| request.method == Method::GET)
}

#[tokio::test]
async fn case_59_a_request_that_no_conductor_takes_is_found_later_and_not_repeated() {
    Tenant::run(|tenant| async move {
        let (person, magnum) = tenant.through(Rules::default()).await;
        let stopped = Stopped::new(&tenant.env);
        // until the conductor has stopped, which Magnum reports much later
        sleep(Duration::from_millis(500)).await;
        let name = tenant.name("waits");
        let words = create(&name, &["--no-wait", "-o", "json"]);
        let mut child = person
            .command(&program("portico").unwrap())
            .arg("cluster")
            .args(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + LOOK_TIMEOUT;
        while !looks_for_the_record(&magnum) {
            assert!(Instant::now() < deadline, "{:?}", magnum.received());
            sleep(Duration::from_millis(100)).await;
        }
        // the API has accepted it, and there is no record; the program would look for 30 s
        assert!(child.try_wait().unwrap().is_none());
        assert!(tenant.named(&name).await.is_empty());
        child.kill().await.unwrap();
        let conductors = tenant
            .magnum
            .conductors(&tenant.administrator().await)
            .await;
        assert!(!conductors.unwrap().items.is_empty());
        drop(stopped);
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = "An earlier run did not see the cluster";
        assert!(ran.err.contains(text), "{}", ran.err);
        let made = tenant.named(&name).await;
        assert_eq!(made.len(), 1, "{made:?}");
        assert_eq!(json(&ran)[0]["uuid"], made[0].uuid.to_string());
    })
    .await;
}

/// Waits until Magnum reports a state of all conductors to an administrator.
async fn until_reported(tenant: &Tenant, administrator: &ScopedToken, state: &ConductorState) {
    let deadline = Instant::now() + REPORT_TIMEOUT;
    loop {
        let listed = tenant.magnum.conductors(administrator).await.unwrap().items;
        if listed.iter().all(|conductor| conductor.state == *state) {
            return;
        }
        assert!(Instant::now() < deadline, "{listed:?}");
        sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn case_59_an_administrator_is_refused_while_no_conductor_answers() {
    Tenant::run(|tenant| async move {
        let administrator = tenant.user("admin").await;
        let person = tenant.person_of(&administrator);
        let (token, _) = tenant.sign_in(&administrator, &tenant.project).await;
        until_reported(&tenant, &token, &ConductorState::Up).await;
        let stopped = Stopped::new(&tenant.env);
        until_reported(&tenant, &token, &ConductorState::Down).await;
        let name = tenant.name("refused");
        let ran = cluster(&person, &create(&name, &["--no-wait"])).await;
        assert_eq!(ran.code, 11, "{}", ran.err);
        let text = "No conductor of Magnum answers";
        assert!(ran.err.contains(text), "{}", ran.err);
        // a member may not ask, so this is not known
        let ran = tenant.cluster(&create(&name, &["--dry-run"])).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.out.contains(text), "{}", ran.out);
        drop(stopped);
        until_reported(&tenant, &token, &ConductorState::Up).await;
        assert!(tenant.named(&name).await.is_empty());
    })
    .await;
}
