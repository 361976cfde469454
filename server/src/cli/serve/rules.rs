//! Reloading of rules files while the process runs: every few seconds, and at once on SIGHUP.
//!
//! Rules that cannot be used, or fail their own tests, change nothing: the last valid ones stay in
//! use, the log reports it (once for each fault, and after each SIGHUP) with the position in the
//! file, `portico_gateway_rules_unusable` is 1, and the admin port's `/ready` names it without
//! taking the process out of service.
use super::Context;
use anyhow::Context as _;
use gateway::Gateway;
use portico_runtime::admin::Weight;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

const CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// The current faults, by app.
type Faults = Arc<Mutex<BTreeMap<String, String>>>;

pub(super) fn follow(context: &Context<'_>, gateway: Gateway) -> anyhow::Result<()> {
    if context
        .config
        .apps
        .iter()
        .all(|app| app.rules_file.is_none())
    {
        return Ok(());
    }
    let faults = Faults::default();
    let shown = Arc::clone(&faults);
    context.readiness.add("rules", Weight::Informs, move || {
        let faults = shown.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<String> = faults.values().cloned().collect();
        let message = if all.is_empty() {
            Ok(())
        } else {
            Err(all.join("; "))
        };
        async move { message }
    });
    let mut hangup = signal(SignalKind::hangup()).context("receive SIGHUP")?;
    context.lifecycle.spawn_background(async move {
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(CHECK_INTERVAL) => false,
                _ = hangup.recv() => true,
            };
            let (gateway, faults) = (gateway.clone(), Arc::clone(&faults));
            let looked = spawn_blocking(move || look(&gateway, &faults, asked)).await;
            if looked.is_err() {
                tracing::error!("rules are not read again any more: a task failed");
                return;
            }
        }
    });
    Ok(())
}

fn look(gateway: &Gateway, faults: &Faults, asked: bool) {
    let reloaded = gateway.reload_rules();
    let mut faults = faults.lock().unwrap_or_else(PoisonError::into_inner);
    for looked in reloaded {
        let app = looked.app;
        match looked.outcome {
            Ok(changed) => {
                if changed {
                    tracing::info!(
                        upstream = app,
                        "rules reloaded: the new rules are in effect"
                    );
                }
                if faults.remove(&app).is_some() && !changed {
                    tracing::info!(upstream = app, "the rules file is again as it was");
                } else if asked && !changed {
                    tracing::info!(upstream = app, "rules reloaded: unchanged");
                }
            }
            Err(error) => {
                let error = error.to_string();
                // the same fault is logged once, and again after each SIGHUP
                if asked || faults.get(&app) != Some(&error) {
                    tracing::error!(
                        upstream = app,
                        error,
                        "new rules not usable, the old ones stay in effect"
                    );
                    faults.insert(app, error);
                }
            }
        }
    }
}
