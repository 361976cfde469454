//! Creations whose response was lost.
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::idempotency::{
    Attempt, Candidate, Decision, Delivery, LostResponse, MARKER_LABEL, decide, mark,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn attempt(delivery: Delivery) -> Attempt {
    Attempt {
        marker: "m1".to_owned(),
        name: "shop".to_owned(),
        sent_at: (delivery != Delivery::NotSent).then(|| at(0)),
        delivery,
    }
}

fn candidate(uuid: &str, name: &str, marker: Option<&str>, created: i64) -> Candidate {
    Candidate {
        uuid: uuid.to_owned(),
        name: name.to_owned(),
        marker: marker.map(str::to_owned),
        created_at: Some(at(created)),
    }
}

fn decision(delivery: Delivery, found: &[Candidate], seconds: i64) -> Decision {
    decide(&attempt(delivery), Some(found), at(seconds))
}

#[test]
fn a_request_that_did_not_reach_magnum_is_sent() {
    let others = [
        candidate("u1", "shop", Some("m0"), -900),
        candidate("u2", "web", None, 1),
    ];
    assert_eq!(decision(Delivery::NotSent, &others, 1), Decision::Send);
    assert_eq!(decision(Delivery::Refused, &others, 1), Decision::Send);
}

#[test]
fn an_accepted_request_is_never_sent_again() {
    let accepted = Delivery::Accepted("u1".to_owned());
    assert_eq!(
        decision(accepted.clone(), &[], 600),
        Decision::Adopt("u1".to_owned())
    );
    assert_eq!(
        decide(&attempt(accepted), None, at(600)),
        Decision::Adopt("u1".to_owned())
    );
}

#[test]
fn an_attempt_that_was_stored_before_it_was_sent_is_never_sent_again() {
    let mut attempt = Attempt::new("m1", "shop");
    assert_eq!(decide(&attempt, Some(&[]), at(0)), Decision::Send);
    let body = attempt.marked(&Map::new());
    assert_eq!(body["labels"][MARKER_LABEL], "m1");
    attempt.begin_sending(at(0));
    // what is stored is read by another process
    let stored = serde_json::to_string(&attempt).unwrap();
    let read: Attempt = serde_json::from_str(&stored).unwrap();
    for seconds in [0, 60, 9000] {
        assert_ne!(decide(&read, Some(&[]), at(seconds)), Decision::Send);
    }
    attempt.accept("u1");
    let stored = serde_json::to_string(&attempt).unwrap();
    let read: Attempt = serde_json::from_str(&stored).unwrap();
    let nothing: &[Candidate] = &[];
    for found in [None, Some(nothing)] {
        let adopted = Decision::Adopt("u1".to_owned());
        assert_eq!(decide(&read, found, at(9000)), adopted);
    }
}

#[test]
fn a_lost_response_is_found_by_its_marker() {
    let found = [
        candidate("u1", "shop", None, 1),
        candidate("u2", "shop", Some("m1"), 1),
    ];
    for delivery in [Delivery::Unknown, Delivery::NotSent, Delivery::Refused] {
        // also before a first attempt: the form may have been submitted twice
        assert_eq!(
            decision(delivery, &found, 1),
            Decision::Adopt("u2".to_owned())
        );
    }
}

#[test]
fn a_lost_response_without_a_record_is_looked_for_and_then_asked_about() {
    // a request that timed out after 65 s is looked for during another minute
    for seconds in [0, 1, 65, 124] {
        assert_eq!(
            decision(Delivery::Unknown, &[], seconds),
            Decision::LookAgain(at(seconds + 2))
        );
    }
    // Magnum's queue may still hold it: it is never sent again without the user
    for seconds in [125, 3600] {
        assert_eq!(
            decision(Delivery::Unknown, &[], seconds),
            Decision::Ask(LostResponse::NothingFound)
        );
    }
}

#[test]
fn an_unmarked_cluster_of_the_name_is_offered_only_if_it_is_new() {
    let old = candidate("old", "shop", None, -3600);
    let other = candidate("other", "web", None, 1);
    let of_another_request = candidate("marked", "shop", Some("m0"), 1);
    let new = candidate("new", "shop", None, -30);
    let found = [old.clone(), other.clone(), of_another_request.clone(), new];
    let Decision::Ask(asked) = decision(Delivery::Unknown, &found, 126) else {
        panic!("the user decides");
    };
    assert_eq!(asked, LostResponse::SameName(vec!["new".to_owned()]));
    assert!(asked.to_string().contains("Choose yours"));
    assert_eq!(
        decision(Delivery::Unknown, &[old, other, of_another_request], 126),
        Decision::Ask(LostResponse::NothingFound)
    );
}

#[test]
fn several_clusters_of_one_request_are_shown_oldest_first() {
    let found = [
        candidate("u2", "shop", Some("m1"), 9),
        candidate("u1", "shop", Some("m1"), 1),
    ];
    let asked = decision(Delivery::Unknown, &found, 10);
    let uuids = vec!["u1".to_owned(), "u2".to_owned()];
    assert_eq!(asked, Decision::Ask(LostResponse::Duplicates(uuids)));
}

#[test]
fn nothing_is_sent_while_the_clusters_cannot_be_listed() {
    for delivery in [Delivery::NotSent, Delivery::Refused, Delivery::Unknown] {
        let decision = decide(&attempt(delivery), None, at(5));
        assert_eq!(decision, Decision::LookAgain(at(7)));
    }
}

#[test]
fn no_sequence_of_lost_responses_makes_a_second_cluster() {
    // Magnum makes the cluster some time after the request, or never; every response is lost
    for appears_after in [Some(0), Some(5), Some(124), Some(300), None] {
        let mut attempt = attempt(Delivery::NotSent);
        attempt.sent_at = None;
        let mut sent = 0;
        for seconds in 0..900 {
            let sent_at = attempt.sent_at;
            let is_there = sent_at.is_some_and(|sent_at| {
                appears_after
                    .is_some_and(|after| at(seconds).duration_since(sent_at).as_secs() >= after)
            });
            let found: Vec<_> = is_there
                .then(|| candidate("u1", "shop", Some("m1"), seconds))
                .into_iter()
                .collect();
            match decide(&attempt, Some(&found), at(seconds)) {
                Decision::Send => {
                    sent += 1;
                    attempt.sent_at = Some(at(seconds));
                    attempt.delivery = Delivery::Unknown;
                }
                Decision::Adopt(uuid) => {
                    assert_eq!(uuid, "u1");
                    assert!(is_there);
                }
                Decision::LookAgain(_) | Decision::Ask(_) => {}
            }
        }
        assert_eq!(sent, 1, "{appears_after:?}");
    }
}

#[test]
fn the_marker_is_merged_into_the_labels() {
    let mut request = Map::new();
    mark(&mut request, "m1");
    assert_eq!(
        Value::Object(request.clone()),
        json!({ "merge_labels": true, "labels": { MARKER_LABEL: "m1" } })
    );
    request["labels"]["kube_tag"] = json!("v1.31.0");
    mark(&mut request, "m2");
    assert_eq!(
        request["labels"],
        json!({ MARKER_LABEL: "m2", "kube_tag": "v1.31.0" })
    );
}
