//! Changes that are followed.
use super::{Poll, at, report, states};
use crate::{
    driver::Family,
    progress::{Followed, Goal, Mark, Nodes, Outcome, Progress, Snapshot},
    status::Operation,
    tests::examples::{masters, workers},
    version::KubernetesVersion,
};

fn change(before: &Poll, operation: Operation, goal: Goal) -> Progress {
    let followed = Followed::Change {
        operation,
        before: Mark::of(before.cluster.as_ref().unwrap()),
        goal,
    };
    Progress::new(followed, Family::ClusterApi, at(0))
}

/// Four nodes in an upgrade, some of which have the new version.
fn nodes(upgraded: u8) -> Nodes {
    let (from, to) = (version(31), version(32));
    let versions = (0..4).map(|index| if index < upgraded { to } else { from });
    Nodes::new(4, 4).during_upgrade(from, to, versions)
}

fn version(minor: u16) -> KubernetesVersion {
    KubernetesVersion {
        major: 1,
        minor,
        patch: 0,
    }
}

fn size(nodes: u32) -> Goal {
    Goal::Size {
        group: "default-worker".to_owned(),
        nodes,
    }
}

#[test]
fn case_25_a_request_that_a_state_forbids_is_reported_with_the_state() {
    let before = Poll::of("DELETE_IN_PROGRESS", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    before.seen_by(&mut progress, 29);
    assert_eq!(report(&progress, 29).outcome, Outcome::Running);
    before.seen_by(&mut progress, 30);
    let Outcome::NotActedOn(text) = report(&progress, 30).outcome else {
        panic!("it was not acted on");
    };
    assert!(
        text.starts_with("Magnum accepted the request but did not act on it"),
        "{text}"
    );
    assert!(text.contains("DELETE_IN_PROGRESS"), "{text}");
}

#[test]
fn a_request_without_effect_in_a_state_that_permits_it_names_the_conductor() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    before.seen_by(&mut progress, 31);
    let Outcome::NotActedOn(text) = report(&progress, 31).outcome else {
        panic!("it was not acted on");
    };
    assert!(
        text.contains("the cluster is CREATE_COMPLETE") && text.contains("conductor"),
        "{text}"
    );
}

#[test]
fn a_group_that_is_changing_is_acted_on_before_the_cluster_is() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    let mut begun = before.clone();
    begun.groups[0].status = crate::status::Status::parse("UPDATE_IN_PROGRESS");
    begun.seen_by(&mut progress, 31);
    assert_eq!(report(&progress, 31).outcome, Outcome::Running);
    // a health check has moved the time
    begun.cluster().updated_at = Some(at(40));
    begun.seen_by(&mut progress, 41);
    assert_eq!(report(&progress, 41).outcome, Outcome::Running);
    let mut done = Poll::of("UPDATE_COMPLETE", 60);
    done.groups[0].node_count = 5;
    done.seen_by(&mut progress, 61);
    assert_eq!(report(&progress, 62).outcome, Outcome::Succeeded);
    // a change that is about no group in Magnum's view, such as of its bounds
    let mut bounds = change(&before, Operation::UpdateNodeGroup, Goal::Unseen);
    let mut unmoved = begun.clone();
    unmoved.cluster().updated_at = Some(at(-10));
    unmoved.seen_by(&mut bounds, 31);
    assert_eq!(report(&bounds, 31).outcome, Outcome::Running);
    // control case: the group is not changing any more, and has not changed
    let mut dropped = change(&before, Operation::Resize, size(5));
    begun.seen_by(&mut dropped, 31);
    before.seen_by(&mut dropped, 32);
    assert!(matches!(
        report(&dropped, 32).outcome,
        Outcome::NotActedOn(_)
    ));
}

#[test]
fn a_check_of_the_health_is_not_an_effect() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    // Magnum wrote the health, and with it the time
    Poll::of("CREATE_COMPLETE", 20).seen_by(&mut progress, 31);
    assert!(matches!(
        report(&progress, 31).outcome,
        Outcome::NotActedOn(_)
    ));
}

