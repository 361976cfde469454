//! `portico cluster ca`, `cert` and `credential`.
mod arguments;
mod rotation;

pub use arguments::{CaCommand, CertCommand, CredentialCommand};
pub use rotation::credential;

use super::certificate_view::{AuthorityRow, text, view};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::specification::read_text;
use super::views::{print_list, print_object};
use arguments::{CaListArgs, CaShowArgs};
use portico_cluster_operations::authorities::authorities;
use portico_cluster_operations::certificate::check_request;
use portico_openstack::magnum::{Authority, Cluster};
use portico_openstack::rest::{self, ErrorKind};
use std::path::Path;

/// Shows or rotates authorities, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses; how a rotation ended.
pub async fn ca(
    command: &CaCommand,
    connection: &mut Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    match command {
        CaCommand::List(args) => list(connection, console, args).await.map(|()| 0),
        CaCommand::Show(args) => show(connection, console, args).await.map(|()| 0),
        CaCommand::Rotate(args) => rotation::authorities(connection, console, args).await,
    }
}

async fn list(
    connection: &Connection,
    console: &mut Console,
    args: &CaListArgs,
) -> Result<(), ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    let read = authorities(magnum, token, cluster.uuid).await;
    let read = read.map_err(|error| of_owner(error, &cluster))?;
    let rows = [
        (Authority::Kubernetes, Some(read.kubernetes)),
        (Authority::Etcd, read.etcd),
        (Authority::FrontProxy, read.front_proxy),
    ];
    let now = connection.clock.now();
    let rows =
        rows.map(|(authority, pem)| AuthorityRow::new(authority.as_str(), pem.as_deref(), now));
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
    let pem = magnum.authority(token, cluster.uuid, authority).await;
    let pem = pem.map_err(|error| of_owner(error, &cluster))?;
    if args.pem {
        return console.print(&pem);
    }
    let view = view(&pem, connection.clock.now())?;
    print_object(
        console,
        args.shared.output,
        &view,
        &view.fingerprint,
        || Ok(text(&view)),
    )
}

/// Has a certificate request signed, and prints the certificate; returns the exit code.
///
/// # Errors
/// If the file cannot be read; Magnum's refusal.
pub async fn cert(
    command: &CertCommand,
    connection: &Connection,
    console: &mut Console,
) -> Result<u8, ClusterError> {
    let CertCommand::Sign(args) = command;
    let request = read_request(&args.csr)?;
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let cluster = magnum.cluster_named(token, &args.cluster).await?;
    if args.dry_run.is_on() {
        console.say(format!(
            "The authority {} of {} would sign the request. Nothing was sent.",
            Authority::from(args.authority).as_str(),
            cluster.name
        ));
        return Ok(exit_code::NEGATIVE);
    }
    let authority = args.authority.into();
    let signed = magnum.sign_certificate(token, cluster.uuid, &request, authority);
    let pem = signed.await.map_err(|error| of_owner(error, &cluster))?;
    if let Ok(view) = view(&pem, connection.clock.now()) {
        console.say(format!(
            "Signed for {}, valid for {} days; it can be revoked only by a rotation of the authority.",
            view.subject, view.days_left
        ));
    }
    console.print(&pem)?;
    Ok(0)
}

/// Explains the refusal of Magnum to give a certificate: its policy is about the owner of the cluster.
fn of_owner(error: rest::Error, cluster: &Cluster) -> ClusterError {
    match &error.kind {
        ErrorKind::Forbidden(_) => ClusterError::Blocked {
            exit: exit_code::FORBIDDEN,
            text: format!(
                "{error}\n  By Magnum's default policy, only the owner of {} gets its certificates: the user \
                 {}, who created it or rotated its credential last. Use `portico kubeconfig`, or ask that user",
                cluster.name, cluster.user_id
            ),
        },
        _ => error.into(),
    }
}

fn read_request(path: &Path) -> Result<String, ClusterError> {
    let text = read_text(path)?;
    check_request(&text)
        .map_err(|error| ClusterError::Usage(format!("{}: {error}", path.display())))?;
    Ok(text)
}
