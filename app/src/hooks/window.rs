//! The rows of a list's window. Rows that stay keep their signals, and so their elements.
use leptos::prelude::*;
use portico_domain::panel::Row;
use std::collections::{HashMap, HashSet};

/// One row of a window.
#[derive(Clone)]
pub struct LiveRow {
    pub uid: String,
    /// Its place among all matching rows, counted from 0.
    pub index: ArcRwSignal<usize>,
    pub row: ArcRwSignal<Row>,
}

impl LiveRow {
    fn new(index: usize, row: Row) -> Self {
        Self {
            uid: row.uid.clone(),
            index: ArcRwSignal::new(index),
            row: ArcRwSignal::new(row),
        }
    }

    fn set(&self, row: Row) {
        self.row.maybe_update(|old| {
            let differs = *old != row;
            *old = row;
            differs
        });
    }

    fn move_to(&self, index: usize) {
        self.index
            .maybe_update(|old| std::mem::replace(old, index) != index);
    }
}

/// Returns the rows of a whole window.
pub fn arranged(known: Vec<LiveRow>, offset: usize, rows: Vec<Row>) -> Vec<LiveRow> {
    let mut known = by_uid(known);
    rows.into_iter()
        .enumerate()
        .map(|(place, row)| match known.remove(&row.uid) {
            Some(live) => {
                live.set(row);
                live.move_to(offset + place);
                live
            }
            None => LiveRow::new(offset + place, row),
        })
        .collect()
}

/// Changes rows in place; returns those that are not in the window yet.
pub fn update(known: &[LiveRow], changed: Vec<Row>) -> Vec<Row> {
    let places: HashMap<&str, &LiveRow> = known.iter().map(|row| (row.uid.as_str(), row)).collect();
    changed
        .into_iter()
        .filter_map(|row| match places.get(row.uid.as_str()) {
            Some(live) => {
                live.set(row);
                None
            }
            None => Some(row),
        })
        .collect()
}

/// Returns whether an order has the same rows as before.
pub fn is_permutation(known: &[LiveRow], order: &[String]) -> bool {
    let known: HashSet<&str> = known.iter().map(|row| row.uid.as_str()).collect();
    known.len() == order.len() && order.iter().all(|uid| known.contains(uid.as_str()))
}

/// Returns the rows in an order; those that are not in it have left the window.
pub fn ordered(
    known: Vec<LiveRow>,
    new: Vec<Row>,
    offset: usize,
    order: &[String],
) -> Vec<LiveRow> {
    let mut known = by_uid(known);
    let mut new: HashMap<String, Row> = new.into_iter().map(|row| (row.uid.clone(), row)).collect();
    order
        .iter()
        .filter_map(|uid| {
            known
                .remove(uid)
                .or_else(|| Some(LiveRow::new(0, new.remove(uid)?)))
        })
        .enumerate()
        .map(|(place, live)| {
            live.move_to(offset + place);
            live
        })
        .collect()
}

fn by_uid(rows: Vec<LiveRow>) -> HashMap<String, LiveRow> {
    rows.into_iter().map(|row| (row.uid.clone(), row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(uid: &str, cell: &str) -> Row {
        Row {
            uid: uid.to_owned(),
            name: uid.to_owned(),
            namespace: None,
            resource_version: "1".to_owned(),
            created_at: None,
            cells: vec![cell.to_owned()],
            labels: Vec::new(),
            health: None,
            event: None,
        }
    }

    fn shown(rows: &[LiveRow]) -> Vec<(usize, String, String)> {
        rows.iter()
            .map(|live| {
                let cell = live.row.with_untracked(|row| row.cells[0].clone());
                (live.index.get_untracked(), live.uid.clone(), cell)
            })
            .collect()
    }

    fn expected(rows: &[(usize, &str, &str)]) -> Vec<(usize, String, String)> {
        rows.iter()
            .map(|(place, uid, cell)| (*place, (*uid).to_owned(), (*cell).to_owned()))
            .collect()
    }

    fn order(uids: &[&str]) -> Vec<String> {
        uids.iter().map(|uid| (*uid).to_owned()).collect()
    }

    #[test]
    fn rows_that_stay_in_the_next_window_keep_their_signals() {
        let first = arranged(Vec::new(), 10, vec![row("a", "1"), row("b", "1")]);
        let kept = first[1].row.clone();
        let second = arranged(first, 11, vec![row("b", "2"), row("c", "1")]);
        assert_eq!(shown(&second), expected(&[(11, "b", "2"), (12, "c", "1")]));
        assert_eq!(kept.with_untracked(|row| row.cells[0].clone()), "2");
    }

    #[test]
    fn a_change_without_an_order_keeps_the_order() {
        let rows = arranged(Vec::new(), 0, vec![row("a", "1"), row("b", "1")]);
        assert!(update(&rows, vec![row("b", "2")]).is_empty());
        assert_eq!(shown(&rows), expected(&[(0, "a", "1"), (1, "b", "2")]));
    }

    #[test]
    fn an_order_brings_new_rows_and_drops_those_that_left() {
        let rows = arranged(Vec::new(), 5, vec![row("a", "1"), row("b", "1")]);
        let new = update(&rows, vec![row("c", "1")]);
        let rows = ordered(rows, new, 5, &order(&["c", "a", "unknown"]));
        assert_eq!(shown(&rows), expected(&[(5, "c", "1"), (6, "a", "1")]));
    }

    #[test]
    fn an_order_of_the_same_rows_is_a_permutation() {
        let rows = arranged(Vec::new(), 0, vec![row("a", "1"), row("b", "1")]);
        assert!(is_permutation(&rows, &order(&["b", "a"])));
        assert!(!is_permutation(&rows, &order(&["b"])));
        assert!(!is_permutation(&rows, &order(&["b", "c"])));
    }
}
