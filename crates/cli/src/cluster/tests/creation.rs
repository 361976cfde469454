use super::stand_in::{CLUSTER, StandIn, TEMPLATE, cluster, created, error};
use super::{Machine, Ran};
use crate::private_file;
use jiff::SignedDuration;
use portico_clock::Clock;
use portico_lifecycle::idempotency::MARKER_LABEL;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const CREATE: [&str; 6] = ["create", "shop", "-t", "small", "--set", "kube_tag=v1.31.2"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    CREATE.iter().copied().chain(more.iter().copied()).collect()
}

/// Stores an attempt that was sent three minutes ago, and whose response was lost.
async fn lost_attempt(machine: &Machine, cloud: &StandIn) {
    // makes the directory and names the file
    let file = format!("{:?}", machine.attempt(cloud, "shop").await);
    let path = file.split('"').nth(1).unwrap();
    let sent_at = Clock::system().now() - SignedDuration::from_mins(3);
    let attempt =
        json!({"marker": "mine", "name": "shop", "sent_at": sent_at, "delivery": "unknown"});
    private_file::replace(path.as_ref(), &attempt.to_string()).unwrap();
}

fn marked(marker: &str) -> Value {
    let mut cluster = cluster(CLUSTER, "shop", "CREATE_IN_PROGRESS");
    cluster["labels"] = json!({MARKER_LABEL: marker});
    cluster
}

#[tokio::test]
async fn a_dry_run_sends_nothing_and_shows_plan_labels_quota_checks_and_request() {
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![]).await);
    let ran = machine.run(&cloud, &with(&["--dry-run"]), None).await;
    assert_eq!((ran.code, cloud.calls().len()), (0, 0), "{}", ran.err);
    assert_ran!("dry_run", ran);
    let ran = machine
        .run(&cloud, &with(&["--dry-run", "-o", "json"]), None)
        .await;
    assert_eq!(ran.json()["request"]["cluster_template_id"], TEMPLATE);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn the_request_merges_labels_and_acts_by_uuid() {
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![]).await);
    let ran = machine
        .run(&cloud, &with(&["--no-wait", "-o", "json"]), None)
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(cloud.calls(), ["POST clusters"]);
    let body = &cloud.changes()[0].body;
    assert_eq!(body["cluster_template_id"], TEMPLATE);
    assert_eq!(body["merge_labels"], true);
    assert_eq!(body["labels"]["kube_tag"], "v1.31.2");
    assert!(body["labels"][MARKER_LABEL].is_string());
    assert_eq!(ran.json()[0]["uuid"], CLUSTER);
}

#[tokio::test]
async fn case_16_a_lost_response_never_creates_a_second_cluster() {
    let cloud = StandIn::start(vec![], |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        clusters.push(created(request, "CREATE_IN_PROGRESS"));
        Some((504, json!("<html>a proxy gave up</html>")))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine
        .run(&cloud, &with(&["--no-wait", "-o", "json"]), None)
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("The response was lost"), "{}", ran.err);
    assert_eq!(ran.json()[0]["uuid"], CLUSTER);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn an_earlier_run_with_a_lost_response_is_continued_and_not_repeated() {
    let machine = Machine::new();
    let cloud = StandIn::with(vec![marked("mine")]).await;
    lost_attempt(&machine, &cloud).await;
    let ran = machine
        .run(&cloud, &with(&["--no-wait", "-o", "name"]), None)
        .await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "shop\n"), "{}", ran.err);
    assert!(cloud.calls().is_empty());
    // the attempt has ended: the next run is another creation
    let ran = machine.run(&cloud, &with(&["--no-wait"]), None).await;
    assert_eq!((ran.code, cloud.calls().len()), (0, 1), "{}", ran.err);
}

#[tokio::test]
async fn without_a_trace_of_a_lost_request_the_user_decides() {
    let machine = Machine::new();
    let cloud = StandIn::with(vec![]).await;
    lost_attempt(&machine, &cloud).await;
    for _ in 0..2 {
        let ran = machine.run(&cloud, &with(&["--no-wait"]), None).await;
        assert_ran!("lost_request_without_a_trace", ran);
    }
    assert!(cloud.calls().is_empty());
    let ran = machine
        .run(&cloud, &with(&["--no-wait", "--new-attempt"]), None)
        .await;
    assert_eq!((ran.code, cloud.calls().len()), (0, 1), "{}", ran.err);
}

