//! The database behind a store: SQL or Redis.
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::instrumented_pool::{Pool, Transaction};
use crate::redis::Redis;
use futures::StreamExt as _;
use futures::future::{self, BoxFuture};
use futures::stream::{self, BoxStream};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::migrate::Migrator;
use sqlx::pool::PoolConnection;
use sqlx::{Any, Describe, Either, Execute, Executor};
use std::fmt;

/// The database of a store.
///
/// A reference to it runs SQL as one to the pool does. A repository looks for
/// [`crate::Store::redis`] first; a query sent to a store on Redis nevertheless has no counterpart
/// there yet and fails with [`StoreError::NotOnRedis`].
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Sql {
        pool: Pool,
        migrator: &'static Migrator,
        /// For SQLite only.
        file: Option<FileIdentity>,
    },
    Redis(Redis),
}

/// A SQL query was sent to a store on Redis.
#[derive(Debug)]
pub(crate) struct NotSql;

impl fmt::Display for NotSql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store is on Redis, which has no SQL")
    }
}

impl std::error::Error for NotSql {}

fn not_sql() -> sqlx::Error {
    sqlx::Error::Configuration(Box::new(NotSql))
}

impl Backend {
    fn sql(&self) -> Result<&Pool, sqlx::Error> {
        match self {
            Self::Sql { pool, .. } => Ok(pool),
            Self::Redis(_) => Err(not_sql()),
        }
    }

    /// Starts a transaction.
    pub async fn begin(&self) -> Result<Transaction, sqlx::Error> {
        self.sql()?.begin().await
    }

    /// Returns a connection of the pool, for statements that are not the store's own.
    pub async fn acquire(&self) -> Result<PoolConnection<Any>, sqlx::Error> {
        self.sql()?.acquire().await
    }

    /// Closes every connection.
    pub async fn close(&self) {
        match self {
            Self::Sql { pool, .. } => pool.raw().close().await,
            Self::Redis(redis) => redis.close(),
        }
    }
}

impl<'p> Executor<'p> for &'p Backend {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        match self.sql() {
            Ok(pool) => pool.fetch_many(query),
            Err(error) => stream::once(future::ready(Err(error))).boxed(),
        }
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, Result<Option<AnyRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        match self.sql() {
            Ok(pool) => pool.fetch_optional(query),
            Err(error) => Box::pin(future::ready(Err(error))),
        }
    }

    fn prepare_with<'e, 'q: 'e>(
        self,
        sql: &'q str,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement<'q>, sqlx::Error>>
    where
        'p: 'e,
    {
        match self.sql() {
            Ok(pool) => pool.prepare_with(sql, parameters),
            Err(error) => Box::pin(future::ready(Err(error))),
        }
    }

    fn describe<'e, 'q: 'e>(self, sql: &'q str) -> BoxFuture<'e, Result<Describe<Any>, sqlx::Error>>
    where
        'p: 'e,
    {
        match self.sql() {
            Ok(pool) => pool.describe(sql),
            Err(error) => Box::pin(future::ready(Err(error))),
        }
    }
}

/// Returns the [`StoreError`] of a failed query.
pub(crate) fn database_error(operation: &'static str, error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Configuration(reason) if reason.is::<NotSql>() => {
            StoreError::NotOnRedis { operation }
        }
        _ => StoreError::Database { operation, error },
    }
}
