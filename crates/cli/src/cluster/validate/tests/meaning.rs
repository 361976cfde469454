use super::{alice, cluster};
use crate::cluster::kubernetes::ApiError;
use crate::cluster::validate::checks::{
    authentication, certificates, dns, is_ready, magnum, no_review, nodes,
};
use crate::cluster::validate::report::Outcome;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

fn node(name: &str, status: &str) -> Value {
    json!({"metadata": {"name": name},
           "status": {"conditions": [{"type": "MemoryPressure", "status": "False"},
                                     {"type": "Ready", "status": status}]}})
}

#[test]
fn magnum_must_have_finished_and_not_report_it_as_unhealthy() {
    for (status, health, outcome) in [
        ("CREATE_COMPLETE", json!("HEALTHY"), Outcome::Ok),
        ("UPDATE_COMPLETE", json!(null), Outcome::Ok),
        ("CREATE_COMPLETE", json!("UNKNOWN"), Outcome::Ok),
        ("CREATE_COMPLETE", json!("UNHEALTHY"), Outcome::Failed),
        ("CREATE_IN_PROGRESS", json!(null), Outcome::Failed),
        ("UPDATE_FAILED", json!("HEALTHY"), Outcome::Failed),
    ] {
        let found = cluster(&[("status", json!(status)), ("health_status", health.clone())]);
        let finding = magnum(&found);
        assert_eq!(finding.outcome, outcome, "{status} {health}: {finding:?}");
    }
}

#[test]
fn as_many_nodes_are_ready_as_magnum_has() {
    let two = cluster(&[]);
    let (a, b, c) = (node("a", "True"), node("b", "True"), node("c", "True"));
    let down = node("down", "Unknown");
    for (found, outcome, text) in [
        (vec![a.clone(), b.clone()], Outcome::Ok, "2 of 2"),
        (vec![a.clone()], Outcome::Failed, "fewer than the 2"),
        (vec![], Outcome::Failed, "0 nodes"),
        (
            vec![a.clone(), down.clone()],
            Outcome::Failed,
            "not Ready: down",
        ),
        // an autoscaler has added one
        (vec![a, b, c], Outcome::Ok, "more than the 2"),
    ] {
        let finding = nodes(&found, &two);
        assert_eq!(finding.outcome, outcome, "{finding:?}");
        assert!(finding.text.contains(text), "{finding:?}");
    }
    let unknown = cluster(&[("node_count", json!(null))]);
    assert_eq!(nodes(&[], &unknown).outcome, Outcome::NotChecked);
    let many: Vec<_> = (0..7).map(|n| node(&format!("n{n}"), "False")).collect();
    assert!(nodes(&many, &two).text.ends_with("and 2 more"));
    assert!(!is_ready(&json!({})));
}

#[test]
fn one_dns_pod_suffices_and_none_is_not_checked() {
    let (up, down) = (node("a", "True"), node("b", "False"));
    assert_eq!(dns(&[up, down.clone()]).outcome, Outcome::Ok);
    assert_eq!(dns(&[down]).outcome, Outcome::Failed);
    assert_eq!(dns(&[]).outcome, Outcome::NotChecked);
}

#[test]
fn the_cluster_must_see_the_user_of_the_cloud() {
    let review =
        |name: &str, uid: &str| json!({"status": {"userInfo": {"username": name, "uid": uid}}});
    let same = authentication(&review("alice@Default", "u1"), &alice());
    assert_eq!(same.outcome, Outcome::Ok, "{same:?}");
    for other in [
        review("kubernetes-admin", ""),
        review("alice@Default", "u2"),
        review("system:anonymous", "u1"),
    ] {
        let finding = authentication(&other, &alice());
        assert_eq!(finding.outcome, Outcome::Failed, "{finding:?}");
        assert!(finding.text.contains("alice@Default"), "{finding:?}");
    }
    assert_eq!(
        authentication(&json!({}), &alice()).outcome,
        Outcome::NotChecked
    );
}

#[test]
fn a_cluster_without_the_review_differs_from_one_that_refuses_the_token() {
    let absent = no_review(&ApiError::NotFound("selfsubjectreviews".to_owned()));
    assert_eq!(absent.outcome, Outcome::NotChecked);
    assert!(absent.text.contains("1.27"), "{absent:?}");
    assert_eq!(no_review(&ApiError::Unauthorized).outcome, Outcome::Failed);
    let forbidden = no_review(&ApiError::Forbidden("no".to_owned()));
    assert_eq!(forbidden.outcome, Outcome::NotChecked);
}

#[test]
fn a_certificate_that_ends_within_a_month_fails() {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["api".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2030, 1, 31);
    let made = params.self_signed(&key).unwrap();
    let (der, pem) = (made.der().to_vec(), made.pem());
    let end: Timestamp = "2030-01-31T00:00:00Z".parse().unwrap();
    let before = |days: i64| end - SignedDuration::from_hours(days * 24);
    let finding = certificates(Some(&der), Some(&pem), Some(&pem), before(40));
    assert_eq!(finding.outcome, Outcome::Ok, "{finding:?}");
    assert_eq!(
        finding.text,
        "API server: 40 days left, authority: 40 days left, authority of etcd: 40 days left; not checked: the \
         webhook's, which only the API server sees"
    );
    // Magnum does not give that of etcd to every user, and not every driver has one
    for etcd in [None, Some("no PEM")] {
        let finding = certificates(Some(&der), Some(&pem), etcd, before(40));
        assert_eq!(finding.outcome, Outcome::Ok, "{finding:?}");
        let text = "not checked: the authority of etcd";
        assert!(finding.text.contains(text), "{finding:?}");
    }
    let finding = certificates(Some(&der), None, None, before(29));
    assert_eq!(finding.outcome, Outcome::Failed, "{finding:?}");
    let finding = certificates(Some(&der), None, None, before(-2));
    assert!(finding.text.contains("-2 days left"), "{finding:?}");
    for (server, authority) in [(None, Some(pem.as_str())), (Some(&der[..]), Some("no PEM"))] {
        let finding = certificates(server, authority, None, before(40));
        assert_eq!(finding.outcome, Outcome::NotChecked, "{finding:?}");
    }
}
