//! `portico kubeconfig`: adds contexts with the exec plugin and without a secret to a file that
//! other programs write as well.
mod document;
mod entry;
mod file;
mod list;
mod remove;

use super::{
    CommandError,
    api::Cluster,
    direct::Pin,
    kubectl, private_file,
    profile::{self, Profile},
    session::Session,
    terminal::say,
};
use clap::{Args, Subcommand};
use document::Document;
use entry::{Entry, Plugin};
use portico_clock::Clock;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Add a cluster to your kubeconfig, list or remove what was added
///
/// Writes a context that asks `portico credential` for short-lived tokens; the file holds no secret.
/// Entries of other programs stay as they are; comments are not preserved, as with kubectl.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  portico kubeconfig --cluster prod\n  portico kubeconfig --cluster prod --stdout > prod.kubeconfig\n  portico kubeconfig --cloud envvars --cluster prod --stdout > ci.kubeconfig\n  portico kubeconfig list\n  portico kubeconfig remove prod"
)]
pub struct KubeconfigArgs {
    #[command(subcommand)]
    command: Option<KubeconfigCommand>,
    #[command(flatten)]
    write: WriteArgs,
}

#[derive(Debug, Subcommand)]
enum KubeconfigCommand {
    /// Add a cluster to your kubeconfig (the default)
    Write(WriteArgs),
    /// List the contexts that Portico wrote
    List(FileArgs),
    /// Remove a context that Portico wrote, and nothing else
    Remove(RemoveArgs),
}

#[derive(Args, Debug)]
struct WriteArgs {
    /// The cluster's name or UUID; may be left out when there is one
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// The gateway that this machine signed in at, if several
    #[arg(long, value_name = "URL", conflicts_with = "cloud")]
    gateway: Option<String>,
    /// A pinned cloud (`portico login --cloud`): kubectl then signs in at Keystone with the
    /// credentials of clouds.yaml, or of the OS_* variables with `envvars`. For CI
    #[arg(long, value_name = "NAME")]
    cloud: Option<String>,
    /// The context's name (default: the cluster's)
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The namespace that kubectl uses when none is named
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// The file to merge into (default: where $KUBECONFIG has the context, else its first file,
    /// else ~/.kube/config)
    #[arg(long, value_name = "FILE", conflicts_with = "stdout")]
    kubeconfig: Option<PathBuf>,
    /// Print a kubeconfig of its own instead of merging
    #[arg(long)]
    stdout: bool,
}

#[derive(Args, Debug)]
struct FileArgs {
    /// The file to look into (default: all of $KUBECONFIG, else ~/.kube/config)
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct RemoveArgs {
    /// The context's name
    context: String,
    #[command(flatten)]
    file: FileArgs,
}

/// Runs `portico kubeconfig`.
pub async fn kubeconfig(args: KubeconfigArgs, clock: &Clock) -> Result<(), CommandError> {
    match args.command {
        None => write(args.write, clock).await,
        Some(KubeconfigCommand::Write(args)) => write(args, clock).await,
        Some(KubeconfigCommand::List(args)) => print(&list::list(&file::all(args.kubeconfig)?)?),
        Some(KubeconfigCommand::Remove(args)) => {
            remove::remove(&args.context, &file::all(args.file.kubeconfig)?).await
        }
    }
}

/// Adds a cluster (name or ID) to a kubeconfig, as `portico kubeconfig` does: that of a pinned cloud, or of a
/// gateway. `file` is the one to merge into; with `is_printed`, a kubeconfig of its own is printed instead.
///
/// # Errors
/// If there is no session or pin, the cluster is not one of them, or the file cannot be written.
pub async fn add(
    cluster: String,
    cloud: Option<String>,
    gateway: Option<String>,
    file: Option<PathBuf>,
    is_printed: bool,
    clock: &Clock,
) -> Result<(), CommandError> {
    let args = WriteArgs {
        cluster: Some(cluster),
        gateway,
        cloud,
        context: None,
        namespace: None,
        kubeconfig: file,
        stdout: is_printed,
    };
    write(args, clock).await
}

async fn write(args: WriteArgs, clock: &Clock) -> Result<(), CommandError> {
    let (plugin, cluster) = match &args.cloud {
        Some(cloud) => of_cloud(cloud, args.cluster.as_deref())?,
        None => of_gateway(args.gateway.as_deref(), args.cluster.as_deref(), clock).await?,
    };
    let entry = Entry {
        context: args.context.as_deref().unwrap_or(&cluster.name),
        cluster: &cluster,
        plugin,
        namespace: args.namespace.as_deref(),
        v1: kubectl::supports_v1().await,
        command: entry::command(),
    };
    if args.stdout {
        let mut document = Document::default();
        let path = Path::new("standard output");
        entry.merge(&mut document, path)?;
        return print(&document.render(path)?);
    }
    let files = file::all(args.kubeconfig)?;
    let path = file::target(&files, entry.context)?;
    if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
        private_file::directory(directory)?;
    }
    let _lock = private_file::lock_kubeconfig(&path).await?;
    let mut document = Document::read(&path)?;
    entry.merge(&mut document, &path)?;
    document.write(&path)?;
    say(format!(
        "The context {} is in {} and in use. Try: kubectl --context {} auth can-i --list",
        entry.context,
        path.display(),
        entry.context
    ));
    Ok(())
}

