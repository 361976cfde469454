//! `portico cluster schema`: the JSON Schemas of the files that describe a cluster, and what a cloud must have.
use super::arguments::SharedArgs;
use super::console::Console;
use super::error::ClusterError;
use super::preconfigure::Bootstrap;
use crate::output::OutputError;
use clap::{Args, ValueEnum};
use portico_lifecycle::spec::ClusterDocument;

/// Print the JSON Schema of a file that `portico cluster` reads
///
/// For editors, and for checks of files before they are applied. It is made from the types with which Portico
/// reads the file; no cloud is called.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster schema > cluster.schema.json
  portico cluster schema bootstrap > bootstrap.schema.json")]
pub struct SchemaArgs {
    /// Which file
    #[arg(value_enum, default_value_t, value_name = "KIND")]
    pub kind: DocumentKind,
    /// No cloud is called, so no option chooses one.
    #[arg(skip)]
    pub shared: SharedArgs,
}

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DocumentKind {
    /// A cluster, for `create`, `apply` and `diff`
    #[default]
    Cluster,
    /// What a cloud must have, for `preconfigure`
    Bootstrap,
}

/// Prints a schema.
///
/// # Errors
/// If standard output cannot be written.
pub fn schema(console: &mut Console, kind: DocumentKind) -> Result<(), ClusterError> {
    let schema = match kind {
        DocumentKind::Cluster => ClusterDocument::json_schema(),
        DocumentKind::Bootstrap => Bootstrap::json_schema(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(OutputError::from)?;
    console.print(&(text + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::Buffer;
    use portico_lifecycle::spec::validate;
    use portico_runtime::yaml;
    use serde_json::Value;
    use std::fs;
    use std::path::Path;

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

    /// Adds the files of Portico's own kinds that the pages of a directory have as examples.
    fn examples(directory: &Path, found: &mut Vec<(String, Value)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                examples(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let page = fs::read_to_string(&path).unwrap();
                for block in page.split("```yaml\n").skip(1) {
                    let (block, _) = block.split_once("```").unwrap();
                    if block.contains("apiVersion: portico.dev/") {
                        let value = yaml::from_user_file(block).unwrap();
                        found.push((path.display().to_string(), value));
                    }
                }
            }
        }
    }

    fn printed(kind: DocumentKind) -> Value {
        let out = Buffer::default();
        let mut console = Console {
            out: Box::new(out.clone()),
            err: Box::new(Buffer::default()),
            read_line: None,
            is_terminal: false,
        };
        schema(&mut console, kind).unwrap();
        serde_json::from_str(&out.text()).unwrap()
    }

    #[test]
    fn the_printed_schema_is_that_of_the_types() {
        let of_clusters = printed(DocumentKind::Cluster);
        assert_eq!(of_clusters, ClusterDocument::json_schema());
        let of_clouds = printed(DocumentKind::Bootstrap);
        assert_eq!(of_clouds, Bootstrap::json_schema());
    }

    #[test]
    fn the_schema_of_a_cloud_has_every_field_of_the_documentation() {
        let schema = printed(DocumentKind::Bootstrap);
        assert_eq!(schema["additionalProperties"], false);
        let fields = &schema["$defs"]["Bootstrap"]["properties"];
        let mut found = Vec::new();
        examples(Path::new(DOCS), &mut found);
        found.retain(|(_, value)| value["kind"] == "Bootstrap");
        assert!(!found.is_empty());
        for (page, value) in found {
            for field in value["spec"].as_object().unwrap().keys() {
                assert!(fields.get(field).is_some(), "{page}: {field}");
            }
        }
    }

    #[test]
    fn the_examples_of_the_documentation_are_clusters_without_problems() {
        let mut found = Vec::new();
        examples(Path::new(DOCS), &mut found);
        found.retain(|(_, value)| value["kind"] == "Cluster");
        let pages: Vec<_> = found.iter().map(|(page, _)| page.as_str()).collect();
        for page in ["guides/clusters.md", "reference/cluster-file.md"] {
            assert!(pages.iter().any(|path| path.ends_with(page)), "{page}");
        }
        for (page, value) in found {
            let document = ClusterDocument::read(value).unwrap();
            let problems = validate(&document);
            assert!(problems.is_empty(), "{page}: {problems:?}");
        }
    }
}
