//! The order of rows.
use portico_domain::panel::{Column, ResourceRef, Row, row_status, status_column};
use std::cmp::{Ordering, Reverse};

/// The severity of rows without a health, after all others.
const NO_SEVERITY: u8 = u8::MAX;

/// The order of a list, by one of its columns or by place.
pub struct Order {
    by: By,
    status_column: Option<usize>,
    is_descending: bool,
}

enum By {
    Place,
    Name,
    Namespace,
    /// The most severe first, then by its text.
    Status,
    Age,
    LastSeen,
    Cell(usize),
}

/// What a row is ordered by, before its place.
#[derive(PartialEq, PartialOrd)]
pub enum Key<'a> {
    None,
    Text(Option<&'a str>),
    Status(u8, Option<&'a str>),
    /// Seconds; the greatest first.
    Time(Reverse<Option<i64>>),
    Cell(CellKey<'a>),
}

/// Numbers are ordered as numbers (also `1/3` and `7 (5m ago)`), and among texts where a digit
/// would be.
#[derive(PartialEq, PartialOrd)]
pub enum CellKey<'a> {
    BeforeDigits(&'a str),
    Number(f64, &'a str),
    AfterDigits(&'a str),
}

impl Order {
    /// Reads `column` or `-column`; unknown columns mean the order by place.
    pub fn new(order: &str, resource: &ResourceRef, columns: &[Column]) -> Self {
        let (name, is_descending) = match order.strip_prefix('-') {
            Some(name) => (name, true),
            None => (order, false),
        };
        let status_column = status_column(resource, columns);
        let column = |name: &str| {
            columns
                .iter()
                .position(|column| column.name.to_lowercase() == name)
        };
        let by = match name {
            "" => By::Place,
            "name" => By::Name,
            "namespace" => By::Namespace,
            "status" | "health" => By::Status,
            // ages grow as creation times decrease
            "age" => By::Age,
            "last seen" => By::LastSeen,
            name => match column(name) {
                Some(index) if Some(index) == status_column => By::Status,
                Some(index) => By::Cell(index),
                None => By::Place,
            },
        };
        Self {
            by,
            status_column,
            is_descending,
        }
    }

    pub fn key<'a>(&self, row: &'a Row) -> Key<'a> {
        match self.by {
            By::Place => Key::None,
            By::Name => Key::Text(Some(&row.name)),
            By::Namespace => Key::Text(row.namespace.as_deref()),
            By::Status => Key::Status(
                row.health.map_or(NO_SEVERITY, |health| health.severity()),
                row_status(row, self.status_column),
            ),
            By::Age => Key::Time(Reverse(row.created_at)),
            By::LastSeen => {
                let seen = row.event.as_ref().and_then(|event| event.last_seen);
                Key::Time(Reverse(seen))
            }
            By::Cell(index) => Key::Cell(CellKey::of(row.cells.get(index).map_or("", |c| c))),
        }
    }

    /// Compares two rows, which follow their keys.
    pub fn compare(&self, a: (&Key<'_>, &Row), b: (&Key<'_>, &Row)) -> Ordering {
        let place =
            || (&a.1.namespace, &a.1.name, &a.1.uid).cmp(&(&b.1.namespace, &b.1.name, &b.1.uid));
        // no key has a number that is not one
        let order = a.0.partial_cmp(b.0).unwrap_or(Ordering::Equal);
        let order = if self.is_descending {
            order.reverse()
        } else {
            order
        };
        // the place itself is the key of the default order
        let is_reversed = self.is_descending && matches!(self.by, By::Place);
        order.then_with(|| {
            if is_reversed {
                place().reverse()
            } else {
                place()
            }
        })
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
