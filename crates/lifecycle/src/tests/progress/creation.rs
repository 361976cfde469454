//! Creations that are followed.
use super::{Poll, at, report, seconds, states};
use crate::{
    driver::Family,
    progress::{Followed, Nodes, Outcome, Progress, StepName, StepState, Typical},
    status::Status,
    tests::examples::{masters, workers},
};

fn creation(family: Family) -> Progress {
    let followed = Followed::Creation {
        timeout_minutes: 60,
    };
    Progress::new(followed, family, at(0))
}

/// A cluster that Magnum has just begun.
fn begun() -> Poll {
    let mut poll = Poll::of("CREATE_IN_PROGRESS", 0);
    poll.cluster().api_address = None;
    poll.cluster().driver_id = None;
    poll
}

#[test]
fn all_steps_are_shown_before_the_first_poll() {
    let progress = creation(Family::ClusterApi);
    assert_eq!(
        states(&report(&progress, 1)),
        [
            "r Accepted",
            "p Certificates and credential",
            "p Network and security groups",
            "p Address of the API",
            "p Control plane",
            "p Add-ons",
        ]
    );
    let heat = states(&report(&creation(Family::Heat), 1));
    assert!(!heat.iter().any(|state| state.contains("credential")));
}

#[test]
fn a_record_that_is_missing_at_first_is_not_an_error() {
    let mut progress = creation(Family::ClusterApi);
    Poll::missing().seen_by(&mut progress, 0);
    let early = report(&progress, 1);
    assert_eq!(early.outcome, Outcome::Running);
    begun().seen_by(&mut progress, 2);
    let later = report(&progress, 3);
    assert_eq!(later.outcome, Outcome::Running);
    assert_eq!(later.steps[0].state, StepState::Done { took: seconds(2) });
}

#[test]
fn a_creation_without_a_record_after_30_seconds_was_not_acted_on() {
    let mut progress = creation(Family::ClusterApi);
    Poll::missing().seen_by(&mut progress, 29);
    // the last look was too early to know
    assert_eq!(report(&progress, 45).outcome, Outcome::Running);
    Poll::missing().seen_by(&mut progress, 31);
    let Outcome::NotActedOn(text) = report(&progress, 31).outcome else {
        panic!("it was not acted on");
    };
    assert!(text.contains("conductor may be down"), "{text}");
    // a slow conductor is noticed nevertheless
    begun().seen_by(&mut progress, 40);
    assert_eq!(report(&progress, 41).outcome, Outcome::Running);
}

#[test]
fn steps_follow_the_signs_of_the_driver_and_keep_their_durations() {
    let mut progress = creation(Family::CapiHelm);
    let mut poll = begun();
    poll.seen_by(&mut progress, 2);
    poll.cluster().driver_id = Some("shop-jde45zh7dcud".to_owned());
    let waiting = "Waiting on ['NetworkReady']".to_owned();
    poll.cluster()
        .health
        .insert("infrastructure".to_owned(), waiting);
    poll.seen_by(&mut progress, 10);
    let network = report(&progress, 20);
    assert_eq!(network.steps[1].state, StepState::Done { took: seconds(8) });
    assert_eq!(network.steps[2].state, StepState::Running { since: at(10) });
    assert_eq!(
        network.steps[2].reason.as_deref(),
        Some("Waiting on ['NetworkReady']")
    );
    assert_eq!(network.position().0, 3);
    // the address is a sign that the network is there
    poll.cluster().health.clear();
    poll.cluster().api_address = Some("https://192.0.2.10:6443".to_owned());
    poll.seen_by(&mut progress, 60);
    let control_plane = report(&progress, 61);
    assert_eq!(
        control_plane.steps[2].state,
        StepState::Done { took: seconds(50) }
    );
    assert_eq!(
        control_plane.steps[4].state,
        StepState::Running { since: at(60) }
    );
    // an older answer changes nothing
    begun().seen_by(&mut progress, 5);
    assert_eq!(report(&progress, 61), control_plane);
    // nor does the storage in between
    let stored = serde_json::to_string(&progress).unwrap();
    let restored: Progress = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored, progress);
    Poll::of("CREATE_COMPLETE", 100).seen_by(&mut progress, 102);
    let done = report(&progress, 110);
    assert_eq!(done.outcome, Outcome::Succeeded);
    assert!(
        states(&done).iter().all(|state| state.starts_with('d')),
        "{done:?}"
    );
}