#[test]
fn a_check_of_the_health_before_the_conductor_begins_is_not_the_end() {
    for (status, end) in [
        ("CREATE_COMPLETE", "UPDATE_COMPLETE"),
        ("UPDATE_COMPLETE", "UPDATE_COMPLETE"),
        // the failure is an old one
        ("UPDATE_FAILED", "UPDATE_COMPLETE"),
    ] {
        let before = Poll::of(status, -10);
        let mut progress = change(&before, Operation::UpdateNodeGroup, Goal::Unseen);
        Poll::of(status, 1).seen_by(&mut progress, 2);
        assert_eq!(report(&progress, 3).outcome, Outcome::Running, "{status}");
        Poll::of("UPDATE_IN_PROGRESS", 3).seen_by(&mut progress, 4);
        Poll::of(end, 5).seen_by(&mut progress, 6);
        assert_eq!(report(&progress, 7).outcome, Outcome::Succeeded, "{status}");
    }
    // control case: a change between two looks
    let before = Poll::of("UPDATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::UpdateNodeGroup, Goal::Unseen);
    Poll::of("UPDATE_COMPLETE", 3).seen_by(&mut progress, 4);
    assert_eq!(report(&progress, 5).outcome, Outcome::Running);
    Poll::of("UPDATE_COMPLETE", 3).seen_by(&mut progress, 10);
    assert_eq!(report(&progress, 11).outcome, Outcome::Succeeded);
}

#[test]
fn a_group_that_has_its_size_before_the_cluster_is_changing_is_not_the_end() {
    let before = Poll::of("UPDATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    // the conductor has saved the number of nodes and is still working; a health check has moved the time
    let mut begun = Poll::of("UPDATE_COMPLETE", 1);
    begun.groups[0].node_count = 5;
    begun.groups[0].status = crate::status::Status::parse("UPDATE_IN_PROGRESS");
    begun.seen_by(&mut progress, 2);
    assert_eq!(report(&progress, 3).outcome, Outcome::Running);
    let mut running = Poll::of("UPDATE_IN_PROGRESS", 3);
    running.groups[0] = begun.groups[0].clone();
    running.seen_by(&mut progress, 4);
    let mut done = Poll::of("UPDATE_COMPLETE", 8);
    done.groups[0].node_count = 5;
    done.seen_by(&mut progress, 9);
    assert_eq!(report(&progress, 10).outcome, Outcome::Succeeded);
}

#[test]
fn a_resize_ends_with_its_size() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    let mut other = workers("gpu", 1);
    other.status = crate::status::Status::parse("UPDATE_IN_PROGRESS");
    let mut running = Poll::of("UPDATE_IN_PROGRESS", 1);
    running.groups.push(other);
    running.groups[0].node_count = 5;
    running.seen_by(&mut progress, 2);
    let steps = states(&report(&progress, 3));
    assert_eq!(steps, ["d Accepted", "r Workers of default-worker"]);
    let mut done = Poll::of("UPDATE_COMPLETE", 60);
    done.groups[0].node_count = 5;
    done.seen_by(&mut progress, 61);
    assert_eq!(report(&progress, 62).outcome, Outcome::Succeeded);
}

#[test]
fn a_resize_between_two_polls_is_noticed() {
    let before = Poll::of("UPDATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::Resize, size(5));
    let mut done = Poll::of("UPDATE_COMPLETE", 1);
    done.groups[0].node_count = 5;
    done.seen_by(&mut progress, 2);
    assert_eq!(report(&progress, 3).outcome, Outcome::Succeeded);
}

#[test]
fn settling_a_failed_cluster_ends_only_when_magnum_has_acted() {
    let before = Poll::of("UPDATE_FAILED", -10);
    let mut progress = change(&before, Operation::Resize, size(3));
    before.seen_by(&mut progress, 1);
    // the goal is met from the beginning, and the failure is the old one
    assert_eq!(report(&progress, 2).outcome, Outcome::Running);
    Poll::of("UPDATE_IN_PROGRESS", 3).seen_by(&mut progress, 4);
    Poll::of("UPDATE_COMPLETE", 30).seen_by(&mut progress, 31);
    assert_eq!(report(&progress, 32).outcome, Outcome::Succeeded);
}

#[test]
fn an_upgrade_is_not_over_before_all_nodes_have_the_version() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let goal = Goal::Template("new".to_owned());
    let mut progress = change(&before, Operation::Upgrade, goal);
    let mut poll = Poll::of("UPDATE_COMPLETE", 5);
    poll.groups.insert(0, masters(1));
    poll.cluster().template = "new".to_owned();
    poll.nodes = Some(nodes(1));
    poll.seen_by(&mut progress, 6);
    let running = report(&progress, 7);
    assert_eq!(running.outcome, Outcome::Running);
    assert_eq!(
        states(&running),
        [
            "d Accepted",
            "d Control plane",
            "r Workers of default-worker"
        ]
    );
    poll.nodes = Some(nodes(4));
    poll.seen_by(&mut progress, 300);
    assert_eq!(report(&progress, 301).outcome, Outcome::Succeeded);
}

#[test]
fn an_upgrade_that_magnum_shows_nowhere_is_followed_by_its_nodes() {
    let before = Poll::of("UPDATE_COMPLETE", -10);
    let goal = Goal::Template("new".to_owned());
    let mut progress = change(&before, Operation::Upgrade, goal);
    let mut poll = before.clone();
    for (upgraded, expected) in [(0, false), (1, false), (4, true)] {
        poll.nodes = Some(nodes(upgraded));
        poll.seen_by(&mut progress, 20 + i64::from(upgraded));
        let outcome = report(&progress, 60).outcome;
        assert_eq!(
            outcome == Outcome::Succeeded,
            expected,
            "{upgraded}: {outcome:?}"
        );
        assert!(!matches!(outcome, Outcome::NotActedOn(_)));
    }
}

#[test]
fn an_upgrade_to_the_same_version_is_not_over_because_every_node_has_it() {
    let before = Poll::of("UPDATE_COMPLETE", -10);
    let goal = Goal::Template("newer-image".to_owned());
    let mut progress = change(&before, Operation::Upgrade, goal);
    let mut poll = before.clone();
    let same = version(32);
    poll.nodes = Some(Nodes::new(4, 4).during_upgrade(same, same, [same; 4]));
    poll.seen_by(&mut progress, 20);
    assert_eq!(report(&progress, 21).outcome, Outcome::Running);
    // nor does it wait for nodes at the end
    let mut working = Poll::of("UPDATE_IN_PROGRESS", 22);
    working.nodes = poll.nodes;
    working.seen_by(&mut progress, 23);
    let mut done = Poll::of("UPDATE_COMPLETE", 90);
    done.cluster().template = "newer-image".to_owned();
    done.nodes = poll.nodes;
    done.seen_by(&mut progress, 91);
    assert_eq!(report(&progress, 92).outcome, Outcome::Succeeded);
}

#[test]
fn a_group_that_an_incomplete_list_lacks_is_neither_gone_nor_resized() {
    let gone = Goal::GroupGone("gpu".to_owned());
    for (before, goal) in [
        ("CREATE_COMPLETE", gone.clone()),
        ("UPDATE_COMPLETE", gone),
        ("UPDATE_COMPLETE", size(5)),
    ] {
        let before = Poll::of(before, -10);
        let mut progress = change(&before, Operation::DeleteNodeGroup, goal);
        let after = Poll::of("UPDATE_COMPLETE", 1);
        let mut snapshot = Snapshot {
            at: at(40),
            cluster: after.cluster.as_ref(),
            groups: None,
            is_api_ready: None,
            nodes: None,
        };
        progress.observe(&snapshot);
        assert_eq!(report(&progress, 41).outcome, Outcome::Running);
        snapshot.at = at(50);
        snapshot.groups = Some(&[]);
        progress.observe(&snapshot);
        assert_eq!(report(&progress, 51).outcome, Outcome::Succeeded);
    }
}

#[test]
fn an_upgrade_that_leaves_the_old_template_ends_nevertheless() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let goal = Goal::Template("new".to_owned());
    let mut progress = change(&before, Operation::Upgrade, goal);
    Poll::of("UPDATE_IN_PROGRESS", 1).seen_by(&mut progress, 2);
    Poll::of("UPDATE_COMPLETE", 90).seen_by(&mut progress, 91);
    assert_eq!(report(&progress, 92).outcome, Outcome::Succeeded);
    // another operation that was running before is not this one
    let busy = Poll::of("UPDATE_IN_PROGRESS", -10);
    let mut resize = change(&busy, Operation::Resize, size(5));
    busy.seen_by(&mut resize, 2);
    Poll::of("UPDATE_COMPLETE", 90).seen_by(&mut resize, 91);
    assert!(matches!(
        report(&resize, 92).outcome,
        Outcome::NotActedOn(_)
    ));
}

