use super::*;
use crate::kube::table::Owner;
use portico_domain::panel::{Column, Row};

fn pod(name: &str, owner: Option<&str>) -> TableRow {
    TableRow {
        owner: owner.map(|name| Owner {
            kind: "ReplicaSet".to_owned(),
            name: name.to_owned(),
            uid: format!("uid-{name}"),
            controller: true,
        }),
        row: Row {
            uid: name.to_owned(),
            name: name.to_owned(),
            namespace: Some("shop".to_owned()),
            resource_version: "1".to_owned(),
            created_at: None,
            cells: Vec::new(),
            labels: Vec::new(),
            health: Some(Health::Failed),
            event: None,
        },
    }
}

#[test]
fn pods_of_one_workload_are_one_row() {
    let kept = one_of_each_owner(vec![
        pod("web-1", Some("web-5c9")),
        pod("web-2", Some("web-5c9")),
        pod("alone", None),
        pod("alone-2", None),
    ]);
    let shown: Vec<_> = kept
        .iter()
        .map(|(row, others)| (row.row.name.as_str(), others.join(" ")))
        .collect();
    let expected = [("web-1", "web-2"), ("alone", ""), ("alone-2", "")];
    assert_eq!(
        shown,
        expected.map(|(name, others)| (name, others.to_owned()))
    );
    let owners: Vec<_> = workloads(&kept[0].0)
        .map(|(plural, name)| format!("{plural}/{name}"))
        .collect();
    assert_eq!(owners, ["replicasets/web-5c9", "deployments/web"]);
}

#[test]
fn finding_p11_a_pod_between_two_crashes_is_looked_at() {
    let restarted = |name: &str, restarts: &str, health: Health| {
        let mut pod = pod(name, None);
        pod.row.cells = vec![restarts.to_owned()];
        pod.row.health = Some(health);
        pod
    };
    let column = restarts::Column::of(&[Column {
        name: "Restarts".to_owned(),
        description: String::new(),
        priority: 0,
        kind: "string".to_owned(),
    }])
    .unwrap();
    let found = recently_restarted(
        column,
        vec![
            restarted("once", "1 (5s ago)", Health::Ok),
            restarted("looping", "4 (50s ago)", Health::Ok),
            restarted("unknown-when", "12", Health::Ok),
            // looked at already
            restarted("ill", "5 (5s ago)", Health::Failed),
        ],
    );
    let names: Vec<_> = found.iter().map(|row| row.row.name.as_str()).collect();
    assert_eq!(names, ["unknown-when", "looping"]);
}
