//! Output of lists: as a table for users, as JSON or YAML for programs.
//!
//! A row implements [`TableRow`]; [`list`] renders any number of them. Values come from servers and
//! users, so no format lets a control character reach the terminal.
use crate::one_line;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The number of spaces between two columns.
const COLUMN_GAP_CHARS: usize = 2;

/// The form in which a list is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Aligned columns, for reading
    #[default]
    Table,
    /// One JSON array
    Json,
    /// One YAML list
    Yaml,
    /// One JSON object per line
    Jsonl,
}

/// A row that cannot be serialised.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("write the list as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("write the list as YAML: {0}")]
    Yaml(#[from] serde_norway::Error),
}

/// An entry of a list: its columns for users, its fields for programs.
pub trait TableRow: Serialize {
    /// The columns' headings, in capitals.
    const HEADINGS: &'static [&'static str];

    /// The headings of the further columns of the wide form.
    const WIDE: &'static [&'static str] = &[];

    /// Returns one text per heading.
    fn cells(&self) -> Vec<String>;

    /// Returns one text per heading of [`Self::WIDE`].
    fn wide_cells(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Renders a list. An empty table shows its headings, so that a reader sees that the list is empty.
///
/// # Errors
/// If a row cannot be serialised.
pub fn list<T: TableRow>(format: OutputFormat, rows: &[T]) -> Result<String, OutputError> {
    match format {
        OutputFormat::Table => {
            let mut table = Table::new(T::HEADINGS);
            let lines = table.rows(rows);
            // the headings last: the widths are known by now
            Ok(table.headings() + &lines)
        }
        OutputFormat::Json => {
            let text = serde_json::to_string_pretty(rows)?;
            Ok(escaped(&text) + "\n")
        }
        OutputFormat::Yaml => Ok(serde_norway::to_string(rows)?),
        OutputFormat::Jsonl => rows.iter().map(json_line).collect(),
    }
}

/// Renders a table with the further columns of the wide form.
pub fn wide<T: TableRow>(rows: &[T]) -> String {
    let mut table = Table::new(&[T::HEADINGS, T::WIDE].concat());
    let cells = rows
        .iter()
        .map(|row| [row.cells(), row.wide_cells()].concat());
    let lines = table.lines(cells.collect());
    table.headings() + &lines
}

fn json_line<T: Serialize>(row: &T) -> Result<String, OutputError> {
    let text = serde_json::to_string(row)?;
    Ok(escaped(&text) + "\n")
}

/// Aligned columns. Rows appended later use columns that are as wide or wider.
pub struct Table {
    headings: Vec<&'static str>,
    widths: Vec<usize>,
}

impl Table {
    /// Starts a table without rows.
    pub fn new(headings: &[&'static str]) -> Self {
        let widths = headings.iter().map(|heading| heading.width()).collect();
        Self {
            headings: headings.to_vec(),
            widths,
        }
    }

    /// Renders the headings, as wide as the rows rendered so far.
    pub fn headings(&self) -> String {
        let cells: Vec<String> = self
            .headings
            .iter()
            .map(|text| (*text).to_owned())
            .collect();
        self.line(&cells)
    }

    /// Renders rows.
    pub fn rows<T: TableRow>(&mut self, rows: &[T]) -> String {
        self.lines(rows.iter().map(TableRow::cells).collect())
    }

    fn lines(&mut self, rows: Vec<Vec<String>>) -> String {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| one_line(cell)).collect())
            .collect();
        for row in &rows {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        rows.iter().map(|row| self.line(row)).collect()
    }

    fn line(&self, cells: &[String]) -> String {
        let mut line = String::new();
        for (width, cell) in self.widths.iter().zip(cells) {
            let pad = width.saturating_sub(cell.width()) + COLUMN_GAP_CHARS;
            // writing to a string cannot fail
            let _ = write!(line, "{cell}{:pad$}", "");
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// Escapes as `\uXXXX` what JSON allows in strings and a terminal interprets: DEL, C1 controls, and
/// characters that change the direction of the text.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || one_line(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8() {
            text.push(c);
        } else {
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        count: u32,
    }

    impl TableRow for Row {
        const HEADINGS: &'static [&'static str] = &["NAME", "COUNT"];

        fn cells(&self) -> Vec<String> {
            vec![self.name.to_owned(), self.count.to_string()]
        }
    }

    const ROWS: [Row; 2] = [
        Row {
            name: "a\u{1b}[31m\nb",
            count: 3,
        },
        Row {
            name: "日本",
            count: 12,
        },
    ];

    #[test]
    fn columns_are_aligned_and_control_characters_removed() {
        let text = list(OutputFormat::Table, &ROWS).unwrap();
        assert_eq!(text, "NAME    COUNT\na[31mb  3\n日本    12\n");
        let none: [Row; 0] = [];
        assert_eq!(list(OutputFormat::Table, &none).unwrap(), "NAME  COUNT\n");
    }

    #[test]
    fn a_row_without_further_columns_is_the_same_in_the_wide_form() {
        assert_eq!(wide(&ROWS), list(OutputFormat::Table, &ROWS).unwrap());
    }

    #[test]
    fn programs_get_the_value_unchanged_and_the_terminal_no_control_character() {
        let row = Row {
            name: "a\u{1b}\u{9b}\u{202e}b",
            count: 1,
        };
        for format in [OutputFormat::Json, OutputFormat::Jsonl] {
            let text = list(format, std::slice::from_ref(&row)).unwrap();
            assert!(
                !text.chars().any(|c| c.is_control() && c != '\n'),
                "{text:?}"
            );
            assert!(!text.contains('\u{202e}'), "{text:?}");
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let value = value.get(0).unwrap_or(&value);
            assert_eq!(value["name"], row.name);
        }
        let text = list(OutputFormat::Yaml, std::slice::from_ref(&row)).unwrap();
        assert!(
            !text.chars().any(|c| c.is_control() && c != '\n'),
            "{text:?}"
        );
        let value: serde_norway::Value = serde_norway::from_str(&text).unwrap();
        assert_eq!(value[0]["name"], row.name);
    }
}
