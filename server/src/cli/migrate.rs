//! `portico migrate`, and opening of the store.
use super::error::CliError;
use super::print;
use crate::config::Config;
use anyhow::Context as _;
use portico_clock::Clock;
use portico_runtime::config::{ConfigError, Problem};
use portico_runtime::secret_file::read_secret_file;
use portico_store::{KeyRing, Store, StoreConfig, StoreError};
use secrecy::ExposeSecret as _;

pub(super) async fn migrate(config: &Config) -> Result<(), CliError> {
    let section = config.store.as_ref().ok_or_else(|| {
        ConfigError::Invalid(vec![Problem::new("store", "the section is missing")])
    })?;
    let store = open_store(section).await?;
    let migrated = store.migrate(Clock::system().now()).await;
    migrated.map_err(|error| with_next_step("migrate the store", &error))?;
    print("The store's database is up to date.\n")
}

/// Reads the key files and connects.
pub(super) async fn open_store(section: &StoreConfig) -> anyhow::Result<Store> {
    let keys = read_keys(section)?;
    Store::connect(section.url.expose_secret(), section.max_connections, keys)
        .await
        .map_err(|error| with_next_step("open the store", &error))
}

/// Returns the error of a command that it ends: its last line names the reason and the next step.
pub(super) fn with_next_step(operation: &str, error: &StoreError) -> anyhow::Error {
    anyhow::anyhow!("{operation}: {error}; {}", error.next_step())
}

/// Reads the key files.
pub(super) fn read_keys(section: &StoreConfig) -> anyhow::Result<KeyRing> {
    let keys: Result<Vec<_>, _> = section
        .key_files
        .iter()
        .map(|path| read_secret_file(path))
        .collect();
    Ok(KeyRing::from_base64(&keys.context("store.key_files")?)?)
}
