//! Checks before changes.
mod creation;
mod healing;
mod upgrade;

use super::examples::{NEWEST, cluster, driver, masters, workers};
use crate::{
    driver::Family,
    model::{Bounds, NodeGroup},
    placement::{Placement, Unplaced},
    preflight::{
        Check, Checks, DeletionContext, Level, ResizeContext, before_deletion, before_resize,
    },
    quota::{self, FlavorSize, GroupSize, Limit, Resource, Usage, Usages},
};

/// Returns the checks of a subject.
pub(super) fn about<'a>(checks: &'a Checks, subject: &str) -> Vec<&'a Check> {
    checks
        .0
        .iter()
        .filter(|check| check.subject == subject)
        .collect()
}

/// Returns the one check of a subject.
pub(super) fn one<'a>(checks: &'a Checks, subject: &str) -> &'a Check {
    let found = about(checks, subject);
    assert_eq!(found.len(), 1, "{subject}: {checks:?}");
    found[0]
}

#[test]
fn a_resize_that_exceeds_the_quota_is_blocked_before_it_is_sent() {
    let (cluster, group) = (cluster("CREATE_COMPLETE"), workers("default-worker", 3));
    let size = GroupSize {
        nodes: 3,
        flavor: FlavorSize {
            vcpus: 2,
            ram_mib: 4096,
        },
        ..GroupSize::default()
    };
    // room for one more
    let usages = Usages::from([(
        Resource::Cores,
        Usage {
            used: 18,
            limit: Limit::Max(20),
        },
    )]);
    let quotas = quota::project(&usages, &quota::resize(&size, 5), &quota::Change::new());
    let checks = before_resize(&ResizeContext {
        cluster: &cluster,
        group: &group,
        nodes: 5,
        has_chosen_nodes: false,
        cloud: NEWEST,
        quotas: &quotas,
        pods: &Placement::NotNeeded,
    });
    assert_eq!(checks.level(), Level::Blocks);
    let blocking: Vec<_> = about(&checks, "Quota")
        .into_iter()
        .filter(|check| check.level == Level::Blocks)
        .map(|check| check.text.as_str())
        .collect();
    assert_eq!(
        blocking,
        ["18 of 20 cores used; 4 more needed, 2 too many."]
    );
}

#[test]
fn a_resize_respects_bounds_state_and_driver() {
    let settled = cluster("CREATE_COMPLETE");
    let mut group = workers("default-worker", 3);
    group.bounds = Some(Bounds {
        min: 0,
        max: Some(4),
    });
    let context = ResizeContext {
        cluster: &settled,
        group: &group,
        nodes: 4,
        has_chosen_nodes: false,
        cloud: NEWEST,
        quotas: &[],
        pods: &Placement::Checked(Unplaced::default()),
    };
    assert_eq!(before_resize(&context).level(), Level::Ok);
    let above = before_resize(&ResizeContext {
        nodes: 9,
        ..context.clone()
    });
    assert_eq!(
        one(&above, "Bounds").text,
        "9 is above the maximum 4 of default-worker."
    );
    let unread = NodeGroup {
        bounds: None,
        ..group.clone()
    };
    let unread = before_resize(&ResizeContext {
        group: &unread,
        ..context.clone()
    });
    assert_eq!(one(&unread, "Bounds").level, Level::Warning);
    let busy = cluster("UPDATE_IN_PROGRESS");
    let while_busy = before_resize(&ResizeContext {
        cluster: &busy,
        ..context.clone()
    });
    assert_eq!(one(&while_busy, "State").level, Level::Blocks);
    let deleting = cluster("DELETE_FAILED");
    let deleted = before_resize(&ResizeContext {
        cluster: &deleting,
        ..context.clone()
    });
    assert!(one(&deleted, "State").text.contains("DELETE_FAILED"));
    let unplaced = Placement::Checked(Unplaced {
        without_place: vec!["shop/web".to_owned()],
        ..Unplaced::default()
    });
    let mut helm = cluster("CREATE_COMPLETE");
    helm.driver = driver(Family::CapiHelm);
    let chosen = before_resize(&ResizeContext {
        cluster: &helm,
        nodes: 2,
        has_chosen_nodes: true,
        pods: &unplaced,
        ..context
    });
    assert!(
        one(&chosen, "Driver")
            .text
            .contains("ignores the chosen nodes")
    );
    assert_eq!(
        one(&chosen, "Pods").text,
        "No remaining node has room for these pods, so they would stay pending: shop/web."
    );
}

#[test]
fn what_was_not_checked_about_pods_is_a_warning_with_the_reason() {
    let (cluster, group) = (cluster("CREATE_COMPLETE"), workers("default-worker", 3));
    let pods = Placement::NotChecked("The API server did not respond in time.".to_owned());
    let checks = before_resize(&ResizeContext {
        cluster: &cluster,
        group: &group,
        nodes: 2,
        has_chosen_nodes: true,
        cloud: NEWEST,
        quotas: &[],
        pods: &pods,
    });
    let check = one(&checks, "Pods");
    assert_eq!(check.level, Level::Warning);
    assert!(check.text.starts_with("Not checked"), "{}", check.text);
    assert!(
        check.text.ends_with("did not respond in time."),
        "{}",
        check.text
    );
}

#[test]
fn the_control_plane_stays_odd() {
    let cluster = cluster("CREATE_COMPLETE");
    let group = masters(1);
    let checks = before_resize(&ResizeContext {
        cluster: &cluster,
        group: &group,
        nodes: 2,
        has_chosen_nodes: false,
        cloud: NEWEST,
        quotas: &[],
        pods: &Placement::NotNeeded,
    });
    assert_eq!(one(&checks, "Size").level, Level::Blocks);
}

#[test]
fn a_deletion_needs_the_typed_name_and_no_protection() {
    let cluster = cluster("CREATE_COMPLETE");
    let context = DeletionContext {
        cluster: &cluster,
        is_protected: false,
        typed_name: "shop",
        is_api_reachable: true,
        has_creator: Some(true),
    };
    assert_eq!(before_deletion(&context), Checks::default());
    let mistyped = before_deletion(&DeletionContext {
        typed_name: "Shop",
        ..context.clone()
    });
    assert_eq!(one(&mistyped, "Name").level, Level::Blocks);
    let protected = before_deletion(&DeletionContext {
        is_protected: true,
        ..context.clone()
    });
    assert_eq!(one(&protected, "Protection").level, Level::Blocks);
    let blind = before_deletion(&DeletionContext {
        is_api_reachable: false,
        has_creator: Some(false),
        ..context
    });
    assert_eq!(blind.level(), Level::Warning);
    assert!(one(&blind, "Credential").text.contains("may not finish"));
}
