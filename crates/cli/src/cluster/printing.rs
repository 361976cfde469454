//! Prints lists and objects in the form that the user has chosen.
use super::arguments::ClusterOutput;
use super::console::Console;
use super::error::ClusterError;
use super::expression;
use crate::output::{self, OutputError, OutputFormat, TableRow};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;

/// Prints a list. `name_of` returns name and UUID of a row: the UUID is printed as the name where
/// several rows have the same name.
///
/// # Errors
/// If it cannot be written, or an expression does not fit.
pub fn print_list<T: TableRow>(
    console: &mut Console,
    format: ClusterOutput,
    rows: &[T],
    name_of: impl Fn(&T) -> (&str, &str),
) -> Result<(), ClusterError> {
    let text = match format {
        ClusterOutput::Table | ClusterOutput::File | ClusterOutput::Terraform => {
            output::list(OutputFormat::Table, rows)?
        }
        ClusterOutput::Wide => output::wide(rows),
        ClusterOutput::Json => output::list(OutputFormat::Json, rows)?,
        ClusterOutput::Yaml => output::list(OutputFormat::Yaml, rows)?,
        ClusterOutput::Name => names(rows.iter().map(name_of).collect()),
        ClusterOutput::JsonPath(text) => {
            expression::json_path(text, &list_value(rows, expression::has_array_root(text))?)?
        }
        ClusterOutput::Template(text) => expression::template(text, &list_value(rows, false)?)?,
    };
    console.print(&text)
}

/// Returns a list as an array, or as an object with `items`, as kubectl has it.
fn list_value<T: Serialize>(rows: &[T], is_array: bool) -> Result<serde_json::Value, ClusterError> {
    let items = serde_json::to_value(rows).map_err(OutputError::from)?;
    Ok(match is_array {
        true => items,
        false => json!({"items": items}),
    })
}

fn names(rows: Vec<(&str, &str)>) -> String {
    let (mut seen, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    for (name, _) in &rows {
        if !seen.insert(*name) {
            repeated.insert(*name);
        }
    }
    rows.iter()
        .map(|(name, uuid)| {
            let shown = if repeated.contains(name) { uuid } else { name };
            format!("{}\n", crate::one_line(shown))
        })
        .collect()
}

/// Prints one object, or the text that a table has in its place.
///
/// # Errors
/// If it cannot be written, or an expression does not fit.
pub fn print_object<T: Serialize>(
    console: &mut Console,
    format: ClusterOutput,
    object: &T,
    name: &str,
    table: impl FnOnce() -> Result<String, ClusterError>,
) -> Result<(), ClusterError> {
    let value = || serde_json::to_value(object).map_err(OutputError::from);
    let text = match format {
        ClusterOutput::Table
        | ClusterOutput::Wide
        | ClusterOutput::File
        | ClusterOutput::Terraform => table()?,
        ClusterOutput::Json => {
            let json = serde_json::to_string_pretty(object).map_err(OutputError::from)?;
            json + "\n"
        }
        ClusterOutput::Yaml => serde_norway::to_string(object).map_err(OutputError::from)?,
        ClusterOutput::Name => format!("{}\n", crate::one_line(name)),
        ClusterOutput::JsonPath(text) => expression::json_path(text, &value()?)?,
        ClusterOutput::Template(text) => expression::template(text, &value()?)?,
    };
    console.print(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_replaced_by_their_uuids() {
        let rows = vec![("shop", "1"), ("twice", "2"), ("twice", "3")];
        assert_eq!(names(rows), "shop\n2\n3\n");
    }
}
