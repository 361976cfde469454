//! Conditions on the columns of a list: `status=Running,restarts>3,age<2d`. They are evaluated over
//! the rows that the server has, so that every column of every kind can be used, unlike the API
//! server's field selectors; the usual ones of these are aliases (`spec.nodeName` for `node`).
use super::{Column, ResourceRef, Row, row_status, status_column};

/// The reason why a text is not a field selector, or does not fit the columns of a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSelectorError {
    #[error("Expected {expected}, found {found}.")]
    Unexpected {
        expected: &'static str,
        /// The part of the text in quotes, or "the end".
        found: String,
    },
    #[error("There is no column \"{name}\". The columns are {}.", known.join(", "))]
    Column { name: String, known: Vec<String> },
    #[error("\"{0}\" is not a number, which < and > compare with.")]
    Number(String),
    #[error("\"{0}\" is not a duration such as 30s, 5m, 3h or 2d, which an age is compared with.")]
    Duration(String),
    #[error("An age is compared with < and >, as in \"{0}<2d\".")]
    Age(String),
}

/// A field selector whose columns have not been looked up yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector(Vec<Condition>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    column: String,
    operator: Operator,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A field selector for the columns of one list.
#[derive(Clone, Debug, Default)]
pub struct BoundSelector(Vec<BoundCondition>);

#[derive(Clone, Debug)]
struct BoundCondition {
    target: Target,
    test: Test,
}

/// What a condition looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Name,
    Namespace,
    Status(Option<usize>),
    Age,
    LastSeen,
    Cell(usize),
}

#[derive(Clone, Debug)]
enum Test {
    Equal(Pattern),
    NotEqual(Pattern),
    Number(Operator, f64),
    /// In seconds.
    Duration(Operator, i64),
}

impl FieldSelector {
    /// Parses a field selector. An empty one selects everything.
    ///
    /// # Errors
    /// `Unexpected` if the text does not follow the grammar.
    pub fn parse(text: &str) -> Result<Self, FieldSelectorError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        parts(text)
            .map(condition)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the selected rows change with time alone.
    pub fn depends_on_time(&self) -> bool {
        self.0
            .iter()
            .any(|condition| matches!(&*key(&condition.column), "age" | "lastseen"))
    }

    /// Looks the columns up and checks the values.
    ///
    /// # Errors
    /// `Column` for one that the list does not have; `Number`, `Duration` and `Age` for a value that
    /// cannot be compared with the column's.
    pub fn bind(
        &self,
        resource: &ResourceRef,
        columns: &[Column],
    ) -> Result<BoundSelector, FieldSelectorError> {
        self.0
            .iter()
            .map(|condition| condition.bind(resource, columns))
            .collect::<Result<_, _>>()
            .map(BoundSelector)
    }
}

impl BoundSelector {
    /// Returns whether a row meets every condition. `now` is in Unix seconds.
    pub fn matches(&self, row: &Row, now: i64) -> bool {
        self.0.iter().all(|condition| condition.is_met(row, now))
    }
}

/// Checks a field selector for the columns of a list.
///
/// # Errors
/// Those of [`FieldSelector::parse`] and [`FieldSelector::bind`].
pub fn check(
    text: &str,
    resource: &ResourceRef,
    columns: &[Column],
) -> Result<(), FieldSelectorError> {
    FieldSelector::parse(text)?
        .bind(resource, columns)
        .map(drop)
}

impl Condition {
    fn bind(
        &self,
        resource: &ResourceRef,
        columns: &[Column],
    ) -> Result<BoundCondition, FieldSelectorError> {
        let target = target(&self.column, resource, columns)?;
        let is_time = matches!(target, Target::Age | Target::LastSeen);
        let test = match self.operator {
            Operator::Equal | Operator::NotEqual if is_time => {
                return Err(FieldSelectorError::Age(self.column.clone()));
            }
            Operator::Equal => Test::Equal(Pattern::new(&self.value)),
            Operator::NotEqual => Test::NotEqual(Pattern::new(&self.value)),
            operator if is_time => {
                let seconds = seconds(&self.value)
                    .ok_or_else(|| FieldSelectorError::Duration(self.value.clone()))?;
                Test::Duration(operator, seconds)
            }
            operator => match self.value.parse::<f64>() {
                Ok(number) if number.is_finite() => Test::Number(operator, number),
                _ => return Err(FieldSelectorError::Number(self.value.clone())),
            },
        };
        Ok(BoundCondition { target, test })
    }
}

impl BoundCondition {
    fn is_met(&self, row: &Row, now: i64) -> bool {
        match &self.test {
            Test::Equal(pattern) => pattern.matches(self.text(row)),
            Test::NotEqual(pattern) => !pattern.matches(self.text(row)),
            Test::Number(operator, limit) => {
                leading_number(self.text(row)).is_some_and(|number| operator.holds(&number, limit))
            }
            Test::Duration(operator, limit) => {
                let at = match self.target {
                    Target::LastSeen => row.event.as_ref().and_then(|event| event.last_seen),
                    _ => row.created_at,
                };
                at.is_some_and(|at| operator.holds(&now.saturating_sub(at), limit))
            }
        }
    }

