//! `portico cluster ca`, `cert` and `credential`.
use super::arguments::{ChangeArgs, SharedArgs, WaitArgs};
use super::certificate_view::{AuthorityRow, text, view};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::follow::{Following, follow};
use super::part::{self, Target};
use super::specification::read_text;
use super::views::{print_list, print_object};
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use portico_cluster_operations::authorities::authorities;
use portico_cluster_operations::certificate::check_request;
use portico_lifecycle::authority::{RotationRefusal, check_rotation};
use portico_lifecycle::capabilities::Feature;
use portico_lifecycle::progress::{Followed, Goal, Mark};
use portico_lifecycle::status::Operation;
use portico_openstack::magnum::Authority;
use std::path::{Path, PathBuf};

/// Show or rotate the authorities of a cluster
#[derive(Debug, Subcommand)]
pub enum CaCommand {
    List(CaListArgs),
    Show(CaShowArgs),
    Rotate(RotateArgs),
}

/// Sign certificate requests
#[derive(Debug, Subcommand)]
pub enum CertCommand {
    Sign(SignArgs),
}

/// Rotate the credential with which a cluster uses the cloud
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    #[command(name = "rotate")]
    Rotate(CredentialArgs),
}

/// An authority of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AuthorityName {
    #[default]
    Kubernetes,
    Etcd,
    FrontProxy,
}

impl From<AuthorityName> for Authority {
    fn from(name: AuthorityName) -> Self {
        match name {
            AuthorityName::Kubernetes => Self::Kubernetes,
            AuthorityName::Etcd => Self::Etcd,
            AuthorityName::FrontProxy => Self::FrontProxy,
        }
    }
}

/// List the authorities of a cluster, with the days that are left
///
/// By Magnum's policy only the user who created the cluster may read them. `-` is in place of what Magnum
/// does not give for this cluster.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster ca list shop")]
pub struct CaListArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show subject, fingerprint and end of an authority's certificate
///
/// By Magnum's policy only the user who created the cluster may read it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster ca show shop
  portico cluster ca show shop --authority etcd --pem > etcd-ca.crt")]
pub struct CaShowArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Which authority
    #[arg(long, value_enum, default_value_t)]
    pub authority: AuthorityName,
    /// Print the certificate itself
    #[arg(long)]
    pub pem: bool,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Replace the authorities of a cluster
///
/// Every certificate and kubeconfig with one stops working at once. Refused for drivers that cannot do it:
/// with some of them the request would damage the cluster's record.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster ca rotate shop --wait")]
pub struct RotateArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Do not ask for the name
    #[arg(long, short)]
    pub yes: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Have a certificate request signed by a cluster's authority
///
/// The certificate is valid for five years, with the subject of the request, and cannot be revoked but by a
/// rotation of the authority. The private key stays where it is: only the request is sent.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster cert sign shop --csr admin.csr > admin.crt")]
pub struct SignArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The request (PEM)
    #[arg(long, value_name = "FILE")]
    pub csr: PathBuf,
    /// Which authority signs
    #[arg(long, value_enum, default_value_t)]
    pub authority: AuthorityName,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Give a cluster a new credential for the cloud
///
/// Where the driver supports it, the caller becomes the owner of the cluster: certificates can then be read
/// by the caller, and by the owner before no longer.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster credential rotate shop --wait")]
pub struct CredentialArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

impl CaCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(args) => &args.shared,
            Self::Show(args) => &args.shared,
            Self::Rotate(args) => &args.shared,
        }
    }
}

