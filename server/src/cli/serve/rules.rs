//! Files of rules that are read again while the process runs: every few seconds, and at once on
//! SIGHUP.
//!
//! What cannot be used, or fails its own tests, changes nothing: the last good rules stay, the log
//! says so (once for each fault, and after each SIGHUP) with the place in the file, `portico_gateway_rules_unusable` is 1, and the admin
//! port's `/ready` names it without taking the process out of service.
use super::Context;
use anyhow::Context as _;
use gateway::Gateway;
use portico_runtime::admin::Weight;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

const EVERY: Duration = Duration::from_secs(3);

/// What is wrong now, by app.
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
        let said = if all.is_empty() {
            Ok(())
        } else {
            Err(all.join("; "))
        };
        async move { said }
    });
    let mut hangup = signal(SignalKind::hangup()).context("receive SIGHUP")?;
    context.lifecycle.spawn_background(async move {
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(EVERY) => false,
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
                    tracing::info!(app, "rules read again: others count from now on");
                }
                if faults.remove(&app).is_some() && !changed {
                    tracing::info!(app, "the file of rules is as it was again");
                } else if asked && !changed {
                    tracing::info!(app, "rules read again: unchanged");
                }
            }
            Err(error) => {
                let error = error.to_string();
                // the same fault is logged once, and again after each SIGHUP
                if asked || faults.get(&app) != Some(&error) {
                    tracing::error!(app, error, "new rules not usable, the old ones stay");
                    faults.insert(app, error);
                }
            }
        }
    }
}
