//! A real pod on a node of the stack, whose container prints numbered lines at an even rate.
use super::portico::VIEWER_ROLE;
use anyhow::{Context as _, Result};
use portico_testkit::{Kubectl, TestEnv};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};
use tokio::time::sleep;

pub const LINES_PER_SECOND: u64 = 5_000;
/// The stack's log page leaves this namespace out (scripts/services/logs.sh).
const NAMESPACE: &str = "bench-logs";
const POD: &str = "printer";
const CONTAINER: &str = "main";
/// The nodes have it already.
const IMAGE: &str = "localhost/busybox:1.35";
/// The pod ends by itself this long after the measurement, if the benchmark was interrupted.
const SPARE_SECONDS: u64 = 300;
const ACCOUNT_TIMEOUT: Duration = Duration::from_secs(30);
/// For BusyBox' awk, which has no clock finer than a second: the uptime has hundredths. What is due
/// by the clock is printed twenty times a second, so that a late turn does not lower the rate.
const PROGRAM: &str = r#"BEGIN {
  while (1) {
    getline uptime < "/proc/uptime"
    close("/proc/uptime")
    split(uptime, times, " ")
    if (!begin) begin = times[1]
    due = int((times[1] - begin) * rate)
    for (; line < due; line++)
      printf "level=%s msg=\"order placed\" line=%d took_ms=%d path=/api/v1/orders/%08d customer=%05d\n", \
        line % 50 ? "info" : "warn", line + 1, line % 397 + 3, line * 7919 % 100000000, line % 70001
    system("sleep 0.05")
  }
}"#;

/// Starts the pod, and waits until it is ready. It prints for at least `seconds`, until [`remove`].
///
/// # Errors
/// If the stack has no nodes, or its cluster refuses the pod.
pub async fn start(env: &TestEnv, seconds: u64) -> Result<()> {
    let kubectl = Kubectl::admin(env)?;
    // of a run that was interrupted
    remove(env).await?;
    kubectl.run(&["create", "namespace", NAMESPACE]).await?;
    let group = format!("--group={}", env.get(VIEWER_ROLE)?);
    kubectl
        .run(&[
            "create",
            "rolebinding",
            "bench-viewer",
            "--clusterrole=portico-viewer",
            &group,
            "--namespace",
            NAMESPACE,
        ])
        .await?;
    wait_for_account(&kubectl).await?;
    let mut manifest = tempfile::NamedTempFile::new()?;
    manifest.write_all(pod(seconds).to_string().as_bytes())?;
    let file = manifest.path().display().to_string();
    kubectl.run(&["create", "--filename", &file]).await?;
    let pod = format!("pod/{POD}");
    kubectl
        .run(&[
            "wait",
            "--for=condition=Ready",
            "--timeout=60s",
            "--namespace",
            NAMESPACE,
            &pod,
        ])
        .await?;
    Ok(())
}

/// Deletes the pod with its namespace and log, if they are there.
///
/// # Errors
/// If the cluster refuses.
pub async fn remove(env: &TestEnv) -> Result<()> {
    let arguments = [
        "delete",
        "namespace",
        NAMESPACE,
        "--ignore-not-found",
        "--timeout=90s",
    ];
    Kubectl::admin(env)?.run(&arguments).await.map(drop)
}

/// Returns the path of the log below that of the cluster's pages.
pub fn path() -> String {
    format!("/namespaces/{NAMESPACE}/core/v1/pods/{POD}/logs")
}

/// Waits for the namespace's service account, without which no pod is admitted.
async fn wait_for_account(kubectl: &Kubectl) -> Result<()> {
    let arguments = ["get", "serviceaccount", "default", "--namespace", NAMESPACE];
    let since = Instant::now();
    loop {
        match kubectl.run(&arguments).await {
            Ok(_) => return Ok(()),
            Err(error) if since.elapsed() > ACCOUNT_TIMEOUT => {
                return Err(error).context("the namespace got no service account");
            }
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Returns the pod, within what the restricted pod security policy permits.
fn pod(seconds: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": POD, "namespace": NAMESPACE, "labels": {"app": POD}},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": seconds + SPARE_SECONDS,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": false,
            "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": true},
            "containers": [{
                "name": CONTAINER, "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["awk", "-v", format!("rate={LINES_PER_SECOND}"), PROGRAM],
                "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
            }],
        },
    })
}
