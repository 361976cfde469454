use super::*;

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

fn window(rows: &[Row]) -> NewWindow {
    NewWindow {
        window: RowWindow {
            offset: 0,
            rows: rows.to_vec(),
            total: rows.len(),
            unfiltered: rows.len(),
        },
        ..NewWindow::default()
    }
}

fn sent(rows: &[Row]) -> SentWindow {
    let mut sent = SentWindow::default();
    let (message, rest) = sent.snapshot(1, 4, &ListScope::Cluster, window(rows));
    assert!(matches!(message, Message::Snapshot { id: 1, turn: 4, .. }));
    assert!(rest.is_none());
    sent
}

/// Names of the changed rows, and the new order.
fn rows_of(message: Option<Message>) -> (Vec<String>, Option<Vec<String>>) {
    let Some(Message::Rows { changed, order, .. }) = message else {
        panic!("rows expected: {message:?}");
    };
    (changed.into_iter().map(|row| row.name).collect(), order)
}

#[test]
fn only_what_changed_is_sent() {
    let before = [row("a", "1"), row("b", "1")];
    let mut sent = sent(&before);
    assert_eq!(sent.changes(1, 4, window(&before)).unwrap(), None);
    let after = [row("a", "2"), row("c", "1")];
    let (changed, order) = rows_of(sent.changes(1, 4, window(&after)).unwrap());
    assert_eq!(changed, ["a", "c"]);
    assert_eq!(order.unwrap(), ["uid-a", "uid-c"]);
    assert_eq!(sent.changes(1, 4, window(&after)).unwrap(), None);
}

#[test]
fn a_row_that_moves_within_the_window_is_not_sent_again() {
    let mut sent = sent(&[row("a", "1"), row("b", "1")]);
    let moved = [row("b", "1"), row("a", "1")];
    let (changed, order) = rows_of(sent.changes(1, 4, window(&moved)).unwrap());
    assert!(changed.is_empty());
    assert_eq!(order.unwrap(), ["uid-b", "uid-a"]);
    // the control case: changed in its place
    let (changed, order) = rows_of(
        sent.changes(1, 4, window(&[row("b", "2"), row("a", "1")]))
            .unwrap(),
    );
    assert_eq!(changed, ["b"]);
    assert!(order.is_none());
}

#[test]
fn a_row_that_comes_back_into_the_window_is_sent_again() {
    let (a, b) = (row("a", "1"), row("b", "1"));
    let mut sent = sent(&[a.clone(), b.clone()]);
    let without = std::slice::from_ref(&a);
    assert!(
        rows_of(sent.changes(1, 4, window(without)).unwrap())
            .0
            .is_empty()
    );
    let (changed, _) = rows_of(sent.changes(1, 4, window(&[a, b])).unwrap());
    assert_eq!(changed, ["b"]);
}

#[test]
fn totals_and_statuses_are_sent_when_they_change_outside_of_the_window() {
    let rows = [row("a", "1")];
    let mut sent = sent(&rows);
    let mut new = window(&rows);
    new.window.total = 7;
    new.window.unfiltered = 9;
    new.statuses = vec![StatusCount {
        status: "Running".to_owned(),
        health: Some(Health::Ok),
        count: 7,
    }];
    let message = sent.changes(1, 5, new.clone()).unwrap();
    assert_eq!(
        message,
        Some(Message::Rows {
            id: 1,
            turn: 5,
            changed: Vec::new(),
            order: None,
            total: 7,
            unfiltered: 9,
            statuses: Some(new.statuses.clone()),
            pending: 0,
        })
    );
    new.window.total = 8;
    let Some(Message::Rows {
        statuses, total, ..
    }) = sent.changes(1, 5, new).unwrap()
    else {
        panic!("rows expected");
    };
    assert_eq!((statuses, total), (None, 8));
}

#[test]
fn a_window_with_other_columns_or_another_start_is_sent_whole() {
    let rows = [row("a", "1")];
    let mut sent = sent(&rows);
    let mut moved = window(&rows);
    moved.window.offset = 3;
    assert!(sent.changes(1, 4, moved).is_err());
    let mut wider = window(&rows);
    wider.columns = vec![Column {
        name: "Name".to_owned(),
        description: String::new(),
        priority: 0,
        kind: "string".to_owned(),
    }]
    .into();
    assert!(sent.changes(1, 4, wider).is_err());
}

#[test]
fn finding_p19_a_row_whose_health_was_assessed_again_is_sent_again() {
    let mut unready = row("web", "1");
    unready.health = Some(Health::Warning);
    let mut sent = sent(&[unready.clone(), row("db", "1")]);
    unready.health = Some(Health::Failed);
    let (changed, order) = rows_of(
        sent.changes(1, 4, window(&[unready, row("db", "1")]))
            .unwrap(),
    );
    assert_eq!(changed, ["web"]);
    assert!(order.is_none());
}

#[test]
fn the_number_of_changes_during_a_pause_is_sent_alone() {
    let rows = [row("a", "1")];
    let mut sent = sent(&rows);
    let mut paused = window(&rows);
    paused.pending = 2;
    let Some(Message::Rows {
        changed, pending, ..
    }) = sent.changes(1, 4, paused.clone()).unwrap()
    else {
        panic!("rows expected");
    };
    assert_eq!((changed.len(), pending), (0, 2));
    assert_eq!(sent.changes(1, 4, paused.clone()).unwrap(), None);
    // a snapshot does not include it
    let (_, rest) = sent.snapshot(1, 5, &ListScope::Cluster, paused);
    assert!(matches!(
        rest,
        Some(Message::Rows {
            turn: 5,
            pending: 2,
            ..
        })
    ));
}
