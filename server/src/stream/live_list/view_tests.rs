use super::*;
use crate::kube::table::TableRow;
use portico_domain::panel::{Health, ResourceRef};

fn row(name: &str, version: &str) -> TableRow {
    TableRow {
        owner: None,
        row: Row {
            uid: format!("uid-{name}"),
            name: name.to_owned(),
            namespace: None,
            resource_version: version.to_owned(),
            created_at: None,
            cells: vec![name.to_owned()],
            labels: Vec::new(),
            health: None,
            event: None,
        },
    }
}

fn view(name: &str, rows: Vec<TableRow>) -> View {
    view_of(ResourceRef::core("pods"), name, rows)
}

fn view_of(resource: ResourceRef, name: &str, rows: Vec<TableRow>) -> View {
    let query = ListQuery {
        resource,
        namespace: None,
        name: name.to_owned(),
        labels: String::new(),
        sort: String::new(),
    };
    let mut view = View::new(Vec::new(), &query);
    view.fill(vec![Part {
        rows,
        ..Part::default()
    }]);
    view.snapshot(1, &ListScope::Cluster);
    view
}

#[test]
fn only_what_changed_is_sent() {
    let mut view = view("", vec![row("a", "1"), row("b", "1")]);
    assert!(view.changes(1, &ListScope::Cluster).is_none());
    view.apply(watch::Change::Upsert(vec![row("a", "2"), row("c", "1")]));
    view.apply(watch::Change::Remove(vec!["uid-b".to_owned()]));
    let Some(Message::Rows {
        changed, removed, ..
    }) = view.changes(1, &ListScope::Cluster)
    else {
        panic!("rows expected");
    };
    let names: Vec<_> = changed.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(removed, ["uid-b"]);
}

#[test]
fn rows_that_the_filter_leaves_out_are_not_sent() {
    let mut view = view("web", vec![row("web-1", "1")]);
    view.apply(watch::Change::Upsert(vec![row("db-1", "1")]));
    assert!(view.changes(1, &ListScope::Cluster).is_none());
}

#[test]
fn a_list_longer_than_its_window_is_sent_whole_when_its_length_changes() {
    let rows = (0..lists::MAX_ROWS + 5)
        .map(|number| row(&format!("p{number:05}"), "1"))
        .collect();
    let mut view = view("", rows);
    view.apply(watch::Change::Upsert(vec![row("z", "1")]));
    assert!(matches!(
        view.changes(1, &ListScope::Cluster),
        Some(Message::Snapshot { total, .. }) if total == lists::MAX_ROWS + 6
    ));
}

#[test]
fn finding_p19_workloads_that_are_not_ready_are_sent_again_to_be_judged_by_the_time() {
    let mut unready = row("web", "1");
    unready.row.health = Some(Health::Warning);
    let mut ready = row("db", "1");
    ready.row.health = Some(Health::Ok);
    let deployments = ResourceRef::new("apps", "v1", "deployments");
    let mut view = view_of(deployments, "", vec![unready.clone(), ready]);
    view.send_uncertain_again();
    let Some(Message::Rows {
        changed, removed, ..
    }) = view.changes(1, &ListScope::Cluster)
    else {
        panic!("rows expected");
    };
    assert_eq!(changed, [unready.row.clone()]);
    assert!(removed.is_empty());
    assert!(view.changes(1, &ListScope::Cluster).is_none());
    // the control case: the cells of a job say enough
    let mut jobs = view_of(ResourceRef::new("batch", "v1", "jobs"), "", vec![unready]);
    jobs.send_uncertain_again();
    assert!(jobs.changes(1, &ListScope::Cluster).is_none());
}

#[test]
fn finding_s12_the_memory_of_rows_is_counted_as_they_come_and_go() {
    let mut view = view("", vec![row("a", "1")]);
    let one = view.bytes();
    assert!(one > 100, "{one}");
    view.apply(watch::Change::Upsert(vec![row("b", "1"), row("a", "2")]));
    assert_eq!(view.bytes(), 2 * one);
    view.apply(watch::Change::Remove(vec![
        "uid-a".to_owned(),
        "uid-b".to_owned(),
        "uid-unknown".to_owned(),
    ]));
    assert_eq!(view.bytes(), 0);
}
