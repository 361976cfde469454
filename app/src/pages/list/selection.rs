//! The selected rows. They stay selected while others are shown.
use crate::hooks::{LiveList, LiveRow};
use leptos::prelude::*;
use portico_domain::panel::{BulkTarget, MAX_SELECTED, Row};
use std::collections::BTreeMap;

/// The selection of a list, by UID. `Copy`.
#[derive(Clone, Copy)]
pub struct Picked {
    rows: RwSignal<BTreeMap<String, BulkTarget>>,
    /// The row that was clicked last; a range begins there.
    anchor: StoredValue<Option<String>>,
}

/// Returns an object as the target of a change.
pub fn target_of(row: &Row) -> BulkTarget {
    BulkTarget {
        uid: row.uid.clone(),
        namespace: row.namespace.clone(),
        name: row.name.clone(),
    }
}

impl Picked {
    pub fn new() -> Self {
        Self {
            rows: RwSignal::new(BTreeMap::new()),
            anchor: StoredValue::new(None),
        }
    }

    pub fn count(self) -> usize {
        self.rows.with(BTreeMap::len)
    }

    pub fn contains(self, uid: &str) -> bool {
        self.rows.with(|rows| rows.contains_key(uid))
    }

    pub fn clear(self) {
        self.rows.update(BTreeMap::clear);
    }

    /// Returns the selected objects by namespace and name.
    pub fn targets(self) -> Vec<BulkTarget> {
        let mut targets: Vec<BulkTarget> = self.rows.with(|rows| rows.values().cloned().collect());
        targets.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        targets
    }

    /// Returns the namespaces of the selected objects.
    pub fn namespaces(self) -> Vec<Option<String>> {
        let mut names: Vec<Option<String>> = self
            .rows
            .with(|rows| rows.values().map(|row| row.namespace.clone()).collect());
        names.sort();
        names.dedup();
        names
    }

    /// Selects or releases a row, or with `range` all rows from the one that was clicked before.
    pub fn toggle(self, row: &LiveRow, range: bool, list: LiveList) {
        let on = !self.rows.with_untracked(|rows| rows.contains_key(&row.uid));
        let anchor = self.anchor.get_value().filter(|_| range);
        let chosen = list
            .rows
            .with_untracked(|rows| between(rows, anchor.as_deref(), &row.uid));
        self.anchor.set_value(Some(row.uid.clone()));
        if chosen.is_empty() {
            self.set(std::slice::from_ref(row), on);
        } else {
            self.set(&chosen, on);
        }
    }

    /// Selects or releases every loaded row.
    pub fn set_loaded(self, list: LiveList, on: bool) {
        self.set(&list.rows.get_untracked(), on);
    }

    /// Adds objects that may not be loaded.
    pub fn add(self, targets: Vec<BulkTarget>) {
        self.rows.update(|rows| {
            for target in targets {
                if rows.len() < MAX_SELECTED {
                    rows.insert(target.uid.clone(), target);
                }
            }
        });
    }

    /// Releases objects that do not exist any more.
    pub fn release(self, targets: &[BulkTarget]) {
        let _ = self.rows.try_update(|rows| {
            for target in targets {
                rows.remove(&target.uid);
            }
        });
    }

    fn set(self, chosen: &[LiveRow], on: bool) {
        self.rows.update(|rows| {
            for row in chosen {
                if !on {
                    rows.remove(&row.uid);
                } else if rows.len() < MAX_SELECTED {
                    rows.insert(row.uid.clone(), row.row.with_untracked(target_of));
                }
            }
        });
    }
}

/// Returns the loaded rows from one to another, in either direction; only the second if the first one
/// is not loaded.
fn between(rows: &[LiveRow], from: Option<&str>, to: &str) -> Vec<LiveRow> {
    let place = |uid: &str| rows.iter().position(|row| row.uid == uid);
    let Some(to) = place(to) else {
        return Vec::new();
    };
    let from = from.and_then(place).unwrap_or(to);
    rows.get(from.min(to)..=from.max(to))
        .map(<[LiveRow]>::to_vec)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::window::arranged;

    fn rows() -> Vec<LiveRow> {
        let row = |uid: &str| Row {
            uid: uid.to_owned(),
            name: uid.to_owned(),
            namespace: None,
            resource_version: "1".to_owned(),
            created_at: None,
            cells: Vec::new(),
            labels: Vec::new(),
            health: None,
            event: None,
        };
        arranged(Vec::new(), 0, ["a", "b", "c", "d"].map(row).to_vec())
    }

    fn uids(rows: &[LiveRow]) -> Vec<&str> {
        rows.iter().map(|row| row.uid.as_str()).collect()
    }

    #[test]
    fn a_range_has_both_ends_in_either_direction() {
        let rows = rows();
        assert_eq!(uids(&between(&rows, Some("b"), "d")), ["b", "c", "d"]);
        assert_eq!(uids(&between(&rows, Some("d"), "b")), ["b", "c", "d"]);
        assert_eq!(uids(&between(&rows, None, "c")), ["c"]);
        assert_eq!(uids(&between(&rows, Some("gone"), "c")), ["c"]);
        assert!(between(&rows, Some("a"), "gone").is_empty());
    }
}
