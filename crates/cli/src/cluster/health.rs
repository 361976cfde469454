//! `portico cluster health`: what Magnum reports, and what this machine sees of the API.
use super::age;
use super::arguments::SharedArgs;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::probe::{self, ProbeView};
use super::views::print_object;
use clap::Args;
use jiff::Timestamp;
use portico_cluster_operations::health;
use portico_openstack::magnum::{Cluster, HealthStatus};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Show what Magnum reports about the health of a cluster, and whether its API answers this machine
///
/// Magnum's report has the time at which the record of the cluster was last changed. The API is asked for
/// /readyz, without a token and with the authority of the cluster; without the authority, only a connection
/// is opened. Exit code 1 if Magnum reports the cluster as unhealthy, or its API does not answer or is not
/// ready.
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
        api: probe::probe(connection, &cluster).await,
    };
    print_object(console, args.shared.output, &view, &cluster.name, || {
        Ok(text(&cluster, &view, connection.clock.now()))
    })?;
    let is_unhealthy = cluster.health_status == Some(HealthStatus::Unhealthy);
    let is_bad = |api: &ProbeView| !api.is_reachable || api.is_ready == Some(false);
    Ok(if is_unhealthy || view.api.as_ref().is_some_and(is_bad) {
        exit_code::NEGATIVE
    } else {
        0
    })
}

fn text(cluster: &Cluster, view: &HealthView, now: Timestamp) -> String {
    let mut text = String::new();
    let reported = match view.updated_at {
        // without a report there is none that has an age
        Some(at) if cluster.health_status.is_some() => format!(
            " (Magnum last changed the record {} ago, {})",
            age::text(at, now),
            age::in_seconds(at)
        ),
        _ => String::new(),
    };
    let status = health::status(cluster.health_status.as_ref());
    // writing to a string cannot fail
    let _ = writeln!(text, "Magnum  {}{reported}", crate::one_line(&status));
    // what is wrong comes first
    for part in health::parts(&view.health_status_reason) {
        let line = format!("{}: {}", part.name, part.text);
        let _ = writeln!(text, "        {}", crate::one_line(&line));
    }
    let api = match &view.api {
        None => format!("{} has no address yet", cluster.name),
        Some(api) => format!("{} {}", api.address, answer(api)),
    };
    let _ = writeln!(text, "API     {}", crate::one_line(&api));
    if let Some(text_of_difference) = view.api.as_ref().and_then(|api| difference(cluster, api)) {
        let _ = writeln!(text, "        {text_of_difference}");
    }
    text
}

/// Returns what the probe found, as a clause.
fn answer(api: &ProbeView) -> String {
    let answer = match (&api.cause, api.is_ready) {
        (Some(cause), Some(_)) => format!("answers this machine, but is not ready: {cause}"),
        (Some(cause), None) => format!("does not answer this machine: {cause}"),
        (None, Some(true)) => format!(
            "answers this machine and is ready ({} ms)",
            api.milliseconds
        ),
        (None, _) => format!("answers this machine ({} ms)", api.milliseconds),
    };
    match &api.note {
        Some(note) => format!("{answer}; {note}"),
        None => answer,
    }
}

/// Returns how Magnum's report and the probe contradict each other, as a sentence.
fn difference(cluster: &Cluster, api: &ProbeView) -> Option<&'static str> {
    let of_api = cluster.health_status_reason.get("api");
    match cluster.health_status.as_ref()? {
        HealthStatus::Healthy if !api.is_reachable || api.is_ready == Some(false) => Some(
            "Magnum reports the cluster as healthy, but its API is not ready for this machine: Magnum's \
             report may be old, or this machine may not reach the network of the cluster.",
        ),
        HealthStatus::Unhealthy
            if api.is_ready == Some(true) && of_api.is_some_and(|text| !health::is_good(text)) =>
        {
            Some(
                "Magnum reports that the API is not healthy, but it is ready for this machine: Magnum's \
                 report may be old.",
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown(found: Value, is_ready: Option<bool>, cause: Option<&str>) -> String {
        let mut record = json!({"uuid": "900e3758-8071-430e-a8cf-5c48f428dc0e", "name": "shop",
                                "status": "CREATE_COMPLETE", "updated_at": "2026-11-28T03:00:00+00:00"});
        let (Some(record_fields), Some(found)) = (record.as_object_mut(), found.as_object()) else {
            panic!("not an object");
        };
        record_fields.extend(found.clone());
        let cluster: Cluster = serde_json::from_value(record).unwrap();
        let now = "2026-11-28T03:12:00Z".parse().unwrap();
        let view = HealthView {
            health_status: None,
            health_status_reason: cluster.health_status_reason.clone(),
            updated_at: cluster.updated_at,
            api: Some(ProbeView {
                address: "https://192.0.2.10:6443".to_owned(),
                is_reachable: is_ready.is_some() || cause.is_none(),
                is_ready,
                milliseconds: 12,
                at: now,
                cause: cause.map(str::to_owned),
                note: None,
            }),
        };
        text(&cluster, &view, now)
    }

    #[test]
    fn case_45_a_report_is_in_words_with_its_age_and_the_bad_parts_first() {
        let reasons = json!({"api": "ok", "node-0.Ready": "True", "node-1.Ready": "False"});
        let found = json!({"health_status": "UNHEALTHY", "health_status_reason": reasons});
        let text = shown(found, Some(true), None);
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "Magnum  Unhealthy (Magnum last changed the record 12m ago, 2026-11-28T03:00:00Z)",
                "node-1: not ready",
                "API server: ok",
                "node-0: ready",
                "API     https://192.0.2.10:6443 answers this machine and is ready (12 ms)",
            ]
        );
    }

    #[test]
    fn case_46_health_that_is_not_measured_has_no_age() {
        let text = shown(json!({"health_status": null}), None, None);
        assert!(text.starts_with("Magnum  Not measured\n"), "{text}");
        assert!(text.contains("answers this machine (12 ms)"), "{text}");
    }

    #[test]
    fn case_47_a_healthy_report_and_a_probe_that_failed_are_both_shown() {
        let healthy = json!({"health_status": "HEALTHY"});
        let text = shown(healthy.clone(), None, Some("connection refused"));
        let part = "does not answer this machine: connection refused";
        assert!(text.contains(part), "{text}");
        assert!(text.contains("report may be old"), "{text}");
        let cause = "it answered /readyz with HTTP 500";
        let text = shown(healthy, Some(false), Some(cause));
        assert!(text.contains(&format!("is not ready: {cause}")), "{text}");
    }
}
