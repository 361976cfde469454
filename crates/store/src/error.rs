use crate::cause::StoreCause;
use portico_domain::enrolled_cluster::{InvalidEnrolledCluster, MAX_CLUSTERS};
use portico_transport::TransportFault;
use sqlx::migrate::MigrateError;
use std::path::PathBuf;
use uuid::Uuid;

/// An error of the store. Never holds a secret. [`StoreError::cause`] is the typed cause; the text
/// names it once, so that no error is a source of another.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not respond or refused the query.
    #[error("{operation}: {}", sql_text(error))]
    Database {
        operation: &'static str,
        error: sqlx::Error,
    },
    /// Redis does not respond or refused the command.
    #[error("{operation}: {}", redis_text(error))]
    Redis {
        operation: &'static str,
        error: redis::RedisError,
    },
    /// Redis took too long; whether the command was executed is unknown.
    #[error("{operation}: no answer from Redis in time")]
    RedisTimeout { operation: &'static str },
    /// The file of a SQLite database cannot be used, or was replaced.
    #[error("{}: {}", path.display(), with_detail(*cause, detail.as_deref()))]
    File {
        path: PathBuf,
        cause: StoreCause,
        detail: Option<String>,
    },
    /// Redis holds no store under the prefix.
    #[error("{}", StoreCause::Uninitialised)]
    Uninitialised,
    /// The store was written by an installation with other keys.
    #[error("{} (it was written with key {})", StoreCause::OtherKeys, found.join(", "))]
    OtherKeys { found: Vec<String> },
    /// An entry was moved, or its references were changed, by another program.
    #[error("an entry of {table} is not as it was written: another program has changed the store")]
    Moved { table: &'static str },
    /// A row holds a value that this version did not write.
    #[error("{table}.{column} holds an unreadable value: {reason}")]
    Corrupt {
        table: &'static str,
        column: &'static str,
        reason: String,
    },
    /// A sealed value cannot be opened: its key is not among `store.key_files`, or it was changed.
    #[error("{table}.{column} cannot be opened with the configured keys (sealed with key {kid})")]
    Unsealable {
        table: &'static str,
        column: &'static str,
        kid: String,
    },
    /// An entry of the audit log could not be stored, together with others.
    #[error("{0}")]
    Audit(std::sync::Arc<StoreError>),
    /// Too many entries of the audit log wait for the store, or the process stops.
    #[error("append to the audit log: too many entries wait for the store")]
    AuditOverflow,
    /// Other processes kept changing the same entry of Redis.
    #[error("{operation}: other processes changed the same entry at every attempt")]
    Contended { operation: &'static str },
    /// A key does not consist of 32 bytes in base64.
    #[error("{0}")]
    Key(String),
    /// A database migration failed.
    #[error("migration: {0}")]
    Migration(#[from] MigrateError),
    /// The database has not been migrated for this version.
    #[error("the database lacks {missing} migration(s): run `portico migrate`")]
    NotMigrated { missing: usize },
    /// The store was migrated by a newer version.
    #[error(
        "the store has structure version {found}, this version knows {known}: use the newer \
         version of portico"
    )]
    TooNew { found: u64, known: u64 },
    /// The database is Redis, which does not store this.
    #[error("{what} need a SQL database: use SQLite or PostgreSQL in store.url instead of Redis")]
    NeedsSql { what: &'static str },
    /// The record of a cluster exceeds a limit.
    #[error("cluster {cluster}: {reason}")]
    Cluster {
        cluster: Uuid,
        reason: InvalidEnrolledCluster,
    },
    /// There is no room for another enrolled cluster.
    #[error("there are {MAX_CLUSTERS} enrolled clusters; remove one first")]
    TooManyClusters,
    /// An entry of a cluster's journal is too large.
    #[error(
        "an entry of {bytes} bytes is too large for the journal of a cluster, which takes {max}"
    )]
    JournalEntryTooLarge { bytes: usize, max: usize },
    /// The data of a browser session is too large.
    #[error("{bytes} bytes are too large for a browser session, which takes {max}")]
    BrowserSessionTooLarge { bytes: usize, max: usize },
    /// `store.url` cannot be used.
    #[error("store.url: {0}")]
    Url(String),
}

impl StoreError {
    /// Returns the cause, derived from the types of the errors below.
    pub fn cause(&self) -> StoreCause {
        match self {
            Self::Database { error, .. } => StoreCause::of_sql(error),
            Self::Redis { error, .. } => StoreCause::of_redis(error),
            Self::RedisTimeout { .. } => StoreCause::Transport(TransportFault::Timeout),
            Self::File { cause, .. } => *cause,
            Self::Uninitialised => StoreCause::Uninitialised,
            Self::OtherKeys { .. } | Self::Unsealable { .. } => StoreCause::OtherKeys,
            Self::NotMigrated { .. } => StoreCause::NotMigrated,
            Self::TooNew { .. } => StoreCause::TooNew,
            Self::Migration(error) => match error {
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                    StoreCause::of_sql(error)
                }
                MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_) => {
                    StoreCause::TooNew
                }
                _ => StoreCause::Other,
            },
            Self::Key(_) | Self::Url(_) | Self::NeedsSql { .. } => StoreCause::Configuration,
            Self::Moved { .. }
            | Self::Corrupt { .. }
            | Self::Cluster { .. }
            | Self::TooManyClusters
            | Self::JournalEntryTooLarge { .. }
            | Self::BrowserSessionTooLarge { .. } => StoreCause::Entry,
            Self::Audit(error) => error.cause(),
            Self::AuditOverflow | Self::Contended { .. } => StoreCause::Busy,
        }
    }

    /// Returns what an operator should do about it, as an imperative.
    pub fn next_step(&self) -> &'static str {
        self.cause().next_step()
    }

    /// Returns whether the store answered and refused the request, so that another request may
    /// succeed.
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Self::Database { error, .. } => error.as_database_error().is_some(),
            Self::Redis { error, .. } => error.code().is_some(),
            _ => false,
        }
    }

    pub(crate) fn database(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |error| Self::Database { operation, error }
    }

    pub(crate) fn redis(operation: &'static str) -> impl FnOnce(redis::RedisError) -> Self {
        move |error| Self::Redis { operation, error }
    }
}

/// Returns the cause, with the database's own message if it has more detail.
fn sql_text(error: &sqlx::Error) -> String {
    let cause = StoreCause::of_sql(error);
    match (cause, error.as_database_error()) {
        (StoreCause::Other | StoreCause::Configuration, _) => error.to_string(),
        (StoreCause::Transport(_), _) | (_, None) => cause.to_string(),
        (cause, Some(database)) => with_detail(cause, Some(database.message())),
    }
}

fn redis_text(error: &redis::RedisError) -> String {
    match StoreCause::of_redis(error) {
        StoreCause::Other | StoreCause::Configuration => error.to_string(),
        cause => cause.to_string(),
    }
}

fn with_detail(cause: StoreCause, detail: Option<&str>) -> String {
    match detail {
        Some(detail) => format!("{cause} ({detail})"),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o3_a_refusal_is_named_once_whatever_wraps_it() {
        let refused = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let sql = StoreError::database("read a session")(sqlx::Error::Io(refused()));
        let redis = StoreError::redis("read a session")(refused().into());
        for error in [sql, redis] {
            assert_eq!(
                error.cause(),
                StoreCause::Transport(TransportFault::Refused)
            );
            assert_eq!(error.to_string(), "read a session: connection refused");
            // nothing below that `{:#}` would print a second time
            assert!(std::error::Error::source(&error).is_none());
        }
    }
}
