//! `portico kubeconfig`: a context for one cluster, with the exec plugin and without a secret.
use super::{
    PeopleError,
    api::{Cluster, Session},
    kubectl, private_file,
    profile::{self, Profile},
};
use clap::Args;
use serde_norway::{Mapping, Value};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Adds a cluster to your kubeconfig
///
/// Writes a context that asks `portico credential` for short-lived tokens; the file holds no secret.
/// Everything else in the file stays as it is.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  portico kubeconfig --cluster prod\n  portico kubeconfig --cluster prod --stdout > prod.kubeconfig"
)]
pub struct KubeconfigArgs {
    /// The cluster's name or UUID
    #[arg(long, value_name = "NAME")]
    pub cluster: String,
    /// The gateway that this machine signed in at, if several
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The context's name (default: the cluster's)
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// The namespace that kubectl uses when none is named
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// The file to merge into (default: the first of $KUBECONFIG, else ~/.kube/config)
    #[arg(long, value_name = "FILE", conflicts_with = "stdout")]
    pub kubeconfig: Option<PathBuf>,
    /// Print a kubeconfig of its own instead of merging
    #[arg(long)]
    pub stdout: bool,
}

/// Runs `portico kubeconfig`.
pub async fn kubeconfig(args: KubeconfigArgs) -> Result<(), PeopleError> {
    let profile = Profile::choose(args.gateway.as_deref())?;
    let gateway = profile::display(&profile.gateway);
    let clusters = Session::new(profile)?.clusters().await?;
    let cluster = find(&clusters, &args.cluster)?;
    let entry = Entry {
        context: args.context.as_deref().unwrap_or(&cluster.name),
        cluster,
        gateway: &gateway,
        namespace: args.namespace.as_deref(),
        v1: kubectl::speaks_v1().await,
        command: command(),
    };
    if args.stdout {
        let mut document = Mapping::new();
        entry.merge(&mut document, Path::new("standard output"))?;
        return write!(
            std::io::stdout(),
            "{}",
            render(&document, Path::new("standard output"))?
        )
        .map_err(|source| PeopleError::File {
            path: "standard output".into(),
            source,
        });
    }
    let path = target(args.kubeconfig)?;
    if let Some(directory) = path.parent() {
        private_file::private_directory(directory)?;
    }
    let _lock = private_file::lock_kubeconfig(&path).await?;
    let mut document = read(&path)?;
    entry.merge(&mut document, &path)?;
    private_file::replace(&path, &render(&document, &path)?)?;
    eprintln!(
        "The context {} is in {} and in use. Try: kubectl --context {} auth can-i --list",
        entry.context,
        path.display(),
        entry.context
    );
    Ok(())
}

fn find<'a>(clusters: &'a [Cluster], asked: &str) -> Result<&'a Cluster, PeopleError> {
    clusters
        .iter()
        .find(|cluster| cluster.name == asked || cluster.id.to_string() == asked)
        .ok_or_else(|| {
            let names: Vec<&str> = clusters
                .iter()
                .map(|cluster| cluster.name.as_str())
                .collect();
            let known = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            PeopleError::UnknownCluster {
                name: asked.to_owned(),
                known,
            }
        })
}

/// What one cluster adds to a kubeconfig.
struct Entry<'a> {
    context: &'a str,
    cluster: &'a Cluster,
    gateway: &'a str,
    namespace: Option<&'a str>,
    /// kubectl understands client.authentication.k8s.io/v1.
    v1: bool,
    command: String,
}

impl Entry<'_> {
    /// Puts cluster, user and context into the document, in place of those of an earlier run.
    fn merge(&self, document: &mut Mapping, path: &Path) -> Result<(), PeopleError> {
        document
            .entry("apiVersion".into())
            .or_insert_with(|| "v1".into());
        document
            .entry("kind".into())
            .or_insert_with(|| "Config".into());
        // cluster and user are named after gateway and cluster, so that they meet nobody else's
        let host = self.gateway.split("://").last().unwrap_or(self.gateway);
        let name = format!("portico/{host}/{}", self.cluster.name);
        let ours = named(document, "contexts", self.context).is_none_or(|context| {
            context
                .get("context")
                .and_then(|context| context.get("user"))
                .and_then(Value::as_str)
                == Some(&name)
        });
        if !ours {
            return Err(PeopleError::ContextTaken {
                context: self.context.to_owned(),
                path: path.to_owned(),
            });
        }
        put(document, "clusters", &name, "cluster", self.cluster_value());
        put(document, "users", &name, "user", self.user_value());
        let mut context = mapping([
            ("cluster", name.as_str().into()),
            ("user", name.as_str().into()),
        ]);
        if let Some(namespace) = self.namespace {
            context.insert("namespace".into(), namespace.into());
        }
        put(document, "contexts", self.context, "context", context);
        document.insert("current-context".into(), self.context.into());
        Ok(())
    }

    fn cluster_value(&self) -> Mapping {
        let mut cluster = mapping([("server", self.cluster.api_url.as_str().into())]);
        if let Some(ca) = &self.cluster.ca_data {
            cluster.insert("certificate-authority-data".into(), ca.as_str().into());
        }
        cluster
    }

    fn user_value(&self) -> Mapping {
        let id = self.cluster.id.to_string();
        let arguments = [
            "credential",
            "--gateway",
            self.gateway,
            "--cluster",
            id.as_str(),
        ];
        let arguments: Vec<Value> = arguments.into_iter().map(Value::from).collect();
        let version = if self.v1 { "v1" } else { "v1beta1" };
        let mut exec = mapping([
            ("apiVersion", format!("client.authentication.k8s.io/{version}").into()),
            ("command", self.command.as_str().into()),
            ("args", Value::Sequence(arguments)),
            ("installHint", "portico is missing: install it as your cloud's documentation says, then run `portico login`.".into()),
        ]);
        if self.v1 {
            exec.insert("interactiveMode".into(), "Never".into());
        }
        mapping([("exec", Value::Mapping(exec))])
    }
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Mapping {
    entries
        .into_iter()
        .map(|(key, value)| (Value::from(key), value))
        .collect()
}

