//! Pods that run and were restarted just now, found by the cells of their list.
use crate::kube::table::TableRow;
use jiff::SignedDuration;
use portico_domain::panel::{Column as TableColumn, Health};

/// Fewer restarts are no crash loop.
const MIN_RESTARTS: u32 = 2;
/// As long as a crash loop is remembered, see [`crate::service::health`].
const RECENT: SignedDuration = SignedDuration::from_mins(10);

/// The column with a pod's restarts: `7 (40s ago)`, before Kubernetes 1.22 `7` only.
pub struct Column(usize);

impl Column {
    pub fn of(columns: &[TableColumn]) -> Option<Self> {
        columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case("Restarts"))
            .map(Self)
    }

    /// The pods that may be between two crashes, the most restarted first. Where the list has
    /// no time of the restart, every restarted pod may be.
    pub fn recently(&self, rows: Vec<TableRow>) -> Vec<TableRow> {
        let mut found: Vec<(u32, TableRow)> = rows
            .into_iter()
            .filter(|row| row.row.health == Some(Health::Ok))
            .filter_map(|row| {
                let restarts = Restarts::read(row.row.cells.get(self.0)?)?;
                let recent = restarts.last.is_none_or(|ago| ago <= RECENT);
                (restarts.count >= MIN_RESTARTS && recent).then_some((restarts.count, row))
            })
            .collect();
        found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        found.into_iter().map(|(_, row)| row).collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Restarts {
    count: u32,
    /// How long ago the last one was.
    last: Option<SignedDuration>,
}

impl Restarts {
    fn read(cell: &str) -> Option<Self> {
        let (count, rest) = match cell.split_once(' ') {
            Some((count, rest)) => (count, Some(rest)),
            None => (cell, None),
        };
        Some(Self {
            count: count.parse().ok()?,
            // what is counted in years is long ago too
            last: rest.map(|rest| age(rest).unwrap_or(SignedDuration::MAX)),
        })
    }
}

/// The age in `(3m20s ago)`; kubectl's short form is jiff's friendly one.
fn age(text: &str) -> Option<SignedDuration> {
    let age = text.strip_prefix('(')?.strip_suffix(" ago)")?;
    let age: jiff::Span = age.parse().ok()?;
    age.to_duration(jiff::SpanRelativeTo::days_are_24_hours())
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::Row;

    fn row(name: &str, restarts: &str, health: Health) -> TableRow {
        TableRow {
            owner: None,
            row: Row {
                uid: name.to_owned(),
                name: name.to_owned(),
                namespace: Some("shop".to_owned()),
                resource_version: "1".to_owned(),
                created_at: None,
                cells: vec![name.to_owned(), restarts.to_owned()],
                labels: Vec::new(),
                health: Some(health),
                event: None,
            },
        }
    }

    #[test]
    fn restarts_are_read_with_their_age() {
        let read =
            |cell: &str| Restarts::read(cell).map(|r| (r.count, r.last.map(|d| d.as_secs())));
        assert_eq!(read("7"), Some((7, None)));
        assert_eq!(read("7 (40s ago)"), Some((7, Some(40))));
        assert_eq!(read("7 (3m20s ago)"), Some((7, Some(200))));
        assert_eq!(read("7 (5d4h ago)"), Some((7, Some(446_400))));
        assert_eq!(read("7 (2y30d ago)"), Some((7, Some(i64::MAX))));
        assert_eq!(read("<none>"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn finding_p11_a_pod_between_two_crashes_is_looked_at() {
        let found = Column(1).recently(vec![
            row("fresh", "0", Health::Ok),
            row("once", "1 (5s ago)", Health::Ok),
            row("looping", "4 (50s ago)", Health::Ok),
            row("long-ago", "9 (3d ago)", Health::Ok),
            row("unknown-when", "12", Health::Ok),
            // looked at already
            row("ill", "5 (5s ago)", Health::Failed),
        ]);
        let names: Vec<_> = found.iter().map(|row| row.row.name.as_str()).collect();
        assert_eq!(names, ["unknown-when", "looping"]);
    }
}
