use super::*;
use crate::service::lists::fixtures::{NOW, query, row, rows};
use portico_domain::panel::{EventFields, ListQuery, ResourceRef, Row};

fn arranged(source: Vec<Row>, query: &ListQuery) -> Arranged {
    Arranged::new(rows(source), &Filter::new(query).unwrap(), NOW).unwrap()
}

fn names(arranged: &Arranged) -> Vec<&str> {
    arranged
        .rows
        .iter()
        .map(|row| row.row.name.as_str())
        .collect()
}

fn sorted(sort: &str) -> Vec<String> {
    let source = vec![
        row("b", "web", "Running", "10"),
        row("a", "Web-2", "Running", "9"),
        row("a", "db", "Running", "0"),
    ];
    let sort = sort.to_owned();
    let query = ListQuery { sort, ..query() };
    let arranged = arranged(source, &query);
    names(&arranged).into_iter().map(str::to_owned).collect()
}

#[test]
fn rows_are_ordered_by_namespace_and_name_by_default() {
    assert_eq!(sorted(""), ["Web-2", "db", "web"]);
    assert_eq!(sorted("-"), ["web", "db", "Web-2"]);
    assert_eq!(sorted("nonsense"), ["Web-2", "db", "web"]);
}

#[test]
fn numbers_are_ordered_as_numbers_both_ways() {
    assert_eq!(sorted("restarts"), ["db", "Web-2", "web"]);
    assert_eq!(sorted("-restarts"), ["web", "Web-2", "db"]);
}

#[test]
fn the_youngest_has_the_smallest_age() {
    let made_at = |name: &str, created_at: Option<i64>| Row {
        created_at,
        ..row("a", name, "Running", "0")
    };
    let source = vec![
        made_at("old", Some(100)),
        made_at("young", Some(900)),
        made_at("middle", Some(500)),
    ];
    let by = |sort: &str| {
        let sort = sort.to_owned();
        let arranged = arranged(source.clone(), &ListQuery { sort, ..query() });
        names(&arranged).join(" ")
    };
    assert_eq!(by("age"), "young middle old");
    assert_eq!(by("-age"), "old middle young");
}

#[test]
fn numbers_and_texts_of_one_column_have_one_order() {
    let cells = ["<none>", "7 (5m ago)", "", "10", "-", "7", "0.5", "many"];
    let source = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| row("a", &index.to_string(), "Running", cell))
        .collect();
    let sort = "restarts".to_owned();
    let arranged = arranged(source, &ListQuery { sort, ..query() });
    let sorted: Vec<_> = names(&arranged)
        .into_iter()
        .map(|name| cells[name.parse::<usize>().unwrap()])
        .collect();
    assert_eq!(
        sorted,
        ["", "-", "0.5", "7", "7 (5m ago)", "10", "<none>", "many"]
    );
}

#[test]
fn a_status_is_ordered_by_severity_and_then_by_its_text() {
    let source = || {
        vec![
            row("a", "fine", "Running", "0"),
            row("a", "loops", "CrashLoopBackOff", "0"),
            row("a", "image", "ImagePullBackOff", "0"),
            row("a", "waits", "Pending", "0"),
            Row {
                health: None,
                ..row("a", "unknown", "Weird", "0")
            },
        ]
    };
    let by = |sort: &str| ListQuery {
        sort: sort.to_owned(),
        ..query()
    };
    assert_eq!(
        names(&arranged(source(), &by("status"))),
        ["loops", "image", "waits", "fine", "unknown"]
    );
    assert_eq!(
        names(&arranged(source(), &by("-status"))),
        ["unknown", "fine", "waits", "image", "loops"]
    );
}

#[test]
fn finding_p2_events_are_listed_newest_first() {
    let event = |name: &str, last_seen: Option<i64>| Row {
        event: Some(EventFields {
            last_seen,
            count: 1,
            object: None,
        }),
        ..row("a", name, "Running", "0")
    };
    let listed = |sort: &str| {
        let source = vec![
            event("old", Some(10)),
            event("unknown", None),
            event("new", Some(30)),
            event("between", Some(20)),
        ];
        let query = ListQuery {
            resource: ResourceRef::new("events.k8s.io", "v1", "events"),
            sort: sort.to_owned(),
            ..query()
        };
        let arranged = arranged(source, &query);
        names(&arranged).join(" ")
    };
    assert_eq!(listed(""), "new between old unknown");
    assert_eq!(listed("-last seen"), "unknown old between new");
}

#[test]
fn statuses_are_counted_over_the_rows_that_match_all_other_filters() {
    let source = vec![
        row("a", "web-1", "Running", "0"),
        row("a", "web-2", "Running", "0"),
        row("a", "web-3", "CrashLoopBackOff", "0"),
        row("a", "db-1", "Pending", "0"),
        Row {
            // not ready; most of the running ones are
            health: Some(Health::Warning),
            ..row("a", "web-4", "Running", "0")
        },
    ];
    let query = ListQuery {
        search: "web".to_owned(),
        status: vec!["Running".to_owned()],
        ..query()
    };
    let arranged = arranged(source, &query);
    assert_eq!(names(&arranged), ["web-1", "web-2", "web-4"]);
    let counts: Vec<_> = arranged
        .statuses
        .iter()
        .map(|one| (one.status.as_str(), one.health, one.count))
        .collect();
    assert_eq!(
        counts,
        [
            ("CrashLoopBackOff", Some(Health::Failed), 1),
            ("Running", Some(Health::Ok), 3),
        ]
    );
    let window = arranged.window(RowRange {
        offset: 0,
        limit: 50,
    });
    assert_eq!((window.total, window.unfiltered), (3, 5));
}

