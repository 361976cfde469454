//! The store, which the roles of a process share.
use super::Context;
use crate::cli::migrate::{open_store, with_next_step};
use crate::config::Role;
use anyhow::Context as _;
use portico_store::{KeyRing, Store};
use secrecy::ExposeSecret as _;

/// Returns the process's store; the first role that needs it opens it.
///
/// A panel without the gateway gets one that has the database, but not the keys: what is sealed
/// there, it cannot open, and `store.key_files` are the gateway's alone.
pub(super) async fn open(context: &Context<'_>) -> anyhow::Result<Store> {
    let store = context.store.get_or_try_init(|| connect(context)).await?;
    Ok(store.clone())
}

async fn connect(context: &Context<'_>) -> anyhow::Result<Store> {
    let section = context.config.store.as_ref();
    let section = section.context("[store] is missing")?;
    if !context.roles.contains(&Role::Gateway) {
        let keys = KeyRing::random().context("make a key")?;
        let url = section.url.expose_secret();
        let store = Store::connect(url, section.max_connections, keys).await;
        return store.map_err(|error| with_next_step("open the store", &error));
    }
    let store = open_store(section).await?;
    let looked = if context.roles == Role::ALL {
        // with one process, no other can run a migration at the same time
        store.migrate(context.clock.now()).await
    } else {
        store.ensure_migrated().await
    };
    looked.map_err(|error| with_next_step("look at the store", &error))?;
    for advice in store.advice().await.context("look at the store")? {
        tracing::warn!("{advice}");
    }
    if let Err(error) = store.ensure_own_keys().await {
        let next_step = error.next_step();
        tracing::error!(%error, next_step, "users would be signed out");
    }
    Ok(store)
}
