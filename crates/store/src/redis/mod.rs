//! The store on Redis, with the same results as on a SQL database.
//!
//! Rows are hashes at `<prefix><kind>:<id>`, and indexes are sets. Several keys change together in
//! Lua scripts (`scripts/`, one file a group) only, so that each step is atomic. Keys are named by
//! IDs and keyed hashes, never by a secret; what must be read back is sealed, and [`binding`] ties
//! each entry that leads to a session to its place. Every entry that expires has a time to live as
//! well, one day longer than the sweep needs.
//!
//! It supports one server, or one address that always leads to the primary: scripts access keys
//! that they find at run time, so Redis Cluster is refused at startup (see ADR 0009).
mod access_tokens;
mod address;
mod advice;
mod audit;
mod authorization_codes;
mod binding;
mod browser_sessions;
mod changes;
mod cluster_journal;
mod cluster_protections;
mod codes;
mod connection;
mod creation_attempts;
mod database;
mod device_codes;
mod enrolled_clusters;
mod entry;
mod handovers;
mod keystone_tokens;
mod labels;
mod logout_marks;
mod namespace_candidates;
mod provider_flows;
mod provider_tokens;
mod saved_forms;
mod schema;
mod scripts;
mod session_credentials;
mod session_entry;
mod sessions;
mod sign_in_accounts;
mod sign_in_flows;
mod sweep;
mod throttle;
mod totp_marks;

pub(crate) use connection::Redis;

use crate::error::StoreError;
use crate::shared::Shared;
use std::sync::Arc;

/// The store on Redis. Clones share its connection.
#[derive(Clone, Debug)]
pub(crate) struct RedisStore {
    redis: Redis,
    shared: Arc<Shared>,
}

impl RedisStore {
    /// Connects.
    ///
    /// # Errors
    /// If the URL cannot be used, the server does not respond, or it is a cluster.
    pub async fn connect(url: &str, shared: Arc<Shared>) -> Result<Self, StoreError> {
        let redis = Redis::connect(url).await?;
        Ok(Self { redis, shared })
    }
}