fn named<'a>(document: &'a Mapping, list: &str, name: &str) -> Option<&'a Value> {
    document
        .get(list)
        .and_then(Value::as_sequence)
        .and_then(|entries| {
            entries
                .iter()
                .find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))
        })
}

fn put(document: &mut Mapping, list: &str, name: &str, key: &str, value: Mapping) {
    let entry = Value::Mapping(mapping([
        ("name", name.into()),
        (key, Value::Mapping(value)),
    ]));
    let entries = document
        .entry(list.into())
        .or_insert(Value::Sequence(Vec::new()));
    if !entries.is_sequence() {
        *entries = Value::Sequence(Vec::new());
    }
    if let Value::Sequence(entries) = entries {
        match entries
            .iter_mut()
            .find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))
        {
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
    }
}

/// The plain name when the shell finds this very program under it, else where it lies.
fn command() -> String {
    let this = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .unwrap_or_else(|_| "portico".into());
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .map(|directory| directory.join("portico"))
            .find(|candidate| candidate.is_file())
            .and_then(|candidate| std::fs::canonicalize(candidate).ok())
            .is_some_and(|found| found == this)
    });
    if on_path {
        "portico".to_owned()
    } else {
        this.display().to_string()
    }
}

/// The file to write; behind a link it is what the link points to, so that the link stays one.
fn target(asked: Option<PathBuf>) -> Result<PathBuf, PeopleError> {
    let path = named_target(asked)?;
    Ok(std::fs::canonicalize(&path).unwrap_or(path))
}

fn named_target(asked: Option<PathBuf>) -> Result<PathBuf, PeopleError> {
    if let Some(path) = asked {
        return Ok(path);
    }
    let from_environment = std::env::var_os("KUBECONFIG")
        .and_then(|list| std::env::split_paths(&list).find(|path| !path.as_os_str().is_empty()));
    match from_environment {
        Some(path) => Ok(path),
        None => std::env::var_os("HOME")
            .map(|home| PathBuf::from(home).join(".kube/config"))
            .ok_or(PeopleError::NoHome),
    }
}

fn read(path: &Path) -> Result<Mapping, PeopleError> {
    let Some(text) = private_file::read(path)? else {
        return Ok(Mapping::new());
    };
    if text.trim().is_empty() {
        return Ok(Mapping::new());
    }
    serde_norway::from_str(&text).map_err(|error| PeopleError::Content {
        path: path.to_owned(),
        detail: format!("not a kubeconfig, so nothing was changed ({error})"),
    })
}

fn render(document: &Mapping, path: &Path) -> Result<String, PeopleError> {
    serde_norway::to_string(document).map_err(|error| PeopleError::Content {
        path: path.to_owned(),
        detail: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        serde_json::from_str(
            r#"{"id":"6f0c1a52-0000-4000-8000-000000000001","name":"prod","api_url":"https://10.0.0.10:6443","ca_data":"Q0E="}"#,
        )
        .unwrap()
    }

    fn entry(cluster: &Cluster, v1: bool) -> Entry<'_> {
        Entry {
            context: "prod",
            cluster,
            gateway: "https://portico.example.org",
            namespace: None,
            v1,
            command: "portico".to_owned(),
        }
    }

    #[test]
    fn other_contexts_stay_as_they_are() {
        let mut document: Mapping = serde_norway::from_str(
            "apiVersion: v1\nkind: Config\ncurrent-context: mine\nclusters: [{name: mine, cluster: {server: https://a}}]\n\
             users: [{name: mine, user: {token: t}}]\ncontexts: [{name: mine, context: {cluster: mine, user: mine}}]\n",
        )
        .unwrap();
        let cluster = cluster();
        entry(&cluster, false)
            .merge(&mut document, Path::new("f"))
            .unwrap();
        entry(&cluster, false)
            .merge(&mut document, Path::new("f"))
            .unwrap();
        let text = render(&document, Path::new("f")).unwrap();
        assert!(text.contains("token: t"));
        assert_eq!(document["contexts"].as_sequence().unwrap().len(), 2);
        assert_eq!(document["users"].as_sequence().unwrap().len(), 2);
        assert_eq!(document["current-context"], "prod");
    }

    #[test]
    fn a_context_of_somebody_else_is_not_taken() {
        let mut document: Mapping =
            serde_norway::from_str("contexts: [{name: prod, context: {cluster: x, user: x}}]")
                .unwrap();
        let cluster = cluster();
        assert!(matches!(
            entry(&cluster, false).merge(&mut document, Path::new("f")),
            Err(PeopleError::ContextTaken { .. })
        ));
    }

    #[test]
    fn v1_says_that_it_never_asks() {
        let cluster = cluster();
        let new = serde_norway::to_string(&entry(&cluster, true).user_value()).unwrap();
        assert!(
            new.contains("client.authentication.k8s.io/v1\n")
                && new.contains("interactiveMode: Never")
        );
        let old = serde_norway::to_string(&entry(&cluster, false).user_value()).unwrap();
        assert!(old.contains("v1beta1") && !old.contains("interactiveMode"));
    }
}
