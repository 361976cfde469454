//! Rotation of authorities.
use super::examples::{NEWEST, cluster, driver};
use crate::{
    authority::{RotationRefusal, check_rotation},
    driver::Family,
    model::Cluster,
};

fn of(family: Family, status: &str) -> Cluster {
    Cluster {
        driver: driver(family),
        ..cluster(status)
    }
}

#[test]
fn case_39_a_rotation_that_would_damage_the_record_is_refused() {
    for family in [Family::CapiHelm, Family::ClusterApi, Family::Unknown] {
        let found = check_rotation(&of(family, "CREATE_COMPLETE"), NEWEST, true);
        let Err(RotationRefusal::Unsupported(reason)) = found else {
            panic!("{family:?}: {found:?}");
        };
        assert!(reason.contains("record"), "{reason}");
    }
}

#[test]
fn case_40_a_settled_cluster_of_a_driver_that_can_is_rotated() {
    let heat = of(Family::Heat, "CREATE_COMPLETE");
    assert_eq!(check_rotation(&heat, NEWEST, true), Ok(()));
    let complete = of(Family::Complete, "UPDATE_COMPLETE");
    assert_eq!(check_rotation(&complete, NEWEST, true), Ok(()));
    let busy = check_rotation(&of(Family::Heat, "UPDATE_IN_PROGRESS"), NEWEST, true);
    assert!(matches!(busy, Err(RotationRefusal::State(_))), "{busy:?}");
}

#[test]
fn without_its_template_the_driver_of_a_cluster_is_not_certain() {
    let heat = of(Family::Heat, "CREATE_COMPLETE");
    let found = check_rotation(&heat, NEWEST, false);
    assert!(
        matches!(found, Err(RotationRefusal::Unsupported(_))),
        "{found:?}"
    );
}
