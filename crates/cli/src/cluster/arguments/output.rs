//! The grammar of `--output`.
use crate::cluster::expression;
use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;

const FORMS: [(&str, &str); 7] = [
    ("table", "For reading"),
    ("wide", "The same with more columns"),
    ("json", "JSON, with Magnum's names of the fields"),
    ("yaml", "The same as YAML"),
    ("name", "Names only, one on each line"),
    ("jsonpath=PATH", "What a path selects, as with kubectl"),
    ("template=TEXT", "A template in the language of Jinja"),
];

const EXPORT_FORMS: [(&str, &str); 3] = [
    ("file", "Portico's file"),
    (
        "terraform",
        "Resources of the OpenStack provider of Terraform",
    ),
    ("json", "Portico's file as JSON"),
];

/// The form of the output. Errors are JSON on standard error with `json`.
///
/// A list is `{"items": […]}` for paths and templates; a path that begins with `[` begins at its array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterOutput {
    /// For reading.
    #[default]
    Table,
    /// A table with more columns.
    Wide,
    Json,
    Yaml,
    /// Names only, one on each line.
    Name,
    /// What a JSONPath expression selects.
    JsonPath(&'static str),
    /// What a template makes of it.
    Template(&'static str),
    /// Portico's file: of `export` only.
    File,
    /// Resources of Terraform: of `export` only.
    Terraform,
}

impl ClusterOutput {
    /// Returns whether it is for reading.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

/// Reads `--output`.
#[derive(Clone, Debug)]
pub struct OutputParser;

impl TypedValueParser for OutputParser {
    type Value = ClusterOutput;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        TypedValueParser::parse_ref(&parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = FORMS.map(|(name, help)| PossibleValue::new(name).help(help));
        Some(Box::new(values.into_iter()))
    }
}

fn parse(text: &str) -> Result<ClusterOutput, String> {
    if let Some(path) = text.strip_prefix("jsonpath=") {
        expression::check_json_path(path)?;
        return Ok(ClusterOutput::JsonPath(leaked(path)));
    }
    if let Some(template) = text.strip_prefix("template=") {
        expression::check_template(template)?;
        return Ok(ClusterOutput::Template(leaked(template)));
    }
    Ok(match text {
        "table" => ClusterOutput::Table,
        "wide" => ClusterOutput::Wide,
        "json" => ClusterOutput::Json,
        "yaml" => ClusterOutput::Yaml,
        "name" => ClusterOutput::Name,
        _ => {
            return Err(format!(
                "use one of: {}",
                FORMS.map(|(name, _)| name).join(", ")
            ));
        }
    })
}

/// Reads `--output` of `export`.
#[derive(Clone, Debug)]
pub struct ExportOutputParser;

impl TypedValueParser for ExportOutputParser {
    type Value = ClusterOutput;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        TypedValueParser::parse_ref(&parse_export, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = EXPORT_FORMS.map(|(name, help)| PossibleValue::new(name).help(help));
        Some(Box::new(values.into_iter()))
    }
}

fn parse_export(text: &str) -> Result<ClusterOutput, String> {
    Ok(match text {
        "file" | "yaml" => ClusterOutput::File,
        "terraform" => ClusterOutput::Terraform,
        "json" => ClusterOutput::Json,
        _ => {
            let names = EXPORT_FORMS.map(|(name, _)| name);
            return Err(format!("use one of: {}", names.join(", ")));
        }
    })
}

/// Returns a text that lives as long as the program: the command line is read once.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_with_an_expression_are_checked_when_they_are_read() {
        assert_eq!(parse("wide"), Ok(ClusterOutput::Wide));
        let path = parse("jsonpath={.items[*].name}");
        assert_eq!(path, Ok(ClusterOutput::JsonPath("{.items[*].name}")));
        let template = parse("template={{ name }}");
        assert_eq!(template, Ok(ClusterOutput::Template("{{ name }}")));
        for wrong in ["", "jsonpath", "jsonpath={.a[}", "template={{ a", "xml"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
