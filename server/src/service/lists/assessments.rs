//! Lists of kinds whose status is their health: rows with the health that a viewer has read from
//! their objects, so that counts, filter and order agree with the health that the rows show.
use super::{
    arrangement::{Arranged, ListRows},
    filter::{Filter, FilterError},
};
use crate::{
    kube::{Api, table::TableRow},
    service::row_health::RowHealth,
};
use jiff::Timestamp;
use portico_domain::panel::{Health, Row, RowRange, RowWindow};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

/// Maximum number of rows outside the window that are assessed, for the counts and the filter.
const MAX_OUTSIDE_WINDOW: usize = 12;
/// A row whose object has not been read for this long has the health of its cells again.
const MAX_AGE: Duration = Duration::from_secs(120);

/// The health that a viewer has read from the objects of rows, by UID.
#[derive(Debug, Default)]
pub struct Assessments(HashMap<String, Assessment>);

#[derive(Debug)]
struct Assessment {
    resource_version: String,
    health: Health,
    read_at: Instant,
}

/// What [`Assessments::update`] has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Whether the health of a row is another than before.
    pub is_changed: bool,
    /// Whether rows are left that the viewer has not read a short time ago.
    pub is_left: bool,
}

impl Assessments {
    /// Takes the health of rows that this user has read a short time ago.
    pub async fn update(&mut self, api: &Api, rows: &[Row]) -> Update {
        let mut update = Update {
            is_changed: false,
            is_left: false,
        };
        for row in rows {
            match api.assessed(row).await {
                Some(health) => update.is_changed |= self.set(row, health),
                None => update.is_left = true,
            }
        }
        update
    }

    /// Returns whether the health of the row is another than before.
    fn set(&mut self, row: &Row, health: Health) -> bool {
        let before = self.get(row).or(row.health);
        let assessment = Assessment {
            resource_version: row.resource_version.clone(),
            health,
            read_at: Instant::now(),
        };
        self.0.insert(row.uid.clone(), assessment);
        before != Some(health)
    }

    fn get(&self, row: &Row) -> Option<Health> {
        let known = self.0.get(&row.uid)?;
        let is_current =
            known.resource_version == row.resource_version && known.read_at.elapsed() < MAX_AGE;
        is_current.then_some(known.health)
    }

    /// Returns the arrangement with these assessments; the same one if they change nothing. What is
    /// no longer true of its rows is removed.
    ///
    /// # Errors
    /// `Fields` for a condition that does not fit the columns.
    pub fn apply(
        &mut self,
        arranged: &Arc<Arranged>,
        filter: &Filter,
        now: Timestamp,
    ) -> Result<Arc<Arranged>, FilterError> {
        if self.0.is_empty() {
            return Ok(Arc::clone(arranged));
        }
        let source = &arranged.source;
        let mut current = HashSet::new();
        let mut is_changed = false;
        let rows = source
            .rows
            .iter()
            .map(|row| {
                let Some(health) = self.get(&row.row) else {
                    return Arc::clone(row);
                };
                current.insert(row.row.uid.as_str());
                if row.row.health == Some(health) {
                    return Arc::clone(row);
                }
                is_changed = true;
                let mut assessed = TableRow::clone(row);
                assessed.row.health = Some(health);
                Arc::new(assessed)
            })
            .collect();
        self.0.retain(|uid, _| current.contains(uid.as_str()));
        if !is_changed {
            return Ok(Arc::clone(arranged));
        }
        let source = ListRows {
            columns: Arc::clone(&source.columns),
            rows,
            remaining: source.remaining,
            bytes: source.bytes,
            is_cut: source.is_cut,
        };
        Arranged::new(Arc::new(source), filter, now).map(Arc::new)
    }
}

/// Returns the rows of a list, as their cells show them, whose objects have to be read: those in the
/// window that is shown, and the first others that the filter selects with any status.
///
/// # Errors
/// `Fields` for a condition that does not fit the columns.
pub fn uncertain_rows(
    health: &RowHealth,
    source: &ListRows,
    window: &RowWindow,
    filter: &Filter,
    now: Timestamp,
) -> Result<Vec<Row>, FilterError> {
    let shown: HashSet<_> = window.rows.iter().map(|row| row.uid.as_str()).collect();
    let matcher = filter.bind(&source.columns, now)?;
    let (mut uncertain, others): (Vec<_>, Vec<_>) = source
        .rows
        .iter()
        .map(|row| &row.row)
        .filter(|row| health.is_uncertain(row) && matcher.matches_beside_status(row))
        .partition(|row| shown.contains(row.uid.as_str()));
    uncertain.extend(others.into_iter().take(MAX_OUTSIDE_WINDOW));
    Ok(uncertain.into_iter().cloned().collect())
}

/// Reads the objects of a list's uncertain rows, and arranges the list by their health.
///
/// # Errors
/// `Fields` for a condition that does not fit the columns.
pub async fn assess(
    api: &Api,
    health: &RowHealth,
    arranged: Arc<Arranged>,
    filter: &Filter,
    range: RowRange,
) -> Result<Arc<Arranged>, FilterError> {
    let window = arranged.window(range);
    let rows = uncertain_rows(health, &arranged.source, &window, filter, api.now())?;
    health.read_unknown(api, &rows).await;
    arrange_by_known(api, &rows, arranged, filter).await
}