/// Shows or rotates authorities.
///
/// # Errors
/// If Magnum cannot be asked or refuses; how a rotation ended.
pub async fn ca(
    command: &CaCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<(), ClusterError> {
    match command {
        CaCommand::List(args) => list(connection, console, args).await,
        CaCommand::Show(args) => show(connection, console, args).await,
        CaCommand::Rotate(args) => rotate(connection, console, args).await,
    }
}

async fn list(
    connection: &Connection,
    console: &mut Console,
    args: &CaListArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let read = authorities(magnum, token, cluster.uuid).await?;
    let rows = [
        (Authority::Kubernetes, Some(read.kubernetes)),
        (Authority::Etcd, read.etcd),
        (Authority::FrontProxy, read.front_proxy),
    ];
    let rows = rows.map(|(authority, pem)| AuthorityRow::new(authority.as_str(), pem.as_deref()));
    print_list(console, args.shared.output, &rows, |row| {
        (row.authority, row.authority)
    })
}

async fn show(
    connection: &Connection,
    console: &mut Console,
    args: &CaShowArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let authority = args.authority.into();
    let pem = magnum.authority(token, cluster.uuid, authority).await?;
    if args.pem {
        return console.print(&pem);
    }
    let view = view(&pem)?;
    print_object(
        console,
        args.shared.output,
        &view,
        &view.fingerprint,
        || Ok(text(&view)),
    )
}

async fn rotate(
    connection: &mut Connection,
    console: &mut Console,
    args: &RotateArgs,
) -> Result<(), ClusterError> {
    let target = open(connection, console, &args.cluster, &args.waiting).await?;
    check_rotation(&target.cluster, target.cloud, target.has_template).map_err(refused)?;
    let name = target.cluster.name.clone();
    if !args.yes {
        let question = format!(
            "Every certificate of {name} stops working at once. Type {name} to rotate its authorities: "
        );
        match console.ask(&question)? {
            Some(typed) if typed == name => {}
            Some(typed) => return Err(ClusterError::NotConfirmed { typed }),
            None => {
                return Err(ClusterError::Usage(
                    "there is no terminal to ask for the name of the cluster: add --yes".to_owned(),
                ));
            }
        }
    }
    let before = Mark::of(&target.cluster);
    let magnum = &connection.clients.magnum;
    magnum
        .rotate_authorities(&connection.token, target.uuid)
        .await?;
    finish(
        connection,
        console,
        &target,
        Operation::RotateCa,
        before,
        &args.waiting,
    )
    .await
}

fn refused(refusal: RotationRefusal) -> ClusterError {
    match refusal {
        RotationRefusal::Unsupported(reason) => ClusterError::Blocked {
            exit: exit_code::UNSUPPORTED,
            text: format!("the authorities cannot be rotated; nothing was sent\n  {reason}"),
        },
        RotationRefusal::State(text) => ClusterError::Blocked {
            exit: exit_code::CONFLICT,
            text,
        },
    }
}

/// Rotates the credential of a cluster.
///
/// # Errors
/// [`ClusterError::Blocked`] if the driver cannot; Magnum's refusal; how the rotation ended.
pub async fn credential(
    command: &CredentialCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<(), ClusterError> {
    let CredentialCommand::Rotate(args) = command;
    let target = open(connection, console, &args.cluster, &args.waiting).await?;
    part::ensure_supported(&target, &[Feature::RotateCredential])?;
    part::ensure_state(&target, Operation::RotateCredential)?;
    let before = Mark::of(&target.cluster);
    let magnum = &connection.clients.magnum;
    magnum
        .rotate_credential(&connection.token, target.uuid)
        .await?;
    let operation = Operation::RotateCredential;
    finish(
        connection,
        console,
        &target,
        operation,
        before,
        &args.waiting,
    )
    .await
}

async fn open(
    connection: &mut Connection,
    console: &mut Console,
    wanted: &str,
    waiting: &WaitArgs,
) -> Result<Target, ClusterError> {
    let change = ChangeArgs {
        waiting: waiting.clone(),
        ..ChangeArgs::default()
    };
    Target::open(connection, console, wanted, &change).await
}

/// Waits for a rotation, if that is wanted.
async fn finish(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    operation: Operation,
    before: Mark,
    waiting: &WaitArgs,
) -> Result<(), ClusterError> {
    let uuid = target.uuid;
    if !waiting.is_wanted(false) {
        console.say(format!(
            "Magnum has accepted the request. Watch it with `portico cluster watch {uuid}`."
        ));
        return Ok(());
    }
    let following = Following {
        uuid,
        name: target.cluster.name.clone(),
        family: target.cluster.driver.family,
        versions: None,
        followed: Followed::Change {
            operation,
            before,
            goal: Goal::Unseen,
        },
        since: Timestamp::now(),
        timeout: waiting.timeout,
        has_json_lines: false,
    };
    follow(connection, console, following).await?;
    console.say(format!(
        "{} has new secrets: get its kubeconfig again.",
        target.cluster.name
    ));
    Ok(())
}

/// Has a certificate request signed, and prints the certificate.
///
/// # Errors
/// If the file cannot be read; Magnum's refusal.
pub async fn cert(
    command: &CertCommand,
    connection: &Connection,
    console: &mut Console,
) -> Result<(), ClusterError> {
    let CertCommand::Sign(args) = command;
    let request = read_request(&args.csr)?;
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let authority = args.authority.into();
    let signed = magnum.sign_certificate(token, cluster.uuid, &request, authority);
    let pem = signed.await?;
    if let Ok(view) = view(&pem) {
        console.say(format!(
            "Signed for {}, valid for {} days; it can be revoked only by a rotation of the authority.",
            view.subject, view.days_left
        ));
    }
    console.print(&pem)
}

fn read_request(path: &Path) -> Result<String, ClusterError> {
    let text = read_text(path)?;
    check_request(&text)
        .map_err(|error| ClusterError::Usage(format!("{}: {error}", path.display())))?;
    Ok(text)
}
