//! `portico cluster validate`: a new cluster from end to end, with the user's own access to it.
mod balancer;
mod checks;
mod objects;
mod report;
#[cfg(test)]
mod tests;
mod volume;

use super::arguments::{SharedArgs, duration};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::kubernetes::{self, Access, AccessError, ApiError, Kubernetes};
use super::probe;
use super::views::print_object;
use crate::output::{self, OutputFormat};
use crate::profile;
use clap::Args;
use objects::Waiting;
use portico_openstack::magnum::{Authority, Cluster};
use report::{Finding, Part, Report};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Pause between two looks at an object.
const PAUSE: Duration = Duration::from_secs(2);
const PODS_OF_DNS: &str = "/api/v1/namespaces/kube-system/pods";
/// Why the parts of `--full` were not checked without it.
const NEEDS_FULL: &str = "needs --full, which makes an object for it, and deletes it again";
/// The versions of the API, the newest first.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// Check a new cluster from end to end
///
/// Uses your own access to the cluster, as kubectl has it through Portico; kubectl itself is not needed.
/// Checked are the API and its certificate, Magnum's state, nodes, DNS, the user that the cluster sees, and
/// the days that certificates are still valid; with --full also a volume and a load balancer. Exit code 1 if a
/// part failed, or was not checked, as those of --full without it: a part that is not wanted is left out with
/// --waive.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster validate shop --waive volume,load-balancer  # makes nothing
  portico cluster validate shop --full                        # also makes a volume and a load balancer, and deletes them
  portico cluster validate shop --full --waive load-balancer  # for a cloud without load balancers
  portico cluster validate shop --full -o json")]
