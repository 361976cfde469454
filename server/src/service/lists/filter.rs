//! What a query selects: words, labels, conditions on columns and statuses.
use crate::service::error::ServiceError;
use jiff::Timestamp;
use portico_domain::panel::{
    Column, ListQuery, ResourceRef, Row,
    field_selector::{BoundSelector, FieldSelector, FieldSelectorError},
    label_selector::{LabelSelector, SelectorError},
    row_status, status_column,
};

/// The reason why a query selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("The label selector is not valid. {0}")]
    Labels(#[from] SelectorError),
    #[error("The field selector is not valid. {0}")]
    Fields(#[from] FieldSelectorError),
}

impl From<FilterError> for ServiceError {
    fn from(error: FilterError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// What a query selects, and in which order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    resource: ResourceRef,
    words: Vec<Word>,
    labels: LabelSelector,
    has_labels: bool,
    fields: FieldSelector,
    statuses: Vec<String>,
    order: String,
}

/// A word of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Word {
    /// In lower case.
    text: String,
    is_excluded: bool,
}

impl Filter {
    /// # Errors
    /// Those of the selectors' grammars.
    pub fn new(query: &ListQuery) -> Result<Self, FilterError> {
        let labels = query.labels.trim();
        Ok(Self {
            resource: query.resource.clone(),
            words: words(&query.search),
            labels: LabelSelector::parse(labels)?,
            has_labels: !labels.is_empty(),
            fields: FieldSelector::parse(&query.fields)?,
            statuses: query.status.clone(),
            order: query.order().to_owned(),
        })
    }

    pub fn resource(&self) -> &ResourceRef {
        &self.resource
    }

    pub fn order(&self) -> &str {
        &self.order
    }

    /// Returns whether the first rows of a list are not also the first in the API server's order.
    pub fn needs_all_rows(&self) -> bool {
        self.is_selective() || !self.order.is_empty()
    }

    /// Returns whether rows may be left out.
    pub fn is_selective(&self) -> bool {
        !self.words.is_empty()
            || self.has_labels
            || !self.fields.is_empty()
            || !self.statuses.is_empty()
    }

    /// Returns whether the selected rows change with time alone.
    pub fn depends_on_time(&self) -> bool {
        self.fields.depends_on_time()
    }

    /// Prepares the filter for the columns of a list and a time, which conditions on ages need.
    ///
    /// # Errors
    /// `Fields` for a condition that does not fit the columns.
    pub fn bind(&self, columns: &[Column], now: Timestamp) -> Result<Matcher<'_>, FilterError> {
        let fields = if columns.is_empty() {
            // nothing has been read yet
            BoundSelector::default()
        } else {
            self.fields.bind(&self.resource, columns)?
        };
        Ok(Matcher {
            filter: self,
            fields,
            status_column: status_column(&self.resource, columns),
            age_column: columns
                .iter()
                .position(|column| column.name.eq_ignore_ascii_case("age")),
            now: now.as_second(),
        })
    }
}

/// A filter for the columns of one list.
pub struct Matcher<'a> {
    filter: &'a Filter,
    fields: BoundSelector,
    status_column: Option<usize>,
    /// Its cells were true when the API server rendered them; they are not searched.
    age_column: Option<usize>,
    now: i64,
}

impl Matcher<'_> {
    /// Returns whether a row meets all conditions but that on its status.
    pub fn matches_beside_status(&self, row: &Row) -> bool {
        let filter = self.filter;
        (!filter.has_labels || filter.labels.matches(&row.labels))
            && filter
                .words
                .iter()
                .all(|word| self.has(row, &word.text) != word.is_excluded)
            && self.fields.matches(row, self.now)
    }

    /// Returns whether a status is selected.
    pub fn matches_status(&self, status: Option<&str>) -> bool {
        let wanted = &self.filter.statuses;
        wanted.is_empty() || status.is_some_and(|status| wanted.iter().any(|one| one == status))
    }

    pub fn matches(&self, row: &Row) -> bool {
        self.matches_status(self.status(row)) && self.matches_beside_status(row)
    }

    pub fn status<'a>(&self, row: &'a Row) -> Option<&'a str> {
        row_status(row, self.status_column)
    }

    pub fn status_column(&self) -> Option<usize> {
        self.status_column
    }

    fn has(&self, row: &Row, word: &str) -> bool {
        contains(&row.name, word)
            || row
                .namespace
                .as_ref()
                .is_some_and(|name| contains(name, word))
            || row
                .cells
                .iter()
                .enumerate()
                .any(|(index, cell)| Some(index) != self.age_column && contains(cell, word))
    }
}

