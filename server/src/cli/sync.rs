//! `portico kube-auth sync`.
use super::arguments::{SyncArgs, SyncSubjects};
use super::error::CliError;
use super::{cluster, line, print_for_people, read_text, service_account};
use crate::config::Config;
use anyhow::Context as _;
use portico_clock::Clock;
use portico_cluster_sync::reconcile::Pruning;
use portico_cluster_sync::sync::{Options, Outcome, Subjects, Sync, SyncConfig};
use portico_domain::cluster::ClusterRecord;
use portico_openstack::keystone::{Client, ServiceAccount};
use portico_runtime::config::{ConfigError, Problem};
use portico_runtime::lifecycle::Lifecycle;
use portico_runtime::telemetry::{self, WorkerGuard};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Maximum size of a synchronisation file, in bytes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

pub(super) async fn sync(
    named: &[PathBuf],
    arguments: SyncArgs,
    log: &mut Option<WorkerGuard>,
) -> Result<ExitCode, CliError> {
    let config = Config::load(named)?;
    // only [log], [keystone] and [[clusters]] are used here
    config.validate(&[])?;
    *log = Some(telemetry::init(&config.log, None).context("start logging")?);
    let (cluster, account) = parties(&config, &arguments)?;
    let path = &arguments.sync_config;
    let text = read_text(path, MAX_CONFIG_BYTES)?;
    let sync_config = SyncConfig::parse(&text).with_context(|| format!("{}", path.display()))?;
    let options = Options {
        kubeconfig: arguments.kubeconfig,
        dry_run: arguments.dry_run,
        pruning: Pruning {
            bindings: arguments.prune,
            namespaces: arguments.prune_namespaces,
        },
        roles: arguments.roles.into_iter().collect(),
        subjects: match arguments.subjects {
            SyncSubjects::Roles => Subjects::Roles,
            SyncSubjects::Users => Subjects::Users,
        },
        namespace_labels: arguments.namespace_labels.into_iter().collect(),
    };
    // warns about its rights if necessary; a failed sign-in is reported by the pass itself
    let _ = account.check().await;
    let sync = Sync::new(cluster, account, sync_config, options)
        .await
        .context("--kubeconfig")?;
    if arguments.watch {
        watch(&sync, arguments.interval).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = sync.once().await.context("synchronise")?;
    print_for_people(&report_text(&outcome, arguments.dry_run))?;
    Ok(if outcome.failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn parties(
    config: &Config,
    arguments: &SyncArgs,
) -> Result<(ClusterRecord, ServiceAccount), CliError> {
    let invalid = |key: &str, message: String| {
        CliError::Config(ConfigError::Invalid(vec![Problem::new(key, message)]))
    };
    let keystone = config
        .keystone
        .as_ref()
        .ok_or_else(|| invalid("keystone", "the section is missing".to_owned()))?;
    let client = Client::new(keystone, Clock::system()).context("keystone")?;
    let account = service_account::open(keystone, client)?.ok_or_else(|| {
        let message = "the section is missing: an account that may read projects and role \
                       assignments, for example a user with the role reader and system = true";
        invalid("keystone.service_account", message.to_owned())
    })?;
    let cluster = cluster::find(config, &arguments.cluster)?;
    Ok((cluster.clone(), account))
}

/// Runs passes until the stop. A running pass is completed: each of its calls has a time limit.
async fn watch(sync: &Sync, interval: Duration) -> Result<(), CliError> {
    let lifecycle = Lifecycle::new(Duration::ZERO);
    let stop = lifecycle.soft_stop().clone().cancelled_owned();
    let ((), stopped) = tokio::join!(sync.watch(interval, stop), lifecycle.run_until_stopped());
    stopped.context("receive signals")?;
    Ok(())
}

fn report_text(outcome: &Outcome, dry_run: bool) -> String {
    let plan = &outcome.plan;
    let mut text = String::new();
    if dry_run {
        for row in plan.to_string().lines() {
            line(&mut text, format_args!("{row}"));
        }
    }
    for done in &outcome.done {
        line(&mut text, format_args!("{done}"));
    }
    for failure in &outcome.failed {
        line(&mut text, format_args!("failed: {failure}"));
    }
    for stale in &plan.stale {
        line(&mut text, format_args!("no longer wanted, kept: {stale}"));
    }
    for difference in &plan.differences {
        line(&mut text, format_args!("left as it is: {difference}"));
    }
    for namespace in &plan.skipped {
        line(&mut text, format_args!("left out: namespace {namespace}"));
    }
    for note in &outcome.notes {
        line(&mut text, format_args!("note: {note}"));
    }
    let (what, count) = if dry_run {
        ("to be made", plan.steps.len())
    } else {
        ("made", outcome.done.len())
    };
    let unchanged = plan.unchanged;
    line(
        &mut text,
        format_args!("changes {what}: {count}; objects as they should be: {unchanged}"),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_cluster_sync::reconcile::Plan;

    #[test]
    fn attack_names_and_messages_of_servers_cannot_drive_the_terminal() {
        let hostile =
            "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\nfailed: nothing".to_owned();
        let outcome = Outcome {
            plan: Plan {
                differences: vec![hostile.clone()],
                stale: vec![hostile.clone()],
                skipped: vec![hostile.clone()],
                ..Plan::default()
            },
            notes: vec![hostile.clone()],
            done: vec![hostile],
            failed: Vec::new(),
        };
        let text = report_text(&outcome, false);
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'));
        assert_eq!(text.lines().count(), 6, "{text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("failed")),
            "{text:?}"
        );
        assert!(text.contains("x]0;owned[2J31mfailed: nothing"), "{text:?}");
    }
}
