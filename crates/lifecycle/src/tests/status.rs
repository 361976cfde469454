//! States of Magnum and what they forbid.
use crate::status::{Activity, Answer, Operation, Phase, Status, check};

#[test]
fn known_states_are_parsed_and_written_as_magnum_does() {
    let status = Status::parse("CREATE_IN_PROGRESS");
    assert_eq!(status, Status::Known(Activity::Create, Phase::InProgress));
    for text in [
        "CREATE_COMPLETE",
        "UPDATE_FAILED",
        "DELETE_IN_PROGRESS",
        "ROLLBACK_COMPLETE",
        "RESUME_FAILED",
        "ADOPT_COMPLETE",
    ] {
        let status = Status::parse(text);
        assert!(matches!(status, Status::Known(..)), "{text}");
        assert_eq!(status.to_string(), text);
    }
}

#[test]
fn unknown_states_are_preserved() {
    for text in ["MIGRATE_IN_PROGRESS", "create_complete", "CREATE_", ""] {
        let status = Status::parse(text);
        assert_eq!(status, Status::Other(text.to_owned()));
        assert_eq!(status.to_string(), text);
        assert!(!status.is_complete() && !status.is_failed() && !status.is_in_progress());
    }
    let json = serde_json::to_string(&Status::parse("HIBERNATED")).unwrap();
    assert_eq!(json, "\"HIBERNATED\"");
    assert_eq!(
        serde_json::from_str::<Status>(&json).unwrap(),
        Status::Other("HIBERNATED".to_owned())
    );
}

#[test]
fn each_state_forbids_what_the_conductor_ignores_or_refuses() {
    // state: patch, resize, upgrade, rotate CA, rotate credential, update group
    let table = [
        ("CREATE_COMPLETE", [true; 6]),
        ("UPDATE_COMPLETE", [true; 6]),
        ("ROLLBACK_COMPLETE", [true; 6]),
        (
            "UPDATE_IN_PROGRESS",
            [false, true, false, false, true, true],
        ),
        ("UPDATE_FAILED", [false, true, false, false, true, true]),
        ("CREATE_IN_PROGRESS", [false; 6]),
        ("CREATE_FAILED", [false; 6]),
        ("DELETE_IN_PROGRESS", [false; 6]),
        ("DELETE_FAILED", [false; 6]),
        ("HIBERNATED", [false; 6]),
    ];
    let operations = [
        Operation::Patch,
        Operation::Resize,
        Operation::Upgrade,
        Operation::RotateCa,
        Operation::RotateCredential,
        Operation::UpdateNodeGroup,
    ];
    for (state, allowed) in table {
        let status = Status::parse(state);
        for (operation, allowed) in operations.into_iter().zip(allowed) {
            let result = check(&status, operation);
            assert_eq!(result.is_ok(), allowed, "{operation:?} in {state}");
            if let Err(forbidden) = result {
                assert!(forbidden.reason.contains(state), "{forbidden}");
            }
        }
        assert!(check(&status, Operation::Delete).is_ok(), "{state}");
    }
}

#[test]
fn silence_and_refusal_are_distinguished() {
    let busy = Status::parse("DELETE_IN_PROGRESS");
    let resize = check(&busy, Operation::Resize).unwrap_err();
    assert_eq!(resize.answer, Answer::AcceptedWithoutEffect);
    let upgrade = check(&busy, Operation::Upgrade).unwrap_err();
    assert_eq!(upgrade.answer, Answer::Refused);
}

#[test]
fn a_node_group_is_not_created_where_it_would_overwrite_the_state() {
    for state in ["DELETE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "CREATE_FAILED"] {
        let forbidden = check(&Status::parse(state), Operation::CreateNodeGroup).unwrap_err();
        assert_eq!(forbidden.answer, Answer::OverwritesState, "{state}");
    }
    assert!(check(&Status::parse("UPDATE_FAILED"), Operation::CreateNodeGroup).is_ok());
}

#[test]
fn an_upgrade_after_a_failed_update_begins_with_settling() {
    let forbidden = check(&Status::parse("UPDATE_FAILED"), Operation::Upgrade).unwrap_err();
    assert!(forbidden.reason.contains("Settle the cluster first"));
}
