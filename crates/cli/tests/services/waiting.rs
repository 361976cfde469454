//! Waiting for an operation that takes long, and leaving it.
use crate::tenant::{FULL, Tenant, create};
use portico_testkit::program;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn case_21_waiting_for_a_stalled_creation_ends_and_can_be_resumed() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("stalled");
        let more = ["--set", "sim_stall=network", "--wait", "--timeout", "3s"];
        let ran = tenant.cluster(&create(&name, &more)).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        let uuid = tenant.named(&name).await[0].uuid.to_string();
        let resume = format!("portico cluster watch {uuid}");
        assert!(ran.err.contains(&resume), "{}", ran.err);
        let ran = tenant.cluster(&["watch", &uuid, "--timeout", "1s"]).await;
        assert_eq!(ran.code, 9, "{}", ran.err);
        let step = "Network and security groups: running";
        assert!(ran.err.contains(step), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_22_an_interrupted_wait_leaves_the_operation_running() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("interrupted");
        let words = ["create", &name, "-t", FULL, "--keypair", "ops", "--wait"];
        let more = ["--workers", "1", "--set", "sim_seconds=6"];
        let mut child = tenant
            .person
            .command(&program("portico").unwrap())
            .arg("cluster")
            .args(words)
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut written = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            written += &line;
            written.push('\n');
            // it follows the creation from here on
            if line.contains("Accepted: done") {
                // until it waits, which it does not print
                sleep(Duration::from_millis(500)).await;
                let pid = child.id().unwrap().to_string();
                let sent = Command::new("kill").args(["-INT", &pid]).status().await;
                assert!(sent.unwrap().success());
            }
        }
        let ended = timeout(Duration::from_secs(10), child.wait()).await;
        let status = ended.unwrap().unwrap();
        assert_eq!(status.code(), Some(130), "{written}");
        let uuid = tenant.named(&name).await[0].uuid.to_string();
        let resume = format!("portico cluster watch {uuid}");
        assert!(written.contains(&resume), "{written}");
        let ran = tenant.cluster(&["watch", &uuid]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}
