//! SIGHUP at a running process: what its log says about changed keys, and when its certificates expire.
use crate::doctor::place::{Place, VALID_YEARS};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RELOAD_TIMEOUT: Duration = Duration::from_secs(20);

/// A kube-auth with the configuration of a place; ends with the value.
struct KubeAuth {
    child: Child,
    log: PathBuf,
    admin: String,
}

impl KubeAuth {
    async fn start(place: &Place) -> Self {
        let log = place.path("portico.log");
        let child = Command::new(env!("CARGO_BIN_EXE_portico"))
            .args(["kube-auth", "--config"])
            .arg(place.config_file())
            .env_clear()
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let admin = place.config["admin"]["listen"].as_str().unwrap().to_owned();
        let started = Self { child, log, admin };
        started.wait_for_log("ready", 1).await;
        started
    }

    fn hang_up(&self) {
        kill_process(Pid::from_child(&self.child), Signal::HUP).unwrap();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until the log has a text so often.
    async fn wait_for_log(&self, text: &str, times: usize) {
        let until = Instant::now() + RELOAD_TIMEOUT;
        while self.log().matches(text).count() < times {
            assert!(
                Instant::now() < until,
                "{text:?} {times} times: {}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn expiry_of(&self, key: &str) -> Option<String> {
        let url = format!("http://{}/metrics", self.admin);
        let text = reqwest::get(url).await.unwrap().text().await.unwrap();
        let name = "portico_certificate_expiry_timestamp_seconds";
        let series = format!("{name}{{certificate=\"{key}\"}} ");
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(&series).map(str::to_owned))
    }
}

impl Drop for KubeAuth {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn finding_o13_a_reload_reports_changed_keys_and_every_fault() {
    let mut place = Place::new().await;
    place.config["store"]["url"] = json!("postgres://portico:hush-1@127.0.0.1/portico");
    let kube_auth = KubeAuth::start(&place).await;
    kube_auth.hang_up();
    let unchanged = "no key of the configuration has changed since the start";
    kube_auth.wait_for_log(unchanged, 1).await;

    place.config["store"]["url"] = json!("postgres://portico:hush-2@127.0.0.1/portico");
    place.config["shutdown"] = json!({ "notice": "5s" });
    let good = std::fs::read_to_string(place.config_file()).unwrap();
    kube_auth.hang_up();
    let restart = "take effect after a restart: shutdown.notice, store.url";
    kube_auth.wait_for_log(restart, 1).await;
    assert!(kube_auth.log().contains("WARN"), "{}", kube_auth.log());

    // each time, not only the first
    place.write("portico.toml", &good.replace("\"5s\"", "\"5\""));
    for times in 1..=2 {
        kube_auth.hang_up();
        let fault = "the configuration cannot be used, the running one stays";
        kube_auth.wait_for_log(fault, times).await;
    }
    let log = kube_auth.log();
    assert!(
        log.contains("shutdown.notice: must be a time with its unit"),
        "{log}"
    );

    let authority = std::fs::read_to_string(place.path("ca.crt")).unwrap();
    place.write("ca.crt", "no certificate");
    for times in 1..=2 {
        kube_auth.hang_up();
        kube_auth
            .wait_for_log("new certificate not usable", times)
            .await;
    }
    place.write("ca.crt", &authority);
    place.write("portico.toml", &good);
    kube_auth.hang_up();
    kube_auth.wait_for_log(restart, 2).await;
    kube_auth.wait_for_log("certificate is unchanged", 2).await;
    assert!(!kube_auth.log().contains("hush"), "{}", kube_auth.log());
}

#[tokio::test]
async fn finding_o16_the_expiry_of_certificates_is_a_metric_that_a_reload_updates() {
    let mut place = Place::new().await;
    let names = ["127.0.0.1", "localhost"];
    let (certificate, key) = place.certificate("own", &names, VALID_YEARS);
    place.config["kube_auth"]["tls_cert_file"] = json!(certificate);
    place.config["kube_auth"]["tls_key_file"] = json!(key);
    let kube_auth = KubeAuth::start(&place).await;
    let served = "kube_auth.tls_cert_file";
    // 2120-01-01
    let before = kube_auth.expiry_of(served).await;
    assert_eq!(before.as_deref(), Some("4733510400"));
    assert!(
        kube_auth
            .expiry_of("kube_auth.client_ca_file")
            .await
            .is_some()
    );
    assert_eq!(kube_auth.expiry_of("gateway.tls_cert_file").await, None);

    place.certificate("own", &names, (2020, 2100));
    kube_auth.hang_up();
    let until = Instant::now() + RELOAD_TIMEOUT;
    // 2100-01-01
    while kube_auth.expiry_of(served).await.as_deref() != Some("4102444800") {
        assert!(
            Instant::now() < until,
            "{:?}",
            kube_auth.expiry_of(served).await
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