/// Arranges a list by the health of uncertain rows that this user has read a short time ago.
///
/// # Errors
/// `Fields` for a condition that does not fit the columns.
pub async fn recall(
    api: &Api,
    health: &RowHealth,
    arranged: Arc<Arranged>,
    filter: &Filter,
) -> Result<Arc<Arranged>, FilterError> {
    let rows = arranged.source.rows.iter().map(|row| &row.row);
    let rows: Vec<_> = rows
        .filter(|row| health.is_uncertain(row))
        .cloned()
        .collect();
    arrange_by_known(api, &rows, arranged, filter).await
}

async fn arrange_by_known(
    api: &Api,
    rows: &[Row],
    arranged: Arc<Arranged>,
    filter: &Filter,
) -> Result<Arc<Arranged>, FilterError> {
    let mut assessments = Assessments::default();
    assessments.update(api, rows).await;
    assessments.apply(&arranged, filter, api.now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lists::fixtures::{NOW, query, row};
    use portico_domain::panel::{Column, ListQuery, ResourceRef};

    fn deployments() -> ResourceRef {
        ResourceRef::new("apps", "v1", "deployments")
    }

    fn columns() -> Arc<[Column]> {
        ["Name", "Ready"]
            .map(|name| Column {
                name: name.to_owned(),
                description: String::new(),
                priority: 0,
                kind: "string".to_owned(),
            })
            .into()
    }

    fn workload(name: &str, health: Health) -> Row {
        Row {
            cells: vec![name.to_owned(), "0/1".to_owned()],
            health: Some(health),
            ..row("shop", name, "", "")
        }
    }

    fn selecting(status: &[&str]) -> (Filter, ListQuery) {
        let query = ListQuery {
            resource: deployments(),
            status: status.iter().map(|&status| status.to_owned()).collect(),
            ..query()
        };
        (Filter::new(&query).unwrap(), query)
    }

    fn list(rows: Vec<Row>) -> Arc<ListRows> {
        Arc::new(ListRows {
            columns: columns(),
            rows: rows
                .into_iter()
                .map(|row| Arc::new(TableRow { row, owner: None }))
                .collect(),
            ..ListRows::default()
        })
    }

    fn names(arranged: &Arranged) -> Vec<&str> {
        let rows = arranged.rows.iter();
        rows.map(|row| row.row.name.as_str()).collect()
    }

    fn counts(arranged: &Arranged) -> Vec<(&str, usize)> {
        let counts = arranged.statuses.iter();
        counts
            .map(|count| (count.status.as_str(), count.count))
            .collect()
    }

    fn failed_and_progressing() -> (Vec<Row>, Assessments) {
        let rows = vec![
            workload("api", Health::Failed),
            workload("db", Health::Failed),
            workload("web", Health::Ok),
        ];
        let mut assessments = Assessments::default();
        assert!(assessments.set(&rows[1], Health::Progressing));
        (rows, assessments)
    }

    #[tokio::test]
    async fn counts_and_filter_agree_with_the_health_that_was_read() {
        let (rows, mut assessments) = failed_and_progressing();
        let source = list(rows);
        for (status, shown) in [
            (&[][..], &["api", "db", "web"][..]),
            (&["Failed"], &["api"]),
            (&["Progressing"], &["db"]),
        ] {
            let (filter, _) = selecting(status);
            let plain = Arc::new(Arranged::new(Arc::clone(&source), &filter, NOW).unwrap());
            let arranged = assessments.apply(&plain, &filter, NOW).unwrap();
            assert_eq!(names(&arranged), shown, "{status:?}");
            let expected = [("Failed", 1), ("Progressing", 1), ("Ready", 1)];
            assert_eq!(counts(&arranged), expected, "{status:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_row_that_has_changed_or_was_read_long_ago_has_the_health_of_its_cells() {
        let (mut rows, mut assessments) = failed_and_progressing();
        let (filter, _) = selecting(&[]);
        let arrange = |rows: &[Row]| Arranged::new(list(rows.to_vec()), &filter, NOW).unwrap();
        let plain = Arc::new(arrange(&rows));
        tokio::time::advance(MAX_AGE / 2).await;
        let assessed = assessments.apply(&plain, &filter, NOW).unwrap();
        assert!(!Arc::ptr_eq(&plain, &assessed));
        rows[1].resource_version = "2".to_owned();
        let changed = Arc::new(arrange(&rows));
        let same = assessments.apply(&changed, &filter, NOW).unwrap();
        assert!(Arc::ptr_eq(&changed, &same));
        // nothing is left of a row that has changed
        assert!(assessments.0.is_empty());

        let (_, mut assessments) = failed_and_progressing();
        tokio::time::advance(MAX_AGE).await;
        let same = assessments.apply(&plain, &filter, NOW).unwrap();
        assert!(Arc::ptr_eq(&plain, &same));
    }

    #[test]
    fn rows_outside_the_window_and_of_other_statuses_are_read_up_to_a_limit() {
        let all: Vec<_> = (10..40)
            .map(|number| workload(&format!("app-{number}"), Health::Failed))
            .chain([workload("web", Health::Ok)])
            .collect();
        let (filter, query) = selecting(&["Progressing"]);
        let health = RowHealth::of(&query.resource, &columns()).unwrap();
        let window = RowWindow {
            rows: vec![all[20].clone(), all[30].clone()],
            ..RowWindow::default()
        };
        let rows = uncertain_rows(&health, &list(all), &window, &filter, NOW).unwrap();
        assert_eq!(rows.len(), 1 + MAX_OUTSIDE_WINDOW);
        assert_eq!(rows[0].name, "app-30");
        assert_eq!(rows[1].name, "app-10");
    }
}