    fn text<'a>(&self, row: &'a Row) -> &'a str {
        match self.target {
            Target::Name => &row.name,
            Target::Namespace => row.namespace.as_deref().unwrap_or_default(),
            Target::Status(column) => row_status(row, column).unwrap_or_default(),
            Target::Cell(index) => row.cells.get(index).map_or("", String::as_str),
            // compared as times
            Target::Age | Target::LastSeen => "",
        }
    }
}

impl Operator {
    fn holds<T: PartialOrd>(self, value: &T, limit: &T) -> bool {
        match self {
            Self::Equal => value == limit,
            Self::NotEqual => value != limit,
            Self::Less => value < limit,
            Self::LessOrEqual => value <= limit,
            Self::Greater => value > limit,
            Self::GreaterOrEqual => value >= limit,
        }
    }
}

/// A value, in lower case, in parts between its wildcards.
#[derive(Clone, Debug)]
struct Pattern {
    parts: Vec<String>,
    is_number: bool,
}

impl Pattern {
    fn new(value: &str) -> Self {
        Self {
            parts: value.to_lowercase().split('*').map(str::to_owned).collect(),
            is_number: value.parse::<f64>().is_ok(),
        }
    }

    /// Returns whether a text matches, in any case. A number also matches the cell `7 (5m ago)`.
    fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        if self.matches_lower_case(&text) {
            return true;
        }
        self.is_number
            && text
                .split_once(' ')
                .is_some_and(|(first, _)| self.matches_lower_case(first))
    }

    fn matches_lower_case(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.parts.as_slice() else {
            return self.parts.first().is_some_and(|only| only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            let Some((_, after)) = rest.split_once(part.as_str()) else {
                return false;
            };
            rest = after;
        }
        rest.ends_with(last.as_str())
    }
}

fn target(
    name: &str,
    resource: &ResourceRef,
    columns: &[Column],
) -> Result<Target, FieldSelectorError> {
    let status = status_column(resource, columns);
    let key = key(name);
    match &*key {
        "name" => return Ok(Target::Name),
        "namespace" => return Ok(Target::Namespace),
        "age" => return Ok(Target::Age),
        "lastseen" if resource.is_events() => return Ok(Target::LastSeen),
        _ => {}
    }
    match columns
        .iter()
        .position(|column| normalized(&column.name) == key)
    {
        Some(index) if status == Some(index) => Ok(Target::Status(status)),
        Some(index) => Ok(Target::Cell(index)),
        None if key == "status" => Ok(Target::Status(status)),
        None => {
            let own = columns.iter().map(|column| column.name.to_lowercase());
            let mut known: Vec<_> = own
                .chain(["name", "namespace", "status", "age"].map(str::to_owned))
                .collect();
            known.sort_unstable();
            known.dedup();
            Err(FieldSelectorError::Column {
                name: name.to_owned(),
                known,
            })
        }
    }
}

/// Returns the column that a name or an alias means, without case and spaces.
fn key(name: &str) -> String {
    let key = normalized(name);
    match &*key {
        "metadata.name" => "name".to_owned(),
        "metadata.namespace" => "namespace".to_owned(),
        "metadata.creationtimestamp" => "age".to_owned(),
        "status.phase" => "status".to_owned(),
        "spec.nodename" => "node".to_owned(),
        _ => key,
    }
}

fn normalized(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the parts between commas that are not in quotes.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    })
}

fn condition(text: &str) -> Result<Condition, FieldSelectorError> {
    let unexpected = |expected, found: &str| FieldSelectorError::Unexpected {
        expected,
        found: match found.trim() {
            "" => "the end".to_owned(),
            found => format!("\"{found}\""),
        },
    };
    if text.trim().is_empty() {
        return Err(unexpected("a condition such as status=Running", text));
    }
    let at = text
        .find(['=', '!', '<', '>'])
        .ok_or_else(|| unexpected("a condition such as status=Running", text))?;
    let (column, rest) = text.split_at(at);
    if column.trim().is_empty() {
        return Err(unexpected("a column", text));
    }
    let operators = [
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];
    let (operator, value) = operators
        .into_iter()
        .find_map(|(sign, operator)| Some((operator, rest.strip_prefix(sign)?)))
        .ok_or_else(|| unexpected("=, !=, < or >", rest))?;
    let value = value.trim();
    let value = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'))
        .unwrap_or(value);
    Ok(Condition {
        column: column.trim().to_owned(),
        operator,
        value: value.to_owned(),
    })
}

/// Returns the number at the start of a cell: 7 of `7 (5m ago)`, 1 of `1/3`.
fn leading_number(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the seconds of a duration as Kubernetes writes it: `90s`, `5m`, `3h20m`, `2d`, `1y`.
fn seconds(text: &str) -> Option<i64> {
    let (mut total, mut rest) = (0_i64, text);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i64 = rest[..end].parse().ok()?;
        let unit = rest[end..].chars().next()?;
        let factor = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 7 * 86_400,
            'y' => 365 * 86_400,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = &rest[end + unit.len_utf8()..];
    }
    Some(total)
}

#[cfg(test)]
#[path = "field_selector_tests.rs"]
mod tests;
