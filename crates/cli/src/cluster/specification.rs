//! The specification of a cluster from options, a file, or a body for Magnum.
use super::arguments::{CreateArgs, SharedArgs};
use super::error::ClusterError;
use crate::direct::CloudChoice;
use portico_lifecycle::spec::{
    ClusterDocument, CommandLine, REASON_ANNOTATION, read_create_request,
};
use portico_runtime::yaml;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Maximum size of a file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A specification, and what a user should know about how it was read.
#[derive(Debug)]
pub struct Specification {
    pub document: ClusterDocument,
    pub notices: Vec<String>,
}

impl Specification {
    /// Returns what the arguments of `create` describe.
    ///
    /// # Errors
    /// [`ClusterError::Usage`] or [`ClusterError::Spec`], which name the option or field.
    pub fn of_arguments(args: &CreateArgs) -> Result<Self, ClusterError> {
        if let Some(path) = &args.file {
            return Self::of_file(path);
        }
        if let Some(path) = &args.json {
            return Self::of_body(&parse(path)?);
        }
        // the engine reads the options, so that they mean the same in the panel's command line
        let document = CommandLine::read(&words(args))?;
        Ok(Self {
            document,
            notices: Vec::new(),
        })
    }

    /// Reads a file: a cluster as Portico describes it, or a body for Magnum.
    ///
    /// # Errors
    /// As [`Self::of_arguments`].
    pub fn of_file(path: &Path) -> Result<Self, ClusterError> {
        let value = parse(path)?;
        if value.get("cluster_template_id").is_some() {
            return Self::of_body(&value);
        }
        let document = ClusterDocument::read(value)?;
        Ok(Self {
            notices: beyond_magnum(&document),
            document,
        })
    }

    fn of_body(value: &Value) -> Result<Self, ClusterError> {
        let read = read_create_request(value)?;
        Ok(Self {
            document: read.document,
            notices: read.notices,
        })
    }

    /// Returns why the cluster is created or changed, as its annotations have it.
    pub fn reason(&self) -> Option<&str> {
        let annotations = &self.document.metadata.annotations;
        annotations.get(REASON_ANNOTATION).map(String::as_str)
    }

    /// Returns the cloud and the project: those of the options, else those of the file.
    ///
    /// # Errors
    /// [`ClusterError::Usage`] if they name different ones.
    pub fn choice(&self, shared: &SharedArgs) -> Result<CloudChoice, ClusterError> {
        let one = |what: &str, option: &Option<String>, file: &Option<String>| {
            if let (Some(option), Some(file)) = (option, file)
                && option != file
            {
                return Err(ClusterError::Usage(format!(
                    "the file names the {what} {file}, and the option {option}: remove one of them"
                )));
            }
            Ok(option.clone().or_else(|| file.clone()))
        };
        let spec = &self.document.spec;
        let metadata = &self.document.metadata;
        Ok(CloudChoice {
            cloud: one("cloud", &shared.cloud, &spec.provider.cloud)?,
            project: one("project", &shared.project, &metadata.project)?,
        })
    }
}

/// Returns what a file asks for and this program does not do, because Magnum does not have it. The panel's
/// review of a file states the same.
fn beyond_magnum(document: &ClusterDocument) -> Vec<String> {
    let spec = &document.spec;
    let services = (!spec.services.is_empty()).then_some(
        "Services: Portico does not install services yet: install them into the cluster once it is ready.",
    );
    services.map(str::to_owned).into_iter().collect()
}

/// Returns the command line that the arguments came from.
fn words(args: &CreateArgs) -> Vec<String> {
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let options = [
        ("--template", args.template.clone()),
        ("--masters", number(args.masters)),
        ("--workers", number(args.workers)),
        ("--flavor", args.flavor.clone()),
        ("--master-flavor", args.master_flavor.clone()),
        ("--keypair", args.keypair.clone()),
        ("--network", args.network.clone()),
        ("--subnet", args.subnet.clone()),
        ("--api", args.api.clone()),
        ("--zone", args.zone.clone()),
        ("--create-timeout", number(args.create_timeout)),
        ("--cloud", args.shared.cloud.clone()),
        ("--project", args.shared.project.clone()),
        ("--reason", args.reason.clone()),
    ];
    let mut words: Vec<String> = ["portico", "cluster", "create"].map(str::to_owned).into();
    words.extend(args.name.clone());
    for (flag, value) in options {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value]);
        }
    }
    for label in &args.labels {
        words.extend(["--set".to_owned(), label.clone()]);
    }
    words
}

/// Reads a file in YAML or JSON; `-` is standard input.
///
/// # Errors
/// [`ClusterError::Usage`] with the path.
pub fn parse(path: &Path) -> Result<Value, ClusterError> {
    let text = read_text(path)?;
    yaml::from_user_file(&text)
        .map_err(|error| ClusterError::Usage(format!("{}: {error}", path.display())))
}

/// Reads a file of at most 1 MiB; `-` is standard input.
///
/// # Errors
/// [`ClusterError::Usage`] with the path.
pub fn read_text(path: &Path) -> Result<String, ClusterError> {
    read(path).map_err(|error| ClusterError::Usage(format!("{}: {error}", path.display())))
}

fn read(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") {
        return limited(std::io::stdin().lock());
    }
    limited(std::fs::File::open(path)?)
}

fn limited(input: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    input.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(std::io::Error::other("larger than 1 MiB"));
    }
    Ok(text)
}
