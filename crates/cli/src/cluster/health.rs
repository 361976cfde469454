//! `portico cluster health`: what Magnum reports, and what this machine sees of the API.
use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::views::print_object;
use clap::Args;
use jiff::Timestamp;
use portico_openstack::magnum::{Cluster, HealthStatus};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Maximum time for an answer of the API server.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Show what Magnum reports about the health of a cluster, and whether its API answers this machine
///
/// Exit code 1 if Magnum reports the cluster as unhealthy, or its API does not answer.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster health shop")]
pub struct HealthArgs {
    /// Name or UUID
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The health of a cluster.
#[derive(Debug, Serialize)]
struct HealthView {
    /// As Magnum reports it; `None`: it was not measured yet.
    health_status: Option<String>,
    health_status_reason: BTreeMap<String, String>,
    /// When Magnum last changed its record.
    updated_at: Option<Timestamp>,
    /// `None`: Magnum knows no address yet.
    api: Option<ProbeView>,
}

/// What this machine sees of the API.
#[derive(Debug, Serialize)]
struct ProbeView {
    address: String,
    is_reachable: bool,
    milliseconds: u64,
    at: Timestamp,
    /// Why it does not answer.
    cause: Option<String>,
}

/// Shows the health, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses.
pub async fn health(
    connection: &Connection,
    console: &mut Console,
    args: &HealthArgs,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.cluster_named(token, &args.cluster).await?;
    let cluster = magnum.cluster(token, found.uuid).await?;
    let view = HealthView {
        health_status: cluster
            .health_status
            .as_ref()
            .map(|status| status.as_str().to_owned()),
        health_status_reason: cluster.health_status_reason.clone(),
        updated_at: cluster.updated_at,
        api: match &cluster.api_address {
            Some(address) => Some(probe(address).await),
            None => None,
        },
    };
    print_object(console, args.shared.output, &view, &cluster.name, || {
        Ok(text(&cluster, &view))
    })?;
    let is_unhealthy = cluster.health_status == Some(HealthStatus::Unhealthy);
    let is_silent = view.api.as_ref().is_some_and(|api| !api.is_reachable);
    Ok(if is_unhealthy || is_silent {
        exit_code::NEGATIVE
    } else {
        0
    })
}

/// Opens a connection to the API server. Its certificate is not checked, and nothing secret is sent: an
/// address that answers is all that is asked for.
async fn probe(address: &str) -> ProbeView {
    let began = Instant::now();
    let result = connect(address).await;
    ProbeView {
        address: address.to_owned(),
        is_reachable: result.is_ok(),
        milliseconds: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        at: Timestamp::now(),
        cause: result.err(),
    }
}

/// Opens a connection to an address, and sends nothing.
///
/// # Errors
/// The cause, in words.
pub async fn connect(address: &str) -> Result<(), String> {
    let url: url::Url = address
        .parse()
        .map_err(|error| format!("{address}: {error}"))?;
    let host = url
        .host_str()
        .ok_or_else(|| format!("{address} has no host"))?;
    let port = url.port_or_known_default().unwrap_or(443);
    // a host in brackets is an IPv6 address
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let connecting = tokio::net::TcpStream::connect((host, port));
    match tokio::time::timeout(PROBE_TIMEOUT, connecting).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())),
    }
}

fn text(cluster: &Cluster, view: &HealthView) -> String {
    let mut text = String::new();
    let status = view.health_status.as_deref().unwrap_or("not measured");
    // writing to a string cannot fail
    let _ = writeln!(text, "Magnum  {status}");
    // what is wrong comes first
    let (good, bad): (Vec<_>, Vec<_>) = view
        .health_status_reason
        .iter()
        .partition(|(_, reason)| is_good(reason));
    for (part, reason) in bad.into_iter().chain(good) {
        let _ = writeln!(
            text,
            "        {}",
            crate::one_line(&format!("{part}: {reason}"))
        );
    }
    match &view.api {
        None => {
            let _ = writeln!(text, "API     {} has no address yet", cluster.name);
        }
        Some(api) => {
            let answer = match &api.cause {
                None => format!("answers this machine ({} ms)", api.milliseconds),
                Some(cause) => format!("does not answer this machine: {cause}"),
            };
            let line = crate::one_line(&format!("{} {answer}", api.address));
            let _ = writeln!(text, "API     {line}");
        }
    }
    text
}

fn is_good(reason: &str) -> bool {
    ["ok", "true"]
        .iter()
        .any(|word| reason.eq_ignore_ascii_case(word))
}
