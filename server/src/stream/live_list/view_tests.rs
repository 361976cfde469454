use super::*;
use portico_domain::panel::{Health, ResourceRef};

fn row(name: &str, version: &str) -> Row {
    Row {
        uid: format!("uid-{name}"),
        name: name.to_owned(),
        namespace: None,
        resource_version: version.to_owned(),
        created_at: None,
        cells: vec![name.to_owned()],
        labels: Vec::new(),
        health: None,
        event: None,
    }
}

fn window(rows: &[Row], total: usize) -> Window {
    Window {
        columns: Vec::new().into(),
        rows: rows.to_vec(),
        total,
        bytes: 0,
        is_cut: false,
    }
}

fn whole(rows: &[Row]) -> Window {
    window(rows, rows.len())
}

fn view_of(resource: ResourceRef, rows: &[Row]) -> View {
    let query = ListQuery {
        resource,
        namespace: None,
        name: String::new(),
        labels: String::new(),
        sort: String::new(),
    };
    let mut view = View::new(&query);
    view.snapshot(1, &ListScope::Cluster, whole(rows));
    view
}

fn view(rows: &[Row]) -> View {
    view_of(ResourceRef::core("pods"), rows)
}

#[test]
fn only_what_changed_is_sent() {
    let before = [row("a", "1"), row("b", "1")];
    let mut view = view(&before);
    assert!(
        view.changes(1, &ListScope::Cluster, whole(&before))
            .is_none()
    );
    let after = [row("a", "2"), row("c", "1")];
    let Some(Message::Rows {
        changed, removed, ..
    }) = view.changes(1, &ListScope::Cluster, whole(&after))
    else {
        panic!("rows expected");
    };
    let names: Vec<_> = changed.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(removed, ["uid-b"]);
}

#[test]
fn a_list_longer_than_its_window_is_sent_whole_when_its_length_changes() {
    let rows = [row("a", "1"), row("b", "1")];
    let mut view = view(&rows);
    assert!(matches!(
        view.changes(1, &ListScope::Cluster, window(&rows, 3)),
        Some(Message::Snapshot { total: 3, .. })
    ));
    // the same length: its rows alone
    let changed = [row("a", "1"), row("b", "2")];
    assert!(matches!(
        view.changes(1, &ListScope::Cluster, window(&changed, 3)),
        Some(Message::Rows { .. })
    ));
}

#[test]
fn finding_p19_workloads_that_are_not_ready_are_sent_again_to_be_judged_by_the_time() {
    let mut unready = row("web", "1");
    unready.health = Some(Health::Warning);
    let mut ready = row("db", "1");
    ready.health = Some(Health::Ok);
    let rows = [unready.clone(), ready];
    let mut view = view_of(ResourceRef::new("apps", "v1", "deployments"), &rows);
    assert!(!view.is_due());
    view.send_uncertain_again();
    assert!(view.is_due());
    let Some(Message::Rows {
        changed, removed, ..
    }) = view.changes(1, &ListScope::Cluster, whole(&rows))
    else {
        panic!("rows expected");
    };
    assert_eq!(changed, [unready]);
    assert!(removed.is_empty());
    assert!(!view.is_due());
    assert!(view.changes(1, &ListScope::Cluster, whole(&rows)).is_none());
    // the control case: the cells of a job are sufficient
    let mut jobs = view_of(ResourceRef::new("batch", "v1", "jobs"), &rows);
    jobs.send_uncertain_again();
    assert!(!jobs.is_due());
}