fn many(count: usize) -> Vec<Row> {
    (0..count)
        .rev()
        .map(|number| row("a", &format!("p{number:05}"), "Running", "0"))
        .collect()
}

#[test]
fn a_window_has_at_most_the_maximum_of_rows_and_knows_how_many_there_are() {
    let arranged = arranged(many(1_000), &query());
    let window = |offset, limit| {
        let window = arranged.window(RowRange { offset, limit });
        let first = window.rows.first().map(|row| row.name.clone());
        assert_eq!((window.total, window.unfiltered), (1_000, 1_000));
        (window.offset, window.rows.len(), first.unwrap_or_default())
    };
    assert_eq!(window(0, 50), (0, 50, "p00000".to_owned()));
    assert_eq!(
        window(400, usize::MAX),
        (400, MAX_WINDOW_ROWS, "p00400".to_owned())
    );
    assert_eq!(window(990, 50), (990, 10, "p00990".to_owned()));
    // after the last row: the last window
    assert_eq!(window(5_000, 50), (950, 50, "p00950".to_owned()));
    assert_eq!(window(usize::MAX, 0), (1_000, 0, String::new()));
}

#[test]
fn an_empty_list_has_an_empty_window() {
    let window = arranged(Vec::new(), &query()).window(RowRange {
        offset: 7,
        limit: 50,
    });
    assert_eq!((window.offset, window.rows.len(), window.total), (0, 0, 0));
}

#[test]
fn rows_that_are_still_to_be_read_are_counted_unless_a_filter_may_leave_them_out() {
    let total = |search: &str| {
        let mut source = ListRows::clone(&rows(many(3)));
        source.remaining = 7;
        let query = ListQuery {
            search: search.to_owned(),
            ..query()
        };
        let arranged = Arranged::new(Arc::new(source), &Filter::new(&query).unwrap(), NOW).unwrap();
        let window = arranged.window(RowRange {
            offset: 0,
            limit: 50,
        });
        (window.total, window.unfiltered)
    };
    assert_eq!(total(""), (10, 10));
    assert_eq!(total("p0000"), (3, 10));
}

#[test]
fn changes_since_a_pause_are_counted_once_for_each_object_that_the_query_selects() {
    let before = rows(vec![
        row("a", "same", "Running", "0"),
        row("a", "changes", "Running", "0"),
        row("a", "deleted", "Running", "0"),
        row("a", "other", "Pending", "0"),
    ]);
    let mut after = ListRows::clone(&before);
    let newer = |name: &str, status: &str| {
        Arc::new(TableRow {
            row: Row {
                resource_version: "2".to_owned(),
                ..row("a", name, status, "1")
            },
            owner: None,
        })
    };
    after.rows[1] = newer("changes", "CrashLoopBackOff");
    after.rows[3] = newer("other", "Pending");
    after.rows.remove(2);
    after.rows.push(newer("new", "Running"));
    let changed = |status: &[&str]| {
        let query = ListQuery {
            status: status.iter().map(|&one| one.to_owned()).collect(),
            ..query()
        };
        let filter = Filter::new(&query).unwrap();
        let matcher = filter.bind(&before.columns, NOW).unwrap();
        changed_between(&before, &after, &matcher)
    };
    assert_eq!(changed(&[]), 4);
    // `changes` was running before; `other` never was
    assert_eq!(changed(&["Running"]), 3);
    assert_eq!(changed(&["CrashLoopBackOff"]), 1);
    assert_eq!(changed(&["Completed"]), 0);
}

#[test]
fn ten_thousand_rows_are_filtered_sorted_and_counted() {
    let source = (0..10_000)
        .map(|number| {
            let status = ["Running", "Pending", "CrashLoopBackOff"][number % 3];
            row(
                &format!("ns-{}", number % 200),
                &format!("app-{}-{number}", number % 97),
                status,
                &(number % 13).to_string(),
            )
        })
        .collect();
    let query = ListQuery {
        search: "app -\"nothing of this\"".to_owned(),
        labels: "app".to_owned(),
        fields: "restarts>2".to_owned(),
        status: vec!["Running".to_owned()],
        sort: "-restarts".to_owned(),
        ..query()
    };
    let arranged = arranged(source, &query);
    let is_selected = |number: &usize| number % 13 > 2;
    assert_eq!(
        arranged.total,
        (0..10_000).step_by(3).filter(is_selected).count()
    );
    let counted: usize = arranged.statuses.iter().map(|one| one.count).sum();
    assert_eq!(counted, (0..10_000).filter(is_selected).count());
}
