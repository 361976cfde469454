//! Reload on SIGHUP: logs what a reload has changed, and what needs a restart.
//!
//! Keys and other files have tasks of their own, which handle the same signal and log what they
//! have reloaded. Here the configuration is compared with the one that the process was started
//! with.
use super::Context;
use crate::config::{Changes, Config, Role};
use anyhow::Context as _;
use portico_runtime::error_chain;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

pub(super) fn follow(context: &Context<'_>) -> anyhow::Result<()> {
    let mut hangup = signal(SignalKind::hangup()).context("receive SIGHUP")?;
    let (files, roles) = (context.files.to_vec(), context.roles.to_vec());
    let started_with = context.config.clone();
    context.lifecycle.spawn_background(async move {
        while hangup.recv().await.is_some() {
            let (files, roles, old) = (files.clone(), roles.clone(), started_with.clone());
            let looked = tokio::task::spawn_blocking(move || changes(&files, &roles, &old)).await;
            match looked.context("read the configuration") {
                Ok(Ok(changes)) => report(&changes),
                Ok(Err(error)) | Err(error) => {
                    let error = error_chain(&*error);
                    tracing::error!(
                        error,
                        "SIGHUP: the configuration cannot be used, the running one stays"
                    );
                }
            }
        }
    });
    Ok(())
}

/// Returns the differences from the configuration that the process was started with.
fn changes(files: &[PathBuf], roles: &[Role], old: &Config) -> anyhow::Result<Changes> {
    let new = Config::load(files)?;
    new.validate(roles)?;
    Ok(Changes::between(old, &new)?)
}

fn report(changes: &Changes) {
    if changes.reload.is_empty() && changes.restart.is_empty() {
        tracing::info!("SIGHUP: no key of the configuration has changed since the start");
    }
    if !changes.reload.is_empty() {
        let keys = changes.reload.join(", ");
        tracing::info!("SIGHUP: these keys changed and take effect without a restart: {keys}");
    }
    if !changes.restart.is_empty() {
        let keys = changes.restart.join(", ");
        tracing::warn!("SIGHUP: these keys changed and take effect after a restart: {keys}");
    }
}
