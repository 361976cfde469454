//! The nodes of a cluster during an operation.
use crate::{
    progress::{NodeReport, NodeSurvey, Nodes},
    version::{KubernetesVersion, VersionChange},
};

fn version(minor: u16) -> KubernetesVersion {
    KubernetesVersion {
        major: 1,
        minor,
        patch: 2,
    }
}

fn node(number: usize, minor: u16) -> NodeReport {
    NodeReport {
        name: format!("shop-{number}"),
        version: version(minor).to_string(),
        is_ready: true,
        ..NodeReport::default()
    }
}

fn survey(minors: &[u16]) -> NodeSurvey {
    let nodes = minors.iter().enumerate();
    NodeSurvey {
        nodes: nodes.map(|(number, minor)| node(number, *minor)).collect(),
        is_complete: true,
        note: None,
    }
}

#[test]
fn an_upgrade_is_as_far_as_its_nodes() {
    let found = survey(&[34, 34, 33, 33, 33]);
    assert_eq!(
        found.summary(Some(version(34))),
        "2 of 5 nodes run v1.34.2."
    );
    // of an upgrade that another client has sent, the target is the newest version
    assert_eq!(found.summary(None), "2 of 5 nodes run v1.34.2.");
    let one = survey(&[34, 33]);
    assert_eq!(one.summary(None), "1 of 2 nodes runs v1.34.2.");
    let begun = survey(&[33, 33]);
    assert_eq!(
        begun.summary(Some(version(34))),
        "0 of 2 nodes run v1.34.2."
    );
    assert_eq!(begun.summary(None), "2 of 2 nodes are ready.");
    assert_eq!(survey(&[]).summary(None), "The cluster has no nodes yet.");
}

#[test]
fn nodes_are_counted_only_where_all_are_known() {
    let change = VersionChange {
        from: version(33),
        to: version(34),
        is_of_all_nodes: true,
    };
    let mut found = survey(&[34, 33, 33]);
    found.nodes[2].is_ready = false;
    let expected = Nodes::new(2, 3).during_upgrade(change.from, change.to, [change.to]);
    assert_eq!(found.counts(Some(9), Some(change)), Some(expected));
    let of_some = VersionChange {
        is_of_all_nodes: false,
        ..change
    };
    assert_eq!(found.counts(None, Some(of_some)), Some(Nodes::new(2, 3)));
    // a creation has fewer nodes than it is to have
    assert_eq!(found.counts(Some(9), None), Some(Nodes::new(2, 9)));
    assert_eq!(found.counts(None, None), Some(Nodes::new(2, 3)));
    found.is_complete = false;
    assert_eq!(found.counts(None, Some(change)), None);
}

#[test]
fn a_drain_that_waits_names_the_budget() {
    let mut found = node(3, 33);
    assert_eq!(found.waiting(), None);
    found.waits_for = vec!["shop/web".to_owned(), "shop/db".to_owned()];
    let text = found.waiting().unwrap();
    assert_eq!(
        text,
        "The drain of shop-3 waits for shop/web, shop/db: no disruption is permitted."
    );
}
