//! Reloading of keys while the process runs: every few seconds, and at once on SIGHUP.
//!
//! Unusable keys change nothing: the last valid ones stay in use, the log reports it (once for each
//! fault, and after each SIGHUP), and `portico_keys_unusable` is 1 until the files are valid.
use super::Context;
use crate::cli::migrate::read_keys;
use crate::config::Config;
use anyhow::Context as _;
use gateway::Gateway;
use portico_assertion::{Signer, SigningKey, Verifier};
use portico_runtime::error_chain;
use portico_runtime::metrics::{KEY_CHANGES, KEYS_UNUSABLE};
use portico_store::Store;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

const CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// Follows the store's keys, from the files in the current configuration.
pub(super) fn follow_store_keys(context: &Context<'_>, store: Store) -> anyhow::Result<()> {
    let files = context.files.to_vec();
    follow(context, "store", move || {
        let config = Config::load(&files).context("read the configuration")?;
        let section = config.store.context("[store] is missing")?;
        let keys = read_keys(&section)?;
        if keys.key_ids() == store.key_ids() {
            return Ok(false);
        }
        store.replace_keys(&keys);
        Ok(true)
    })
}

/// Follows the key that the gateway signs assertions with. A panel in the same process accepts it
/// first.
pub(super) fn follow_assertion_key(
    context: &Context<'_>,
    path: PathBuf,
    gateway: Gateway,
) -> anyhow::Result<()> {
    let panel = Arc::clone(&context.own_verifier);
    follow(context, "assertion", move || {
        let key = SigningKey::read(&path).context("gateway.assertion_key_file")?;
        let signer = Signer::new(key.clone());
        if signer.kid() == gateway.signing_key_id() {
            return Ok(false);
        }
        if let Some(verifier) = panel.get() {
            verifier.accept(&key);
        }
        gateway.replace_signer(signer);
        Ok(true)
    })
}

/// Follows the public keys that the panel accepts, from the files in the current configuration.
pub(super) fn follow_public_keys(context: &Context<'_>, verifier: Verifier) -> anyhow::Result<()> {
    let files = context.files.to_vec();
    follow(context, "panel", move || {
        let config = Config::load(&files).context("read the configuration")?;
        let section = config.panel.context("[panel] is missing")?;
        let paths = section.assertion_public_key_files;
        if paths.is_empty() {
            anyhow::bail!("panel.assertion_public_key_files is empty");
        }
        let read = Verifier::from_files(paths.iter().map(PathBuf::as_path))
            .context("panel.assertion_public_key_files")?;
        Ok(verifier.replace(&read))
    })
}

fn follow(
    context: &Context<'_>,
    what: &'static str,
    mut look: impl FnMut() -> anyhow::Result<bool> + Send + 'static,
) -> anyhow::Result<()> {
    let unusable = metrics::gauge!(KEYS_UNUSABLE, "keys" => what);
    let changes = metrics::counter!(KEY_CHANGES, "keys" => what);
    unusable.set(0.0);
    let mut hangup = signal(SignalKind::hangup()).context("receive SIGHUP")?;
    context.lifecycle.spawn_background(async move {
        let mut failing: Option<String> = None;
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(CHECK_INTERVAL) => false,
                _ = hangup.recv() => true,
            };
            let looked = spawn_blocking(move || (look(), look)).await;
            let Ok((outcome, again)) = looked else {
                tracing::error!(
                    keys = what,
                    "keys are not read again any more: a task failed"
                );
                return;
            };
            look = again;
            match outcome {
                Ok(changed) => {
                    if changed {
                        changes.increment(1);
                        tracing::info!(keys = what, "keys reloaded: the new keys are in use");
                    } else if asked {
                        tracing::info!(keys = what, "keys reloaded: unchanged");
                    }
                    failing = None;
                }
                Err(error) => {
                    let error = error_chain(&*error);
                    // the same fault is logged once, and again after each SIGHUP
                    if asked || failing.as_ref() != Some(&error) {
                        tracing::error!(
                            keys = what,
                            error,
                            "new keys not usable, the old ones stay in use"
                        );
                    }
                    failing = Some(error);
                }
            }
            unusable.set(if failing.is_some() { 1.0 } else { 0.0 });
        }
    });
    Ok(())
}

/// The verifier that a panel shares with a gateway in the same process.
pub(super) type OwnVerifier = Arc<OnceLock<Verifier>>;
