use super::*;
use crate::service::lists::fixtures::{NOW, query, row, rows};
use portico_domain::panel::{ListQuery, RowRange};

fn view(search: &str, is_paused: bool) -> ListView {
    ListView {
        turn: 1,
        query: ListQuery {
            search: search.to_owned(),
            ..query()
        },
        range: RowRange {
            offset: 0,
            limit: 50,
        },
        is_paused,
    }
}

fn live(names: &[&str]) -> Arc<ListRows> {
    rows(
        names
            .iter()
            .map(|name| row("shop", name, "Running", "0"))
            .collect(),
    )
}

fn arranged(names: &[&str], search: &str) -> Arc<Arranged> {
    let filter = Filter::new(&view(search, false).query).unwrap();
    lists::arrange(live(names), &filter, NOW).unwrap()
}

fn clock() -> Clock {
    Clock::from_fn(|| NOW)
}

fn screen(view: ListView, names: &[&str], frozen: Option<Frozen>) -> Screen {
    let live = arranged(names, &view.query.search);
    Screen::new(view, ListScope::Cluster, live, frozen, clock()).unwrap()
}

fn names(screen: &Screen) -> Vec<&str> {
    let rows = screen.arranged.rows.iter();
    rows.map(|row| row.row.name.as_str()).collect()
}

/// Changes the view; the rows as they are now are `now`.
fn show(screen: &mut Screen, view: ListView, now: &[&str]) {
    screen
        .set_view(view, |filter| Ok(lists::arrange(live(now), filter, NOW)?))
        .unwrap();
}

#[test]
fn a_paused_list_keeps_its_rows_under_other_filters_until_it_is_resumed() {
    let mut screen = screen(view("", false), &["a-1", "b-1"], None);
    show(&mut screen, view("", true), &["a-1", "a-2", "b-1"]);
    // the rows that the user has seen, not those of this moment
    assert_eq!(names(&screen), ["a-1", "b-1"]);
    screen.set_rows(arranged(&["a-2"], ""));
    assert_eq!(names(&screen), ["a-1", "b-1"]);
    show(&mut screen, view("a-", true), &["a-2"]);
    assert_eq!(names(&screen), ["a-1"]);
    show(&mut screen, view("a-", false), &["a-1", "a-2"]);
    assert_eq!(names(&screen), ["a-1", "a-2"]);
    screen.set_rows(arranged(&["a-3"], "a-"));
    assert_eq!(names(&screen), ["a-3"]);
}

#[test]
fn changes_are_counted_for_the_filter_of_a_paused_list() {
    let mut screen = screen(view("a-", true), &["a-1", "b-1"], None);
    screen.count_changes(&live(&["a-1", "a-2", "b-2"])).unwrap();
    assert_eq!(screen.frozen.as_ref().unwrap().pending, 1);
    assert!(!screen.is_count_due());
    show(&mut screen, view("", true), &[]);
    // counted again for the new filter
    assert!(screen.is_count_due());
    screen.count_changes(&live(&["a-1", "a-2", "b-2"])).unwrap();
    assert_eq!(screen.frozen.as_ref().unwrap().pending, 3);
}

#[test]
fn a_list_that_is_opened_again_stays_paused_in_the_same_namespaces_only() {
    let frozen = screen(view("", true), &["a-1"], None).frozen();
    let again = screen(view("", true), &["a-2"], frozen.clone());
    assert_eq!(names(&again), ["a-1"]);
    let elsewhere = ListScope::Namespace("bank".to_owned());
    let live = arranged(&["a-2"], "");
    let moved = Screen::new(view("", true), elsewhere, live, frozen.clone(), clock()).unwrap();
    assert_eq!(names(&moved), ["a-2"]);
    let resumed = screen(view("", false), &["a-2"], frozen);
    assert_eq!(names(&resumed), ["a-2"]);
}

#[test]
fn a_view_with_a_wrong_filter_changes_nothing() {
    let mut screen = screen(view("", false), &["a-1", "b-1"], None);
    let mut wrong = view("a-", false);
    wrong.query.fields = "color=red".to_owned();
    wrong.turn = 2;
    let error = screen
        .set_view(wrong, |filter| {
            Ok(lists::arrange(live(&["a-1"]), filter, NOW)?)
        })
        .unwrap_err();
    assert!(error.message.contains("no column"), "{error}");
    assert_eq!(screen.view().turn, 1);
    assert_eq!(names(&screen), ["a-1", "b-1"]);
}
