//! Owner and credential of a cluster.
use super::examples::{NEWEST, cluster, driver};
use crate::{
    driver::{ApiVersion, Cloud, Family},
    model::Cluster,
    ownership::{
        CredentialRefusal, check_credential, dependencies, invalid_credential, rotation_effects,
    },
};

fn of(family: Family, status: &str) -> Cluster {
    Cluster {
        driver: driver(family),
        ..cluster(status)
    }
}

#[test]
fn case_44_a_credential_is_rotated_where_driver_version_and_state_permit_it() {
    let check = |family, status: &str| check_credential(&of(family, status), NEWEST);
    assert_eq!(check(Family::CapiHelm, "CREATE_COMPLETE"), Ok(()));
    // a cluster whose change failed because of its credential needs exactly this
    assert_eq!(check(Family::CapiHelm, "UPDATE_FAILED"), Ok(()));
    for family in [Family::Heat, Family::ClusterApi] {
        let found = check(family, "CREATE_COMPLETE");
        assert!(
            matches!(found, Err(CredentialRefusal::Unsupported(_))),
            "{family:?}: {found:?}"
        );
    }
    let deleting = check(Family::CapiHelm, "DELETE_IN_PROGRESS");
    assert!(
        matches!(deleting, Err(CredentialRefusal::State(_))),
        "{deleting:?}"
    );
    let old = Cloud {
        api: ApiVersion(11),
        ..NEWEST
    };
    let found = check_credential(&of(Family::CapiHelm, "CREATE_COMPLETE"), old);
    let reason = found.unwrap_err().reason();
    assert!(reason.contains("1.12"), "{reason}");
}

#[test]
fn a_colleague_reads_from_whom_the_ownership_passes() {
    let taken = rotation_effects(Family::CapiHelm, Some("ada"));
    assert!(taken.contains(&"Ownership passes from ada to you.".to_owned()));
    let own = rotation_effects(Family::CapiHelm, None);
    assert!(own.iter().all(|text| !text.contains("passes")), "{own:?}");
    let unknown = rotation_effects(Family::Unknown, Some("ada"));
    assert!(unknown.iter().any(|text| text.contains("up to the driver")));
    for family in [Family::CapiHelm, Family::Heat, Family::Unknown] {
        assert_eq!(dependencies(family).len(), 3);
    }
}

#[test]
fn a_credential_that_does_not_work_is_found_in_the_health_report() {
    let text = "Could not find Application Credential: 818a68654b65417396f29f9c1fa9cd24.";
    let mut broken = of(Family::CapiHelm, "UPDATE_IN_PROGRESS");
    assert_eq!(invalid_credential(&broken), None);
    broken
        .health
        .insert("infrastructure".to_owned(), text.to_owned());
    assert_eq!(invalid_credential(&broken).as_deref(), Some(text));
}