#[test]
fn the_state_in_which_a_request_arrived_explains_its_loss() {
    let busy = Poll::of("UPDATE_IN_PROGRESS", -10);
    let mut progress = change(&busy, Operation::Patch, size(5));
    Poll::of("UPDATE_COMPLETE", 20).seen_by(&mut progress, 31);
    let Outcome::NotActedOn(text) = report(&progress, 31).outcome else {
        panic!("it was not acted on");
    };
    assert!(text.contains("UPDATE_IN_PROGRESS"), "{text}");
}

#[test]
fn groups_appear_and_disappear() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let exists = Goal::GroupExists("gpu".to_owned());
    let mut creation = change(&before, Operation::CreateNodeGroup, exists);
    let mut with_group = Poll::of("UPDATE_COMPLETE", 20);
    with_group.groups.push(workers("gpu", 1));
    with_group.seen_by(&mut creation, 21);
    let created = report(&creation, 22);
    assert_eq!(created.outcome, Outcome::Succeeded);
    assert_eq!(states(&created), ["d Accepted", "d Workers of gpu"]);
    let gone = Goal::GroupGone("gpu".to_owned());
    let mut deletion = change(&with_group, Operation::DeleteNodeGroup, gone);
    Poll::of("UPDATE_COMPLETE", 40).seen_by(&mut deletion, 41);
    assert_eq!(report(&deletion, 42).outcome, Outcome::Succeeded);
}

