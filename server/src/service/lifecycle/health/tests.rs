//! The health of a cluster, with Magnum inside of the test.
use super::{of, probe::result};
use crate::{
    kube::KubeError,
    service::lifecycle::{
        fixtures::{self, CLUSTER},
        own,
        stand_in::{Mode, StandIn},
    },
};
use portico_domain::panel::{
    Health,
    lifecycle::{ApiServerProbe, ClusterHealth, HealthHistory, ProbeResult},
};
use serde_json::{Value, json};
use std::time::Duration;

const LATENCY: Duration = Duration::from_millis(12);

/// Returns the health of a cluster that Magnum has with these fields.
async fn health(fields: Value, answer: Result<Value, KubeError>) -> ClusterHealth {
    let mut cluster = fixtures::json("CREATE_COMPLETE");
    for (key, value) in fields.as_object().unwrap() {
        cluster[key] = value.clone();
    }
    let magnum = StandIn::start(Mode::Cluster(cluster)).await;
    let bob = magnum.viewer("bob", &["reader"]);
    let found = own::cluster(&magnum.clients, &bob, CLUSTER).await.unwrap();
    let probe = ApiServerProbe {
        result: result(answer, LATENCY),
        measured_at: Some(1_800_000_000),
    };
    of(&found, probe, HealthHistory::default())
}

fn version() -> Result<Value, KubeError> {
    Ok(json!({"gitVersion": "v1.31.4"}))
}

#[tokio::test]
async fn case_46_health_that_magnum_does_not_measure_is_neither_bad_nor_old() {
    for word in [Value::Null, json!("UNKNOWN")] {
        let found = health(json!({"health_status": word}), version()).await;
        assert_eq!(found.magnum.health, Health::Unknown);
        assert_eq!(found.disagreement, None);
    }
    let fields = json!({"health_status": null, "health_status_reason": null});
    let found = health(fields, Err(KubeError::Timeout(3))).await;
    assert_eq!(found.magnum.status, "Not measured");
    assert!(!found.magnum.is_measured);
    assert_eq!(found.magnum.reported_at, None);
    assert!(found.magnum.parts.is_empty());
    // what is not measured contradicts nothing
    assert_eq!(found.disagreement, None);
}

#[tokio::test]
async fn case_47_a_report_and_a_probe_that_differ_are_both_in_the_answer() {
    let found = health(json!({}), Err(KubeError::Timeout(3))).await;
    assert_eq!(found.magnum.status, "Healthy");
    assert!(found.magnum.reported_at.is_some());
    assert!(matches!(found.probe.result, ProbeResult::Failed { .. }));
    assert!(found.probe.measured_at.is_some());
    let text = found.disagreement.unwrap();
    assert!(text.contains("did not answer Portico"), "{text}");
    let bad = json!({"health_status": "UNHEALTHY", "health_status_reason": {"api": "error"}});
    let found = health(bad, version()).await;
    assert_eq!(found.magnum.health, Health::Warning);
    assert!(found.disagreement.unwrap().contains("answered Portico"));
    // control cases: both agree, or the report is about a node
    let found = health(json!({}), version()).await;
    assert_eq!(found.disagreement, None);
    let of_node = json!({"health_status": "UNHEALTHY",
                         "health_status_reason": {"api": "ok", "node-1.Ready": "False"}});
    let found = health(of_node, version()).await;
    assert_eq!(found.disagreement, None);
    assert_eq!(found.magnum.parts[0].text, "not ready");
}

#[tokio::test]
async fn an_age_that_magnum_does_not_have_is_not_known() {
    let found = health(json!({"updated_at": null}), version()).await;
    assert_eq!(found.magnum.status, "Healthy");
    assert_eq!(found.magnum.reported_at, None);
}

#[tokio::test]
async fn case_48_auto_healing_is_shown_and_cannot_be_changed() {
    for (labels, is_on, text) in [
        (
            json!({"auto_healing_enabled": "false"}),
            Some(false),
            "Off (label auto_healing_enabled=false)",
        ),
        (
            json!({"auto_healing_enabled": "True"}),
            Some(true),
            "On (label auto_healing_enabled=True)",
        ),
        (
            json!({}),
            None,
            "Not chosen (no label auto_healing_enabled): the driver's default applies",
        ),
    ] {
        let found = health(json!({"labels": labels}), version()).await;
        assert_eq!(
            (found.healing.is_on, found.healing.text.as_str()),
            (is_on, text)
        );
        let note = found.healing.note;
        assert!(note.contains("cannot change it later"), "{note}");
    }
}

#[test]
fn a_refusal_is_an_answer_and_an_error_of_the_server_is_a_failure() {
    let ProbeResult::Reachable {
        version,
        latency_micros,
        note,
    } = result(Ok(json!({"gitVersion": "v1.31.4"})), LATENCY)
    else {
        panic!("it answered");
    };
    assert_eq!((version.as_deref(), note), (Some("v1.31.4"), None));
    assert_eq!(latency_micros, 12_000);
    let refused = result(Err(KubeError::Unauthenticated), LATENCY);
    let ProbeResult::Reachable { version, note, .. } = refused else {
        panic!("a refusal is an answer");
    };
    assert!(version.is_none() && note.is_some());
    let broken = KubeError::Server {
        status: 500,
        message: "etcd".to_owned(),
    };
    for error in [KubeError::Unreachable("refused".to_owned()), broken] {
        let failed = result(Err(error), LATENCY);
        assert!(matches!(failed, ProbeResult::Failed { .. }), "{failed:?}");
    }
}
