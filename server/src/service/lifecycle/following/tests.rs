//! Which operation is followed, and until when.
use super::*;
use crate::service::lifecycle::fixtures::model;
use portico_lifecycle::progress::{NodeReport, NodeSurvey, StepName, StepState};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

#[test]
fn a_creation_is_followed_from_its_beginning_until_another_operation_runs() {
    let creating = model("CREATE_IN_PROGRESS");
    let following = Following::next(None, &creating, None, at(0)).unwrap();
    assert_eq!(following.operation(), Operation::Creation);
    assert_eq!(Some(following.since()), creating.created_at);
    let mut done = Following::next(Some(following), &model("CREATE_COMPLETE"), None, at(60));
    let complete = model("CREATE_COMPLETE");
    done.as_mut().unwrap().look(Some(&complete), None, at(60));
    // its steps stay on the page
    assert!(done.as_ref().unwrap().is_over(at(60)));
    let next = Following::next(done, &model("UPDATE_IN_PROGRESS"), None, at(90)).unwrap();
    assert_eq!(next.operation(), Operation::Change("Change".to_owned()));
    let next = Following::next(Some(next), &model("DELETE_IN_PROGRESS"), None, at(99)).unwrap();
    assert!(next.is_deletion());
}

#[test]
fn an_upgrade_is_followed_by_its_name_until_the_cluster_has_the_template() {
    let before = model("CREATE_COMPLETE");
    let followed = Followed::Change {
        operation: Request::Upgrade,
        before: Mark::of(&before),
        goal: Goal::Template("newer".to_owned()),
    };
    let upgrade = Following::change(followed, before.driver.family, at(0));
    let running = model("UPDATE_IN_PROGRESS");
    let mut next = Following::next(Some(upgrade), &running, None, at(5)).unwrap();
    next.look(Some(&running), Some(&[]), at(5));
    assert_eq!(next.operation(), Operation::Change("Upgrade".to_owned()));
    assert!(!next.is_over(at(5)));
    let done = Cluster {
        template: "newer".to_owned(),
        ..model("UPDATE_COMPLETE")
    };
    let mut next = Following::next(Some(next), &done, None, at(9)).unwrap();
    next.look(Some(&done), Some(&[]), at(9));
    assert!(next.is_over(at(9)));
}

#[test]
fn nothing_is_followed_on_a_settled_cluster_and_a_failure_is() {
    assert!(Following::next(None, &model("CREATE_COMPLETE"), None, at(0)).is_none());
    let failed = Following::next(None, &model("CREATE_FAILED"), None, at(0)).unwrap();
    assert_eq!(failed.operation(), Operation::Creation);
}

#[test]
fn a_deletion_without_effect_for_30_seconds_is_reported() {
    let before = model("CREATE_COMPLETE");
    let mut following = Following::deletion(&before, at(0));
    for second in [2, 31] {
        let next = Following::next(Some(following), &before, None, at(second));
        following = next.unwrap();
        following.look(Some(&before), Some(&[]), at(second));
    }
    let outcome = following.report(at(31), &Typical::new()).outcome;
    assert!(matches!(outcome, Outcome::NotActedOn(_)), "{outcome:?}");
}

fn nodes(versions: &[&str]) -> Inspection {
    let nodes = versions.iter().enumerate();
    let nodes = nodes.map(|(number, version)| NodeReport {
        name: format!("shop-{number}"),
        version: (*version).to_owned(),
        is_ready: true,
        ..NodeReport::default()
    });
    Inspection {
        is_api_ready: Some(true),
        nodes: Ok(NodeSurvey {
            nodes: nodes.collect(),
            is_complete: true,
            note: None,
        }),
    }
}

#[test]
fn an_upgrade_of_all_nodes_ends_when_the_last_one_has_the_version() {
    let before = model("CREATE_COMPLETE");
    let followed = Followed::Change {
        operation: Request::Upgrade,
        before: Mark::of(&before),
        goal: Goal::Template("newer".to_owned()),
    };
    let versions = VersionChange {
        from: "v1.31.0".parse().unwrap(),
        to: "v1.32.0".parse().unwrap(),
        is_of_all_nodes: true,
    };
    let upgrade = Following::change(followed, before.driver.family, at(0));
    let mut upgrade = upgrade.with_versions(Some(versions));
    assert_eq!(upgrade.target_version(), Some(versions.to));
    // some drivers report the end while nodes are still being replaced
    let done = Cluster {
        template: "newer".to_owned(),
        ..model("UPDATE_COMPLETE")
    };
    let found = nodes(&["v1.32.0", "v1.31.0"]);
    upgrade.look_inside(Some(&done), Some(&[]), Some(&found), at(5));
    assert!(!upgrade.is_over(at(5)) && upgrade.is_about_nodes(at(5)));
    let found = nodes(&["v1.32.0", "v1.32.0"]);
    upgrade.look_inside(Some(&done), Some(&[]), Some(&found), at(9));
    assert!(upgrade.is_over(at(9)) && !upgrade.is_about_nodes(at(9)));
}

#[test]
fn the_control_plane_of_a_creation_is_made_when_its_api_server_is_ready() {
    let creating = model("CREATE_IN_PROGRESS");
    let mut creation = Following::next(None, &creating, None, at(0)).unwrap();
    let found = Inspection {
        is_api_ready: Some(true),
        nodes: Err("The nodes are not readable.".to_owned()),
    };
    let control_plane = |creation: &Following| {
        let report = creation.report(at(9), &Typical::new());
        let mut steps = report.steps.into_iter();
        steps.find(|step| step.name == StepName::ControlPlane)
    };
    creation.look(Some(&creating), Some(&[]), at(1));
    let state = control_plane(&creation).unwrap().state;
    assert!(!matches!(state, StepState::Done { .. }), "{state:?}");
    creation.look_inside(Some(&creating), Some(&[]), Some(&found), at(2));
    let state = control_plane(&creation).unwrap().state;
    assert!(matches!(state, StepState::Done { .. }), "{state:?}");
}
