//! Filter, order and window of rows.
use crate::{kube::table::TableRow, service::error::ServiceError};
use portico_domain::panel::{
    Column, Health, ListQuery, Row,
    label_selector::{LabelSelector, SelectorError},
};
use std::{cmp::Ordering, sync::Arc};

/// Maximum number of rows in one response; `total` is their full number.
pub const MAX_ROWS: usize = 500;

/// What a query selects, and in which order.
pub struct Filter {
    /// In lower case.
    name: String,
    labels: LabelSelector,
    has_labels: bool,
    order: String,
}

impl Filter {
    /// # Errors
    /// Those of the label selector.
    pub fn new(query: &ListQuery) -> Result<Self, SelectorError> {
        let labels = query.labels.trim();
        Ok(Self {
            name: query.name.trim().to_lowercase(),
            labels: LabelSelector::parse(labels)?,
            has_labels: !labels.is_empty(),
            order: query.order().to_owned(),
        })
    }

    pub fn matches(&self, row: &Row) -> bool {
        (self.name.is_empty() || row.name.to_lowercase().contains(&self.name))
            && self.labels.matches(&row.labels)
    }

    /// Returns whether the first rows of a list are not also the first in the API server's order.
    pub fn needs_all_rows(&self) -> bool {
        !self.name.is_empty() || self.has_labels || !self.order.is_empty()
    }
}

impl From<SelectorError> for ServiceError {
    fn from(error: SelectorError) -> Self {
        Self::invalid(format!("The label selector is not valid. {error}"))
    }
}

/// The rows of a list that a browser gets.
#[derive(Debug)]
pub struct Window {
    pub columns: Arc<[Column]>,
    pub rows: Vec<Row>,
    /// Number of rows that the filter selects.
    pub total: usize,
    /// Approximate memory of all rows, also of those that the filter leaves out.
    pub bytes: usize,
    /// Whether there are more objects than a list may have.
    pub is_cut: bool,
}

/// Filters, sorts, and cuts to the window; returns its rows and the number of matches.
pub fn arrange(
    mut rows: Vec<Arc<TableRow>>,
    columns: &[Column],
    filter: &Filter,
) -> (Vec<Row>, usize) {
    rows.retain(|row| filter.matches(&row.row));
    let total = rows.len();
    let order = Order::new(&filter.order, columns);
    let mut keyed: Vec<_> = rows
        .iter()
        .map(|row| (order.key(&row.row), &row.row))
        .collect();
    if total > MAX_ROWS {
        // the window alone has to be in order
        keyed.select_nth_unstable_by(MAX_ROWS, |a, b| order.compare(a, b));
        keyed.truncate(MAX_ROWS);
    }
    keyed.sort_unstable_by(|a, b| order.compare(a, b));
    let window = keyed.into_iter().map(|(_, row)| row.clone()).collect();
    (window, total)
}

struct Order {
    by: By,
    is_descending: bool,
}

enum By {
    Place,
    Namespace,
    Health,
    Age,
    LastSeen,
    Cell(usize),
}

/// What a row is ordered by, before its place.
#[derive(PartialEq, PartialOrd)]
enum Key<'a> {
    None,
    Text(Option<&'a str>),
    Health(Option<Health>),
    /// Seconds; the greatest first.
    Time(std::cmp::Reverse<Option<i64>>),
    Cell(CellKey<'a>),
}

/// Numbers are ordered as numbers (also `1/3` and `7 (5m ago)`), and stand among texts where a digit
/// does.
#[derive(PartialEq, PartialOrd)]
enum CellKey<'a> {
    BeforeDigits(&'a str),
    Number(f64, &'a str),
    AfterDigits(&'a str),
}

impl Order {
    fn new(order: &str, columns: &[Column]) -> Self {
        let (name, is_descending) = match order.strip_prefix('-') {
            Some(name) => (name, true),
            None => (order, false),
        };
        let by = match name {
            "" => By::Place,
            "namespace" => By::Namespace,
            "health" => By::Health,
            // ages grow as creation times decrease
            "age" => By::Age,
            "last seen" => By::LastSeen,
            name => columns
                .iter()
                .position(|column| column.name.to_lowercase() == name)
                .map_or(By::Place, By::Cell),
        };
        Self { by, is_descending }
    }

    fn key<'a>(&self, row: &'a Row) -> Key<'a> {
        match self.by {
            By::Place => Key::None,
            By::Namespace => Key::Text(row.namespace.as_deref()),
            By::Health => Key::Health(row.health),
            By::Age => Key::Time(std::cmp::Reverse(row.created_at)),
            By::LastSeen => {
                let seen = row.event.as_ref().and_then(|event| event.last_seen);
                Key::Time(std::cmp::Reverse(seen))
            }
            By::Cell(index) => Key::Cell(CellKey::of(row.cells.get(index).map_or("", |c| c))),
        }
    }

    fn compare(&self, a: &(Key<'_>, &Row), b: &(Key<'_>, &Row)) -> Ordering {
        let place =
            || (&a.1.namespace, &a.1.name, &a.1.uid).cmp(&(&b.1.namespace, &b.1.name, &b.1.uid));
        // no key holds a number that is not one
        let order = a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal);
        // the place itself is the key of the default order
        let (order, place) = match (self.is_descending, &self.by) {
            (true, By::Place) => (order, place().reverse()),
            (true, _) => (order.reverse(), place()),
            (false, _) => (order, place()),
        };
        order.then(place)
    }
}