#[tokio::test]
async fn case_59_a_request_without_a_record_is_not_repeated() {
    let appears = Arc::new(AtomicBool::new(false));
    let of_cloud = Arc::clone(&appears);
    let cloud = StandIn::start(vec![], move |request, clusters| {
        if request.path == format!("clusters/{CLUSTER}") && of_cloud.load(Ordering::SeqCst) {
            clusters.push(cluster(CLUSTER, "shop", "CREATE_COMPLETE"));
        }
        (request.method == "POST").then(|| (202, json!({"uuid": CLUSTER})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    for name in ["request_without_a_record", "second_run_without_a_record"] {
        let ran = machine.run(&cloud, &with(&["--wait"]), None).await;
        assert_ran!(name, ran);
    }
    appears.store(true, Ordering::SeqCst);
    let ran = machine.run(&cloud, &with(&["--wait"]), None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn case_59_an_administrator_learns_that_no_conductor_answers() {
    let is_down = AtomicBool::new(false);
    let cloud = StandIn::start(vec![], move |request, _| {
        if request.method == "POST" {
            is_down.store(true, Ordering::SeqCst);
            return Some((202, json!({"uuid": CLUSTER})));
        }
        let state = if is_down.load(Ordering::SeqCst) {
            "down"
        } else {
            "up"
        };
        let conductor = json!({"id": 1, "host": "m", "binary": "magnum-conductor", "state": state});
        let is_asked = request.path == "mservices";
        is_asked.then(|| (200, json!({"mservices": [conductor]})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine.run(&cloud, &with(&["--wait"]), None).await;
    assert_ran!("no_conductor_after_the_request", ran);
    let other = ["create", "other", "-t", "small", "--wait"];
    let ran = machine.run(&cloud, &other, None).await;
    assert_ran!("no_conductor", ran);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn a_cluster_that_could_not_be_read_at_the_end_is_continued_and_not_made_again() {
    let reads = Arc::new(AtomicUsize::new(0));
    let of_cloud = Arc::clone(&reads);
    let cloud = StandIn::start(vec![], move |request, _| {
        // the first read finds the record, the second one is the last step of the command
        let is_lost = request.path == format!("clusters/{CLUSTER}")
            && of_cloud.fetch_add(1, Ordering::SeqCst) == 1;
        is_lost.then(|| (502, json!("<html>no service</html>")))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let words = with(&["--no-wait", "-o", "name"]);
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("cluster_that_could_not_be_read", ran);
    assert_eq!(reads.load(Ordering::SeqCst), 2);
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "shop\n"), "{}", ran.err);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn an_accepted_request_is_not_repeated_after_its_record_could_not_be_read() {
    let is_refused = Arc::new(AtomicBool::new(true));
    let of_cloud = Arc::clone(&is_refused);
    let cloud = StandIn::start(vec![], move |request, _| {
        let is_read = request.path == format!("clusters/{CLUSTER}");
        (is_read && of_cloud.load(Ordering::SeqCst)).then(|| (403, error("not yet")))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine.run(&cloud, &with(&["--no-wait"]), None).await;
    assert_eq!(ran.code, 5, "{}", ran.err);
    is_refused.store(false, Ordering::SeqCst);
    let ran = machine.run(&cloud, &with(&["--no-wait"]), None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("An earlier run"), "{}", ran.err);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn a_record_without_node_groups_is_read_again() {
    let reads = AtomicUsize::new(0);
    let cloud = StandIn::start(vec![], move |request, _| {
        let is_first = request.path == format!("clusters/{CLUSTER}")
            && reads.fetch_add(1, Ordering::SeqCst) == 0;
        // as the real Magnum does
        is_first.then(|| {
            (
                400,
                error("Invalid input for field/attribute master_count. Value: '0'."),
            )
        })
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine.run(&cloud, &with(&["--wait"]), None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(cloud.calls(), ["POST clusters"]);
}

async fn refused(machine: &Machine, cloud: &StandIn, words: &[&str]) -> Ran {
    let ran = machine.run(cloud, words, None).await;
    assert_eq!(cloud.calls(), [""; 0], "{words:?}");
    ran
}

#[tokio::test]
async fn what_the_checks_forbid_is_not_sent() {
    let machine = Machine::new();
    let cloud = StandIn::with(vec![]).await;
    let ran = refused(&machine, &cloud, &with(&["--masters", "2"])).await;
    assert_ran!("even_number_of_control_plane_nodes", ran);
    let ran = refused(&machine, &cloud, &["create", "shop", "-t", "nosuch"]).await;
    assert_ran!("unknown_template", ran);
    let body = json!({"name": "shop", "cluster_template_id": "small", "nodes": 3});
    let path = machine.file("body.json", &body.to_string());
    let ran = refused(&machine, &cloud, &["create", "--json", &path]).await;
    assert_ran!("unknown_key_of_a_request", ran);
    let full = ["a", "b", "c"].map(|name| cluster(CLUSTER, name, "CREATE_COMPLETE"));
    let mut full = full.to_vec();
    for (index, one) in full.iter_mut().enumerate() {
        one["uuid"] = json!(format!("900e3758-8071-430e-a8cf-5c48f428dc0{index}"));
    }
    let cloud = StandIn::with(full).await;
    let ran = refused(&machine, &cloud, &with(&[])).await;
    assert_ran!("full_quota", ran);
}

#[tokio::test]
async fn a_refusal_of_magnum_has_its_exit_code_and_the_request_id_and_is_forgotten() {
    for (status, detail, code) in [
        (400, "name is invalid", 7),
        (401, "no", 10),
        (403, "policy does not allow it", 5),
        (403, "Resource limit exceeded", 6),
        (409, "conflict", 4),
    ] {
        let cloud = StandIn::start(vec![], move |request, _| {
            (request.method == "POST").then(|| (status, error(detail)))
        });
        let (machine, cloud) = (Machine::new(), cloud.await);
        for _ in 0..2 {
            let ran = machine.run(&cloud, &with(&["-o", "json"]), None).await;
            assert_eq!(ran.code, code, "{detail}: {}", ran.err);
            let error: Value = serde_json::from_str(&ran.err).unwrap();
            assert_eq!(error["error"]["request_id"], "req-1", "{}", ran.err);
            assert_eq!(error["error"]["exit"], code);
        }
        assert_eq!(cloud.calls().len(), 2);
    }
}

#[tokio::test]
async fn case_19_a_failed_creation_ends_with_the_reason_and_exit_code_8() {
    let cloud = StandIn::start(vec![], |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        let mut cluster = created(request, "CREATE_FAILED");
        cluster["status_reason"] =
            json!("Quota exceeded for cores: Requested 4, but already used 20 of 20 cores");
        clusters.push(cluster);
        Some((202, json!({"uuid": CLUSTER})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine.run(&cloud, &with(&["--wait"]), None).await;
    assert_eq!(ran.code, 8, "{}", ran.err);
    for part in ["CREATE_FAILED", "Why: ", "20 of 20", "Next: "] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
}

#[tokio::test]
async fn case_21_waiting_times_out_and_prints_how_to_continue() {
    let cloud = StandIn::start(vec![], |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        clusters.push(created(request, "CREATE_IN_PROGRESS"));
        Some((202, json!({"uuid": CLUSTER})))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let ran = machine
        .run(&cloud, &with(&["--wait", "--timeout", "0s"]), None)
        .await;
    assert_eq!(ran.code, 9, "{}", ran.err);
    let resume = format!("portico cluster watch {CLUSTER}");
    assert!(ran.err.contains(&resume), "{}", ran.err);
}

#[tokio::test]
async fn a_waited_creation_shows_its_steps_and_ends() {
    let (machine, cloud) = (Machine::new(), StandIn::with(vec![]).await);
    let ran = machine
        .run(&cloud, &with(&["--wait", "-o", "json"]), None)
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("Control plane: done"), "{}", ran.err);
    // one final object, the steps are on standard error
    assert_eq!(ran.json()[0]["status"], "CREATE_COMPLETE");
}

#[tokio::test]
async fn case_58_options_and_their_printed_file_make_the_same_request() {
    let machine = Machine::new();
    let options = with(&[
        "--workers",
        "3",
        "--masters",
        "3",
        "--api",
        "198.51.100.0/24",
    ]);
    let dry: Vec<_> = options
        .iter()
        .copied()
        .chain(["--dry-run", "-o", "yaml"])
        .collect();
    let plain: Vec<_> = options.iter().copied().chain(["--no-wait"]).collect();
    let (first, second) = (StandIn::with(vec![]).await, StandIn::with(vec![]).await);
    let ran = machine.run(&first, &dry, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = machine.file("shop.yaml", &ran.out);
    assert_eq!(machine.run(&first, &plain, None).await.code, 0);
    let of_file = ["create", "-f", &path, "--no-wait"];
    assert_eq!(machine.run(&second, &of_file, None).await.code, 0);
    let body = |cloud: &StandIn| {
        let mut body = cloud.changes()[0].body.clone();
        body["labels"][MARKER_LABEL] = json!(null);
        body
    };
    assert_eq!(body(&first), body(&second));
}