async fn of_gateway(
    gateway: Option<&str>,
    cluster: Option<&str>,
    clock: &Clock,
) -> Result<(Plugin, Cluster), CommandError> {
    let profile = Profile::choose(gateway)?;
    let gateway = profile::display(&profile.gateway);
    let clusters = Session::new(profile, clock)?.clusters().await?;
    let cluster = find(clusters, cluster)?;
    Ok((Plugin::Gateway(gateway), cluster))
}

/// Makes the entry of a pinned cloud. No request is sent: the pin is authoritative.
fn of_cloud(cloud: &str, cluster: Option<&str>) -> Result<(Plugin, Cluster), CommandError> {
    let pin = Pin::load(cloud)?;
    let clusters = pin.clusters.iter().map(|pinned| Cluster {
        id: pinned.id,
        name: pinned.name.clone(),
        api_url: pinned.api_url.clone(),
        ca_data: pinned.ca_data.clone(),
        sealing_key: None,
        project: None,
    });
    let cluster = find(clusters.collect(), cluster).map_err(|error| match cluster {
        Some(asked) => pin.unknown(asked).into(),
        None => error,
    })?;
    let plugin = Plugin::Cloud {
        name: pin.cloud,
        gateway: profile::display(&pin.gateway),
    };
    Ok((plugin, cluster))
}

fn find(mut clusters: Vec<Cluster>, asked: Option<&str>) -> Result<Cluster, CommandError> {
    let names: Vec<&str> = clusters.iter().map(|c| c.name.as_str()).collect();
    let known = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    let found = match asked {
        Some(asked) => position(&clusters, asked)?,
        None if clusters.len() > 1 => return Err(CommandError::WhichCluster { known }),
        None => (!clusters.is_empty()).then_some(0),
    };
    match found {
        Some(index) => Ok(clusters.swap_remove(index)),
        None => Err(CommandError::UnknownCluster {
            name: asked.unwrap_or("yours").to_owned(),
            known,
        }),
    }
}

/// Returns the position of the cluster with this ID, or of the only one with this name: users choose
/// the names of clusters that they enrol, also one that another cluster has.
fn position(clusters: &[Cluster], asked: &str) -> Result<Option<usize>, CommandError> {
    let by_id = clusters
        .iter()
        .position(|cluster| cluster.id.to_string() == asked);
    if by_id.is_some() {
        return Ok(by_id);
    }
    let is_named = |cluster: &&Cluster| cluster.name == asked;
    let named: Vec<_> = clusters.iter().filter(is_named).collect();
    if named.len() > 1 {
        let ids: Vec<_> = named.iter().map(|cluster| cluster.id.to_string()).collect();
        let known = ids.join(", ");
        return Err(CommandError::WhichCluster { known });
    }
    Ok(clusters.iter().position(|cluster| cluster.name == asked))
}

/// Writes to standard output the requested text and nothing else.
fn print(text: &str) -> Result<(), CommandError> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => Err(CommandError::File {
            path: "standard output".into(),
            source,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "6f0c1a52-0000-4000-8000-000000000001";
    const TWO: &str = "af0c1a52-0000-4000-8000-000000000002";

    fn cluster(id: &str, name: &str) -> Cluster {
        let json = serde_json::json!({ "id": id, "name": name, "api_url": "https://192.0.2.7" });
        serde_json::from_value(json).unwrap()
    }

    fn found(clusters: &[Cluster], asked: &str) -> Option<String> {
        let found = find(clusters.to_vec(), Some(asked)).ok()?;
        Some(found.id.to_string())
    }

    #[test]
    fn a_name_that_two_clusters_have_is_not_guessed() {
        let clusters = [cluster(ONE, "prod"), cluster(TWO, "prod")];
        let ambiguous = find(clusters.to_vec(), Some("prod")).map(drop);
        let Err(CommandError::WhichCluster { known }) = ambiguous else {
            panic!("not ambiguous");
        };
        assert_eq!(known, format!("{ONE}, {TWO}"));
        assert_eq!(found(&clusters, TWO).as_deref(), Some(TWO));
        assert_eq!(found(&clusters[..1], "prod").as_deref(), Some(ONE));
    }

    #[test]
    fn an_id_is_not_taken_for_a_name() {
        let clusters = [cluster(ONE, TWO), cluster(TWO, "prod")];
        assert_eq!(found(&clusters, TWO).as_deref(), Some(TWO));
        assert_eq!(found(&clusters, "shop"), None);
    }
}
