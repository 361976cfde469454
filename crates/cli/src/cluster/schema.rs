//! `portico cluster schema`: the JSON Schema of the file that describes a cluster.
use super::arguments::SharedArgs;
use super::console::Console;
use super::error::ClusterError;
use crate::output::OutputError;
use clap::Args;
use portico_lifecycle::spec::ClusterDocument;

/// Print the JSON Schema of the file that describes a cluster
///
/// For editors, and for checks of files before they are applied. It is made from the types with which Portico
/// reads the file; no cloud is called.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster schema > cluster.schema.json")]
pub struct SchemaArgs {
    /// No cloud is called, so no option chooses one.
    #[arg(skip)]
    pub shared: SharedArgs,
}

/// Prints the schema.
///
/// # Errors
/// If standard output cannot be written.
pub fn schema(console: &mut Console) -> Result<(), ClusterError> {
    let schema = ClusterDocument::json_schema();
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

    #[test]
    fn the_printed_schema_is_that_of_the_types() {
        let out = Buffer::default();
        let mut console = Console {
            out: Box::new(out.clone()),
            err: Box::new(Buffer::default()),
            read_line: None,
            is_terminal: false,
        };
        schema(&mut console).unwrap();
        let printed: Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!(printed, ClusterDocument::json_schema());
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
