use super::{DRAIN, DrainRequest, OpenDrain, open_among, view};
use crate::service::lifecycle::journal::{RequestContent, RequestOutcome};
use jiff::{SignedDuration, Timestamp};
use portico_domain::panel::{
    DrainPod, DrainProgress, DrainState,
    lifecycle::{NodeDrain, NodeDrainStage},
};

fn request() -> DrainRequest {
    DrainRequest {
        is_stop: false,
        server: "11111111".to_owned(),
        name: "node-1".to_owned(),
    }
}

/// Returns what is shown after this time.
fn shown(states: &[DrainState], minutes: i64) -> NodeDrain {
    shown_with(states, &[], minutes)
}

fn shown_with(states: &[DrainState], budgets: &[String], minutes: i64) -> NodeDrain {
    let pods = states.iter().map(|state| DrainPod {
        namespace: "shop".to_owned(),
        name: format!("{state:?}").to_lowercase(),
        state: *state,
        reason: None,
        missing: None,
    });
    let open = OpenDrain {
        request: request(),
        begun_at: Timestamp::UNIX_EPOCH,
    };
    let progress = DrainProgress {
        pods: pods.collect(),
    };
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
    view(&open, &Ok(progress), budgets, now)
}

#[test]
fn the_target_of_a_request_is_read_as_it_was_written() {
    for wanted in [request(), request().stopped()] {
        assert_eq!(wanted.to_string().parse::<DrainRequest>(), Ok(wanted));
    }
    for text in ["", "begin", "begin s", "drain s n"] {
        assert_eq!(text.parse::<DrainRequest>(), Err(()), "{text}");
    }
    assert_eq!(request().title(), "Drain the node node-1");
}

#[test]
fn a_drain_ends_with_the_pods_that_belong_to_the_node() {
    let drained = shown(&[DrainState::Stays], 30);
    assert_eq!(drained.stage, NodeDrainStage::Drained);
    assert!(drained.pods.is_empty());
    let draining = shown(&[DrainState::Stays, DrainState::Terminating], 1);
    assert_eq!(draining.stage, NodeDrainStage::Draining);
    assert_eq!(draining.pods.len(), 1);
    let stuck = shown(&[DrainState::NeedsUser], 1);
    assert_eq!(stuck.stage, NodeDrainStage::NeedsUser);
    assert!(stuck.text.contains("shop/needsuser"), "{}", stuck.text);
}

#[test]
fn after_ten_minutes_the_pods_that_a_budget_holds_back_are_named() {
    let states = [DrainState::Blocked, DrainState::Terminating];
    assert_eq!(shown(&states, 9).stage, NodeDrainStage::Draining);
    let over = shown(&states, 10);
    assert_eq!(over.stage, NodeDrainStage::TimedOut);
    assert!(over.text.contains("2 pods are left"), "{}", over.text);
    assert!(
        over.text.contains("hold back shop/blocked"),
        "{}",
        over.text
    );
    // no eviction was tried since: the budgets were read
    let budgets = ["shop/web".to_owned()];
    let over = shown_with(&[DrainState::Waiting], &budgets, 11);
    assert!(
        over.text.contains("no disruption now: shop/web"),
        "{}",
        over.text
    );
}

#[test]
fn a_drain_of_which_nothing_can_be_read_is_not_known() {
    let open = OpenDrain {
        request: request(),
        begun_at: Timestamp::UNIX_EPOCH,
    };
    let reason = Err("The API server cannot be reached.".to_owned());
    let unknown = view(&open, &reason, &[], Timestamp::UNIX_EPOCH);
    assert_eq!(unknown.stage, NodeDrainStage::Unknown);
    assert!(unknown.text.ends_with("cannot be reached."));
}

#[test]
fn a_drain_is_open_from_its_beginning_until_it_is_stopped() {
    let of = |request: &DrainRequest, outcome: RequestOutcome| {
        let content = RequestContent {
            action: DRAIN.to_owned(),
            target: request.to_string(),
            user_id: "ada".to_owned(),
            user_name: "ada".to_owned(),
            request_id: None,
            reason: None,
            outcome,
            // why the first evictions have failed
            answer: Some("The API server does not answer.".to_owned()),
        };
        (Timestamp::UNIX_EPOCH, content)
    };
    for (outcome, is_open) in [
        (RequestOutcome::Accepted, true),
        (RequestOutcome::Unknown, true),
        (RequestOutcome::Failed, false),
        (RequestOutcome::Refused, false),
    ] {
        let begun = [of(&request(), outcome)];
        assert_eq!(open_among(&begun).is_some(), is_open, "{outcome:?}");
    }
    let stopped = [
        of(&request().stopped(), RequestOutcome::Accepted),
        of(&request(), RequestOutcome::Accepted),
    ];
    assert_eq!(open_among(&stopped), None);
}