#[test]
fn a_change_that_fails_or_loses_its_cluster_ends() {
    let before = Poll::of("CREATE_COMPLETE", -10);
    let mut progress = change(&before, Operation::RotateCredential, Goal::Unseen);
    Poll::of("UPDATE_FAILED", 3).seen_by(&mut progress, 4);
    assert_eq!(report(&progress, 5).outcome, Outcome::Failed);
    let mut progress = change(&before, Operation::Resize, size(5));
    Poll::missing().seen_by(&mut progress, 6);
    assert_eq!(report(&progress, 7).outcome, Outcome::Disappeared);
}

#[test]
fn a_record_that_is_touched_before_the_conductor_begins_is_not_a_second_failure() {
    let failed = Poll::of("DELETE_FAILED", -60);
    let before = Mark::of(failed.cluster.as_ref().unwrap());
    let followed = Followed::Deletion { before };
    let mut progress = Progress::new(followed, Family::Complete, at(0));
    // a periodic task of Magnum has saved the record
    Poll::of("DELETE_FAILED", 1).seen_by(&mut progress, 1);
    assert_ne!(progress.outcome(at(1)), Outcome::Failed);
    Poll::of("DELETE_IN_PROGRESS", 2).seen_by(&mut progress, 2);
    Poll::missing().seen_by(&mut progress, 4);
    assert_eq!(progress.outcome(at(4)), Outcome::Succeeded);
    // control case: it stays failed
    let before = Mark::of(failed.cluster.as_ref().unwrap());
    let mut progress = Progress::new(Followed::Deletion { before }, Family::Complete, at(0));
    Poll::of("DELETE_FAILED", 1).seen_by(&mut progress, 6);
    assert_eq!(progress.outcome(at(6)), Outcome::Failed);
}