#[test]
fn groups_of_workers_are_made_at_the_same_time() {
    let mut progress = creation(Family::ClusterApi);
    let mut poll = Poll::of("CREATE_IN_PROGRESS", 0);
    poll.is_api_ready = Some(true);
    let mut gpu = workers("gpu", 1);
    gpu.status = Status::parse("CREATE_FAILED");
    gpu.reason = Some("Quota exceeded for cores: 20 of 20".to_owned());
    let mut batch = workers("batch", 1);
    batch.status = Status::parse("CREATE_COMPLETE");
    let mut control_plane = masters(1);
    control_plane.status = Status::parse("CREATE_IN_PROGRESS");
    poll.groups.extend([gpu, batch, control_plane]);
    poll.seen_by(&mut progress, 90);
    let report = report(&progress, 95);
    assert_eq!(
        states(&report)[4..],
        [
            "d Control plane",
            "r Workers of default-worker",
            "f Workers of gpu",
            "d Workers of batch",
            "p Add-ons",
        ]
    );
    let gpu = &report.steps[6];
    assert_eq!(
        gpu.explanation.as_deref(),
        Some("The quota of cores is used up (20 of 20).")
    );
}

#[test]
fn a_quota_blocks_a_creation_that_reports_no_failure() {
    let mut progress = creation(Family::ClusterApi);
    let mut poll = begun();
    poll.cluster().driver_id = Some("kube-x1y2z".to_owned());
    poll.cluster().reason =
        Some("OverQuota: Quota exceeded for resources: ['network'].".to_owned());
    poll.seen_by(&mut progress, 20);
    let report = report(&progress, 21);
    assert_eq!(
        report.outcome,
        Outcome::Blocked(
            "The quota of network is used up. It continues by itself once this is resolved."
                .to_owned()
        )
    );
    assert!(!report.outcome.is_final());
    assert_eq!(states(&report)[2], "b Network and security groups");
}

#[test]
fn a_step_beyond_three_times_its_typical_duration_is_stalled() {
    let mut progress = creation(Family::ClusterApi);
    begun().seen_by(&mut progress, 2);
    let typical = Typical::from([(StepName::Credentials, seconds(30))]);
    assert_eq!(progress.report(at(92), &typical).stalled, None);
    let stalled = progress.report(at(93), &typical).stalled.unwrap();
    assert_eq!(
        stalled,
        "Stalled at \"Certificates and credential\" for 91 seconds; typically it takes 30 seconds."
    );
    // without a typical duration: 20 minutes
    assert_eq!(report(&progress, 1202).stalled, None);
    let stalled = report(&progress, 1203).stalled.unwrap();
    assert!(stalled.contains("for 20 minutes; no duration"), "{stalled}");
}

#[test]
fn a_percentage_is_shown_only_where_all_durations_are_known() {
    let mut progress = creation(Family::Heat);
    begun().seen_by(&mut progress, 10);
    let mut typical = Typical::from([
        (StepName::Accepted, seconds(10)),
        (StepName::Network, seconds(30)),
        (StepName::ApiAddress, seconds(20)),
        (StepName::ControlPlane, seconds(100)),
        (StepName::Workers("default-worker".to_owned()), seconds(30)),
    ]);
    assert_eq!(progress.report(at(25), &typical).percent, None);
    assert_eq!(progress.report(at(25), &typical).position(), (2, 6));
    typical.insert(StepName::AddOns, seconds(10));
    // 10 of the first step and 15 of the second, of 200
    assert_eq!(progress.report(at(25), &typical).percent, Some(12));
    Poll::of("CREATE_COMPLETE", 40).seen_by(&mut progress, 40);
    assert_eq!(progress.report(at(41), &typical).percent, Some(100));
}

#[test]
fn a_working_cluster_that_magnum_never_confirms_can_be_used() {
    let mut progress = creation(Family::ClusterApi);
    let mut poll = Poll::of("CREATE_IN_PROGRESS", 0);
    poll.is_api_ready = Some(true);
    poll.nodes = Some(Nodes::new(2, 2));
    poll.seen_by(&mut progress, 82 * 60);
    assert_eq!(report(&progress, 60 * 60).outcome, Outcome::Running);
    let Outcome::Unconfirmed(text) = report(&progress, 82 * 60).outcome else {
        panic!("Magnum has not confirmed it");
    };
    assert!(
        text.contains("2 of 2 nodes are ready") && text.contains("82 minutes"),
        "{text}"
    );
}

#[test]
fn a_failure_and_a_disappearance_end_a_creation() {
    let mut progress = creation(Family::ClusterApi);
    Poll::of("CREATE_FAILED", 3).seen_by(&mut progress, 4);
    let failed = report(&progress, 5);
    assert_eq!(failed.outcome, Outcome::Failed);
    assert!(states(&failed).iter().any(|state| state.starts_with('f')));
    Poll::missing().seen_by(&mut progress, 60);
    assert_eq!(report(&progress, 61).outcome, Outcome::Disappeared);
}