impl<'a> CellKey<'a> {
    fn of(text: &'a str) -> Self {
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        if let Ok(number) = text[..end].parse::<f64>() {
            return Self::Number(number, text);
        }
        match text.chars().next() {
            Some(first) if first > '9' => Self::AfterDigits(text),
            _ => Self::BeforeDigits(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{EventFacts, ResourceRef};

    fn row(namespace: &str, name: &str, restarts: &str) -> Row {
        Row {
            uid: format!("{namespace}/{name}"),
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            resource_version: "1".to_owned(),
            created_at: None,
            cells: vec![name.to_owned(), restarts.to_owned()],
            labels: vec![("app".to_owned(), name.to_lowercase())],
            health: None,
            event: None,
        }
    }

    fn query(name: &str, labels: &str, sort: &str) -> ListQuery {
        ListQuery {
            resource: ResourceRef::core("pods"),
            namespace: None,
            name: name.to_owned(),
            labels: labels.to_owned(),
            sort: sort.to_owned(),
        }
    }

    fn columns() -> [Column; 2] {
        ["Name", "Restarts"].map(|name| Column {
            name: name.to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        })
    }

    fn names_of(rows: Vec<Row>, query: &ListQuery) -> Vec<String> {
        let rows = rows
            .into_iter()
            .map(|row| Arc::new(TableRow { row, owner: None }))
            .collect();
        let (rows, _) = arrange(rows, &columns(), &Filter::new(query).unwrap());
        rows.into_iter().map(|row| row.name).collect()
    }

    fn arranged(name: &str, labels: &str, sort: &str) -> Vec<String> {
        let rows = vec![
            row("b", "web", "10"),
            row("a", "Web-2", "9"),
            row("a", "db", "0"),
        ];
        names_of(rows, &query(name, labels, sort))
    }

    #[test]
    fn rows_stand_by_namespace_and_name_unless_asked_otherwise() {
        assert_eq!(arranged("", "", ""), ["Web-2", "db", "web"]);
        assert_eq!(arranged("", "", "nonsense"), ["Web-2", "db", "web"]);
    }

    #[test]
    fn numbers_are_ordered_as_numbers_both_ways() {
        assert_eq!(arranged("", "", "restarts"), ["db", "Web-2", "web"]);
        assert_eq!(arranged("", "", "-restarts"), ["web", "Web-2", "db"]);
    }

    #[test]
    fn numbers_and_texts_of_one_column_have_one_order() {
        let cells = ["<none>", "7 (5m ago)", "", "10", "-", "7", "0.5", "many"];
        let rows = cells
            .iter()
            .enumerate()
            .map(|(index, cell)| row("a", &index.to_string(), cell))
            .collect();
        let sorted = names_of(rows, &query("", "", "restarts"));
        let sorted: Vec<_> = sorted
            .iter()
            .map(|name| cells[name.parse::<usize>().unwrap()])
            .collect();
        assert_eq!(
            sorted,
            ["", "-", "0.5", "7", "7 (5m ago)", "10", "<none>", "many"]
        );
    }

    #[test]
    fn the_window_has_the_first_rows_of_all() {
        let count = MAX_ROWS + 50;
        let rows = (0..count)
            .rev()
            .map(|number| row("a", &format!("p{number:05}"), &number.to_string()))
            .map(|row| Arc::new(TableRow { row, owner: None }))
            .collect();
        let filter = Filter::new(&query("", "", "-restarts")).unwrap();
        let (window, total) = arrange(rows, &columns(), &filter);
        assert_eq!((window.len(), total), (MAX_ROWS, count));
        assert_eq!(window[0].name, format!("p{:05}", count - 1));
        assert_eq!(
            window[MAX_ROWS - 1].name,
            format!("p{:05}", count - MAX_ROWS)
        );
    }

    #[test]
    fn finding_p2_events_are_listed_newest_first() {
        let event = |name: &str, last_seen: Option<i64>| Row {
            event: Some(EventFacts {
                last_seen,
                count: 1,
                object: None,
            }),
            ..row("a", name, "0")
        };
        let listed = |sort: &str| {
            let rows = vec![
                event("old", Some(10)),
                event("unknown", None),
                event("new", Some(30)),
                event("between", Some(20)),
            ];
            let resource = ResourceRef::new("events.k8s.io", "v1", "events");
            names_of(
                rows,
                &ListQuery {
                    resource,
                    ..query("", "", sort)
                },
            )
        };
        assert_eq!(listed(""), ["new", "between", "old", "unknown"]);
        assert_eq!(listed("-last seen"), ["unknown", "old", "between", "new"]);
    }

    #[test]
    fn a_name_is_found_in_any_case_and_labels_by_their_selector() {
        assert_eq!(arranged("WEB", "", ""), ["Web-2", "web"]);
        assert_eq!(arranged("", "app in (db,web)", ""), ["db", "web"]);
        assert_eq!(arranged("web", "app!=web", ""), ["Web-2"]);
    }

    #[test]
    fn a_wrong_label_selector_is_an_error_with_its_reason() {
        let error = ServiceError::from(Filter::new(&query("", "a in (", "")).err().unwrap());
        assert!(error.message.contains("found the end"), "{error}");
    }
}
