//! Pods that were restarted repeatedly, found by the cells of their list.
use jiff::SignedDuration;
use portico_domain::panel::{Column as TableColumn, Row};

/// Fewer restarts do not count as a crash loop.
const MIN_RESTARTS: u32 = 2;
/// How long after its last restart a crash loop is remembered, see [`crate::service::health`].
const CRASH_LOOP_WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// The column of a pod's restarts: `7 (40s ago)`; before Kubernetes 1.22, `7` only.
#[derive(Clone, Copy, Debug)]
pub struct Column(usize);

impl Column {
    pub fn of(columns: &[TableColumn]) -> Option<Self> {
        columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case("Restarts"))
            .map(Self)
    }

    /// Returns the number of restarts of a pod that may be in a crash loop. If the list has no time
    /// of the last restart, every restarted pod may be.
    pub fn recent(self, row: &Row) -> Option<u32> {
        let restarts = Restarts::read(row.cells.get(self.0)?)?;
        let recent = restarts.last.is_none_or(|ago| ago <= CRASH_LOOP_WINDOW);
        (restarts.count >= MIN_RESTARTS && recent).then_some(restarts.count)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Restarts {
    count: u32,
    /// The time since the last restart.
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
            // an age in years is long ago too
            last: rest.map(|rest| age(rest).unwrap_or(SignedDuration::MAX)),
        })
    }
}

/// Parses the age in `(3m20s ago)`; kubectl's short form is jiff's friendly one.
fn age(text: &str) -> Option<SignedDuration> {
    let age = text.strip_prefix('(')?.strip_suffix(" ago)")?;
    let age: jiff::Span = age.parse().ok()?;
    age.to_duration(jiff::SpanRelativeTo::days_are_24_hours())
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(restarts: &str) -> Row {
        Row {
            uid: "uid".to_owned(),
            name: "web".to_owned(),
            namespace: Some("shop".to_owned()),
            resource_version: "1".to_owned(),
            created_at: None,
            cells: vec!["web".to_owned(), restarts.to_owned()],
            labels: Vec::new(),
            health: None,
            event: None,
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
    fn finding_p11_only_repeated_and_recent_restarts_may_be_a_crash_loop() {
        for (cell, recent) in [
            ("0", None),
            ("1 (5s ago)", None),
            ("4 (50s ago)", Some(4)),
            ("9 (3d ago)", None),
            ("12", Some(12)),
        ] {
            assert_eq!(Column(1).recent(&row(cell)), recent, "{cell}");
        }
        assert_eq!(Column(7).recent(&row("4 (50s ago)")), None);
    }
}