pub struct ValidateArgs {
    /// Name or UUID
    pub cluster: String,
    /// Also make a claim of 1 GiB and a load balancer, in a namespace that is deleted at the end
    #[arg(long)]
    pub full: bool,
    /// Leave out parts; separate with commas
    #[arg(long, value_name = "PART", value_enum, value_delimiter = ',')]
    pub waive: Vec<Part>,
    /// How long to wait for a volume, a load balancer and their removal, such as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Checks a cluster, and returns the exit code.
///
/// # Errors
/// If Magnum cannot be asked or refuses; [`ClusterError::Blocked`] if the user has interrupted it.
pub async fn validate(
    connection: &Connection,
    console: &mut Console,
    args: &ValidateArgs,
) -> Result<u8, ClusterError> {
    let (magnum, token) = (&connection.clients.magnum, &connection.token);
    let found = magnum.cluster_named(token, &args.cluster).await?;
    let cluster = magnum.cluster(token, found.uuid).await?;
    let (access, etcd) = tokio::join!(
        kubernetes::find(connection, cluster.uuid),
        magnum.authority(token, cluster.uuid, Authority::Etcd),
    );
    let etcd = etcd.ok();
    check(console, args, &cluster, access, etcd.as_deref(), PAUSE).await
}

async fn check(
    console: &mut Console,
    args: &ValidateArgs,
    cluster: &Cluster,
    access: Result<Access, AccessError>,
    etcd: Option<&str>,
    pause: Duration,
) -> Result<u8, ClusterError> {
    let mut found = vec![(Part::Magnum, checks::magnum(cluster))];
    let inside = match access {
        Ok(access) => inside(console, args, cluster, &access, etcd, pause).await?,
        Err(error) => without_access(cluster, &error).await,
    };
    found.extend(inside);
    for (part, finding) in &mut found {
        if args.waive.contains(part) {
            *finding = Finding::waived();
        }
    }
    let uuid = cluster.uuid.to_string();
    let report = Report::new(uuid, cluster.name.clone(), args.full, found);
    print_object(console, args.shared.output, &report, &cluster.name, || {
        output::list(OutputFormat::Table, &report.parts).map_err(ClusterError::from)
    })?;
    console.say(report.summary());
    Ok(report.exit_code())
}

/// Checks what needs the API server.
async fn inside(
    console: &mut Console,
    args: &ValidateArgs,
    cluster: &Cluster,
    access: &Access,
    etcd: Option<&str>,
    pause: Duration,
) -> Result<Vec<(Part, Finding)>, ClusterError> {
    let api = match Kubernetes::new(access) {
        Ok(api) => api,
        Err(error) => return Ok(unreached(Finding::failed(error.to_string()))),
    };
    let began = Instant::now();
    let answer = match api.answer("/version").await {
        Ok(answer) => answer,
        Err(error @ ApiError::Token(_)) => {
            return Ok(unreached(Finding::not_checked(error.to_string())));
        }
        Err(error) => return Ok(unreached(Finding::failed(error.to_string()))),
    };
    let authority = access.authority.as_deref();
    let server = answer.certificate.as_deref();
    let certificates = checks::certificates(server, authority, etcd, access.clock.now());
    let reached = reached(access, answer.status, &answer.body, began.elapsed());
    let mut found = vec![(Part::Api, reached), (Part::Certificates, certificates)];
    if answer.status != 200 {
        let error = ApiError::of_answer(answer.status, &answer.body);
        let text = error.to_string();
        found.push((Part::Authentication, checks::no_review(&error)));
        found.extend(not_checked(&[Part::Nodes, Part::Dns], &text));
        found.extend(not_checked(&Part::FULL, &text));
        return Ok(found);
    }
    let dns = [("labelSelector", "k8s-app in (kube-dns,coredns)")];
    let (nodes, pods, review) = tokio::join!(
        api.list("/api/v1/nodes", &[]),
        api.list(PODS_OF_DNS, &dns),
        review(&api),
    );
    let image = pods.as_ref().ok().and_then(|pods| balancer::image(pods));
    let unread = |error: ApiError| Finding::not_checked(error.to_string());
    let nodes = nodes.map_or_else(unread, |nodes| checks::nodes(&nodes, cluster));
    let pods = pods.map_or_else(unread, |pods| checks::dns(&pods));
    let authentication = match review {
        Ok(review) => checks::authentication(&review, &access.user),
        Err(error) => checks::no_review(&error),
    };
    found.push((Part::Nodes, nodes));
    found.push((Part::Dns, pods));
    found.push((Part::Authentication, authentication));
    if args.full {
        found.extend(full(console, args, &api, image.as_deref(), pause).await?);
    } else {
        found.extend(not_checked(&Part::FULL, NEEDS_FULL));
    }
    Ok(found)
}

/// Makes and removes the objects of `--full`.
async fn full(
    console: &mut Console,
    args: &ValidateArgs,
    api: &Kubernetes,
    image: Option<&str>,
    pause: Duration,
) -> Result<Vec<(Part, Finding)>, ClusterError> {
    let (waived, wanted): (Vec<Part>, Vec<Part>) = Part::FULL
        .into_iter()
        .partition(|part| args.waive.contains(part));
    let waiting = Waiting {
        timeout: args.timeout,
        pause,
    };
    let made = objects::check(api, console, &wanted, image, waiting).await;
    let mut found = made.findings;
    if made.is_interrupted {
        let cleanup = found.iter().find(|(part, _)| *part == Part::Cleanup);
        let text = cleanup.map(|(_, finding)| finding.text.as_str());
        return Err(ClusterError::Blocked {
            exit: exit_code::INTERRUPTED,
            text: format!("interrupted; {}", text.unwrap_or("nothing was made")),
        });
    }
    found.extend(waived.into_iter().map(|part| (part, Finding::waived())));
    Ok(found)
}

/// Returns which user the cluster sees.
async fn review(api: &Kubernetes) -> Result<Value, ApiError> {
    let mut last = ApiError::Malformed("there is none");
    for version in REVIEWS {
        let group = format!("authentication.k8s.io/{version}");
        let object = json!({"apiVersion": group, "kind": "SelfSubjectReview"});
        let path = format!("/apis/{group}/selfsubjectreviews");
        match api.create(&path, &object).await {
            Err(error) if error.is_not_found() => last = error,
            result => return result,
        }
    }
    Err(last)
}

/// Returns what an answer of the API server means; a refusal is an answer too.
fn reached(access: &Access, status: u16, body: &Value, elapsed: Duration) -> Finding {
    let url = profile::display(&access.api_url);
    let version = body.get("gitVersion").and_then(Value::as_str);
    let milliseconds = elapsed.as_millis();
    match (status, version) {
        (200, Some(version)) => Finding::ok(format!(
            "{url} answers this machine as {version} ({milliseconds} ms)"
        )),
        (401 | 403, _) => Finding::ok(format!(
            "{url} answers this machine, with HTTP {status} ({milliseconds} ms)"
        )),
        _ => Finding::failed(format!(
            "{url} answers this machine with HTTP {status}, and not as an API server"
        )),
    }
}

/// Returns the findings where the API server was not reached.
fn unreached(api: Finding) -> Vec<(Part, Finding)> {
    let mut found = vec![(Part::Api, api)];
    let parts = [
        Part::Nodes,
        Part::Dns,
        Part::Authentication,
        Part::Certificates,
    ];
    let text = "the API server was not reached";
    found.extend(not_checked(&parts, text));
    found.extend(not_checked(&Part::FULL, text));
    found
}

/// Returns the findings where this machine has no access to the cluster: only whether something answers.
async fn without_access(cluster: &Cluster, error: &AccessError) -> Vec<(Part, Finding)> {
    let api = match &cluster.api_address {
        None => Finding::not_checked("Magnum knows no address yet"),
        Some(address) => match probe::connect(address).await {
            Ok(()) => Finding::not_checked(format!(
                "{address} answers this machine, but was not asked: {error}"
            )),
            Err(cause) => {
                Finding::failed(format!("{address} does not answer this machine: {cause}"))
            }
        },
    };
    let mut found = unreached(api);
    for (part, finding) in &mut found {
        if *part != Part::Api {
            *finding = Finding::not_checked(error.to_string());
        }
    }
    found
}

/// Returns the parts as not checked, for this reason.
fn not_checked(parts: &[Part], text: &str) -> Vec<(Part, Finding)> {
    let parts = parts.iter().copied();
    parts
        .map(|part| (part, Finding::not_checked(text)))
        .collect()
}