/// Returns whether a text has a part, which is in lower case, in any case.
pub fn contains(text: &str, part: &str) -> bool {
    if !part.is_ascii() {
        return text.to_lowercase().contains(part);
    }
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let Some((first, rest)) = part.split_first() else {
        return true;
    };
    text.windows(part.len()).any(|window| {
        window[0].to_ascii_lowercase() == *first && window[1..].eq_ignore_ascii_case(rest)
    })
}

/// Splits a search into its words; quotes keep a phrase together, `-` excludes.
fn words(search: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = search.trim_start();
    while !rest.is_empty() {
        let is_excluded = rest.starts_with('-');
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let (text, after) = match unsigned.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => unsigned
                .split_once(char::is_whitespace)
                .unwrap_or((unsigned, "")),
        };
        if !text.is_empty() {
            found.push(Word {
                text: text.to_lowercase(),
                is_excluded,
            });
        }
        rest = after.trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lists::fixtures::{NOW, columns, query, row};

    fn selected(change: impl FnOnce(&mut ListQuery)) -> Vec<String> {
        let mut query = query();
        change(&mut query);
        let filter = Filter::new(&query).unwrap();
        let columns = columns();
        let matcher = filter.bind(&columns, NOW).unwrap();
        [
            row("shop", "web", "Running", "10 (5m ago)"),
            row("shop", "Web-2", "CrashLoopBackOff", "9"),
            row("bank", "db", "Pending", "0"),
        ]
        .iter()
        .filter(|row| matcher.matches(row))
        .map(|row| row.name.clone())
        .collect()
    }

    fn searched(search: &str) -> Vec<String> {
        selected(|query| search.clone_into(&mut query.search))
    }

    #[test]
    fn all_words_are_found_in_any_case_in_names_namespaces_and_cells() {
        assert_eq!(searched(""), ["web", "Web-2", "db"]);
        assert_eq!(searched("WEB"), ["web", "Web-2"]);
        assert_eq!(searched("bank"), ["db"]);
        assert_eq!(searched("crashloop"), ["Web-2"]);
        assert_eq!(searched("web shop running"), ["web"]);
        assert_eq!(searched("web bank"), [""; 0]);
        assert_eq!(searched("Ünicorn"), [""; 0]);
    }

    #[test]
    fn a_minus_excludes_and_quotes_keep_a_phrase_together() {
        assert_eq!(searched("-web"), ["db"]);
        assert_eq!(searched("shop -crash"), ["web"]);
        assert_eq!(searched("\"(5m ago)\""), ["web"]);
        assert_eq!(searched("-\"(5m ago)\" web"), ["Web-2"]);
        assert_eq!(searched("\"(5m"), ["web"]);
        // in a name, a minus is part of the word
        assert_eq!(searched("web-2"), ["Web-2"]);
        assert_eq!(searched("- \"\" "), ["web", "Web-2", "db"]);
    }

    #[test]
    fn an_age_is_not_searched_as_text() {
        // its cell is that of a row that was rendered long ago
        assert_eq!(searched("3d"), [""; 0]);
        assert_eq!(
            selected(|query| query.fields = "age<1m".to_owned()),
            [""; 0]
        );
    }

    #[test]
    fn labels_fields_and_statuses_are_combined() {
        assert_eq!(
            selected(|query| query.labels = "app in (db,web)".to_owned()),
            ["web", "db"]
        );
        assert_eq!(
            selected(|query| query.fields = "restarts>8".to_owned()),
            ["web", "Web-2"]
        );
        assert_eq!(
            selected(|query| query.status = vec!["Running".to_owned(), "Pending".to_owned()]),
            ["web", "db"]
        );
        assert_eq!(
            selected(|query| {
                query.fields = "restarts>8".to_owned();
                query.status = vec!["Running".to_owned(), "Pending".to_owned()];
            }),
            ["web"]
        );
    }

    #[test]
    fn a_wrong_selector_is_an_error_with_its_reason() {
        let mut wrong = query();
        wrong.labels = "a in (".to_owned();
        let error = ServiceError::from(Filter::new(&wrong).unwrap_err());
        assert!(error.message.contains("found the end"), "{error}");
        wrong.labels.clear();
        wrong.fields = "color=red".to_owned();
        let filter = Filter::new(&wrong).unwrap();
        let error = ServiceError::from(filter.bind(&columns(), NOW).err().unwrap());
        assert!(error.message.contains("no column \"color\""), "{error}");
    }
}
