//! The columns that are shown, and how a choice of them is written.
use super::*;

fn column(name: &str, priority: i32) -> Column {
    Column {
        name: name.to_owned(),
        description: String::new(),
        priority,
        kind: "string".to_owned(),
    }
}

fn pods() -> Vec<ShownColumn> {
    let columns = [
        column("Name", 0),
        column("Status", 0),
        column("IP", 1),
        column("Node", 1),
    ];
    available(&ResourceRef::core("pods"), &columns, true, false)
}

#[test]
fn need_07_rows_have_their_usage_before_their_age_if_there_is_a_source() {
    let columns = [column("Name", 0), column("Age", 0), column("Node", 1)];
    let keys = |with_usage: bool| {
        let pods = ResourceRef::core("pods");
        let all = available(&pods, &columns, false, with_usage);
        let shown = shown(&all, &ListState::default());
        shown
            .into_iter()
            .map(|column| column.key)
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(true), ["name", "cpu", "memory", "age", "node"]);
    assert_eq!(keys(false), ["name", "age", "node"]);
}

fn keys(state: &ListState) -> Vec<String> {
    let shown = shown(&pods(), state);
    shown.into_iter().map(|column| column.key).collect()
}

#[test]
fn the_default_columns_are_the_important_ones_and_a_pods_node() {
    let mut state = ListState::default();
    assert_eq!(keys(&state), ["name", "namespace", "status", "node"]);
    state.namespaces = vec!["shop".to_owned()];
    assert_eq!(keys(&state), ["name", "status", "node"]);
}

#[test]
fn a_choice_is_in_the_order_of_the_table_and_the_default_one_is_none() {
    let mut state = ListState::default();
    set_shown(&pods(), &mut state, "label:app", true);
    set_shown(&pods(), &mut state, "ip", true);
    set_shown(&pods(), &mut state, "status", false);
    assert_eq!(
        keys(&state),
        ["name", "namespace", "ip", "node", "label:app"]
    );
    assert_eq!(state.columns.len(), 5);
    set_shown(&pods(), &mut state, "label:app", false);
    set_shown(&pods(), &mut state, "ip", false);
    set_shown(&pods(), &mut state, "status", true);
    assert!(state.columns.is_empty(), "{:?}", state.columns);
}

#[test]
fn the_name_is_always_shown() {
    let state = ListState {
        columns: vec!["status".to_owned(), "unknown".to_owned()],
        ..ListState::default()
    };
    assert_eq!(keys(&state), ["name", "status"]);
}
