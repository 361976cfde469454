/// Why the store could not say. Never holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer or refused the query.
    #[error("{operation}: {source}")]
    Database {
        operation: &'static str,
        source: sqlx::Error,
    },
    /// A row holds what this version did not write.
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
    /// A key is not 32 bytes of base64.
    #[error("{0}")]
    Key(String),
    /// The database's structure cannot be brought up to date.
    #[error("migration: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The database has not been migrated for this version.
    #[error("the database lacks {missing} migration(s): run `portico migrate`")]
    NotMigrated { missing: usize },
    /// `store.url` cannot be used.
    #[error("store.url: {0}")]
    Url(String),
}

impl StoreError {
    pub(crate) fn database(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Self {
        move |source| Self::Database { operation, source }
    }
}
