//! Connections that measure every statement: duration and errors by table and operation.
//!
//! [`Pool`] and [`Transaction`] replace sqlx's own types: statements are run on `&pool` or on `&mut
//! *transaction` as usual.
use crate::reach::Reach;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Describe, Either, Error, Execute, Executor};
use std::ops::{Deref, DerefMut};
use tokio::time::Instant;

const SECONDS: &str = "portico_store_operation_seconds";
const ERRORS: &str = "portico_store_errors_total";

/// Every table, as a label; a test compares the list with the migrations.
const TABLES: [&str; 30] = [
    "access_tokens",
    "audit_chain",
    "audit_events",
    "authorization_codes",
    "browser_sessions",
    "cluster_creation_attempts",
    "cluster_journal_entries",
    "cluster_journal_heads",
    "cluster_protections",
    "device_codes",
    "enrolled_cluster_feed",
    "enrolled_clusters",
    "handover_codes",
    "saved_forms",
    "keystone_tokens",
    "logout_marks",
    "namespace_candidates",
    "provider_flows",
    "provider_tokens",
    "refresh_tokens",
    "session_changes",
    "session_credentials",
    "session_feed",
    "sessions",
    "sign_in_accounts",
    "sign_in_flows",
    "sign_in_throttles",
    "totp_marks",
    "user_last_projects",
    OTHER,
];
const OPERATIONS: [&str; 5] = ["select", "insert", "update", "delete", OTHER];
/// None of the above: clients must not choose a label's values.
pub(crate) const OTHER: &str = "other";

/// The connection pool, and a probe beside it that finds out why it returns no connection.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pool: AnyPool,
    reach: Reach,
}

/// A transaction. Dropped without a commit, it is rolled back.
#[derive(Debug)]
pub(crate) struct Transaction(Statements);

/// The executor of a transaction's statements.
#[derive(Debug)]
pub(crate) struct Statements(sqlx::Transaction<'static, Any>);

impl Pool {
    pub fn new(pool: AnyPool, reach: Reach) -> Self {
        Self { pool, reach }
    }

    /// Returns the uninstrumented pool, for migrations.
    pub fn raw(&self) -> &AnyPool {
        &self.pool
    }

    /// Returns a connection, for statements that are not the store's own.
    pub async fn acquire(&self) -> Result<PoolConnection<Any>, Error> {
        let acquiring = self.pool.acquire();
        self.reach.unless_unreachable(acquiring, Err).await
    }

    pub async fn begin(&self) -> Result<Transaction, Error> {
        let beginning = self.pool.begin();
        let begun = self.reach.unless_unreachable(beginning, Err).await;
        begun.map(Statements).map(Transaction)
    }
}

impl Transaction {
    pub async fn commit(self) -> Result<(), Error> {
        self.0.0.commit().await
    }
}

impl Deref for Transaction {
    type Target = Statements;

    fn deref(&self) -> &Statements {
        &self.0
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Statements {
        &mut self.0
    }
}

/// A running statement, or its counterpart on Redis; recorded when it completes or is cancelled.
pub(crate) struct QueryTimer {
    table: &'static str,
    operation: &'static str,
    started: Instant,
}

impl QueryTimer {
    fn start(sql: &str) -> Self {
        let (table, operation) = labels(sql);
        Self {
            table,
            operation,
            started: Instant::now(),
        }
    }

    /// Starts the timer of a Redis command; `table` and `operation` are those of the corresponding
    /// statement.
    pub fn command(table: &'static str, operation: &'static str) -> Self {
        Self {
            table,
            operation,
            started: Instant::now(),
        }
    }

    pub fn saw<T, E>(&self, result: &Result<T, E>) {
        if result.is_err() {
            metrics::counter!(ERRORS, "table" => self.table, "operation" => self.operation)
                .increment(1);
        }
    }
}

impl Drop for QueryTimer {
    fn drop(&mut self) {
        metrics::histogram!(SECONDS, "table" => self.table, "operation" => self.operation)
            .record(self.started.elapsed().as_secs_f64());
    }
}

/// Returns the first table that a statement names, and the operation on it.
fn labels(sql: &str) -> (&'static str, &'static str) {
    let mut words = sql
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let operation = OPERATIONS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(first))
        .unwrap_or(OTHER);
    // `UPDATE t`, `INSERT INTO t`, `DELETE FROM t`, `SELECT … FROM t`
    let table = if operation == "update" {
        words.next()
    } else {
        words
            .find(|word| word.eq_ignore_ascii_case("from") || word.eq_ignore_ascii_case("into"))
            .and_then(|_| words.next())
    };
    let table = TABLES
        .into_iter()
        .find(|known| Some(*known) == table)
        .unwrap_or(OTHER);
    (table, operation)
}

impl<'c> Executor<'c> for &'c Pool {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let measured = QueryTimer::start(query.sql());
        let mut rows = self.pool.fetch_many(query);
        let started = async move {
            let first = rows.next();
            let first = self
                .reach
                .unless_unreachable(first, |error| Some(Err(error)))
                .await;
            stream::iter(first).chain(rows)
        };
        stream::once(started)
            .flatten()
            .inspect(move |result| measured.saw(result))
            .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let measured = QueryTimer::start(query.sql());
        let answer = self.pool.fetch_optional(query);
        Box::pin(async move {
            let result = self.reach.unless_unreachable(answer, Err).await;
            measured.saw(&result);
            result
        })
    }

    fn prepare_with<'e, 'q: 'e>(
        self,
        sql: &'q str,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement<'q>, Error>>
    where
        'c: 'e,
    {
        self.pool.prepare_with(sql, parameters)
    }

    fn describe<'e, 'q: 'e>(self, sql: &'q str) -> BoxFuture<'e, Result<Describe<Any>, Error>>
    where
        'c: 'e,
    {
        self.pool.describe(sql)
    }
}

impl<'c> Executor<'c> for &'c mut Statements {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let measured = QueryTimer::start(query.sql());
        let connection: &'c mut AnyConnection = &mut self.0;
        connection
            .fetch_many(query)
            .inspect(move |result| measured.saw(result))
            .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let measured = QueryTimer::start(query.sql());
        let connection: &'c mut AnyConnection = &mut self.0;
        let answer = connection.fetch_optional(query);
        Box::pin(async move {
            let result = answer.await;
            measured.saw(&result);
            result
        })
    }

    fn prepare_with<'e, 'q: 'e>(
        self,
        sql: &'q str,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement<'q>, Error>>
    where
        'c: 'e,
    {
        let connection: &'c mut AnyConnection = &mut self.0;
        connection.prepare_with(sql, parameters)
    }

    fn describe<'e, 'q: 'e>(self, sql: &'q str) -> BoxFuture<'e, Result<Describe<Any>, Error>>
    where
        'c: 'e,
    {
        let connection: &'c mut AnyConnection = &mut self.0;
        connection.describe(sql)
    }
}

/// Describes the store's metrics and initialises the error counters with zero, so that alert rules
/// see the first error. Call it once per process, when its metrics recorder is installed.
pub fn describe_metrics() {
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of statements by table and operation, the wait for a connection included."
    );
    metrics::describe_counter!(
        ERRORS,
        "Statements that the database did not carry out, by table and operation."
    );
    metrics::describe_counter!(
        crate::audit::LOST,
        "Entries of the audit log that could not be stored."
    );
    metrics::describe_counter!(
        crate::audit::BREAKS,
        "Heads of the audit log's chain that were found changed by something else."
    );
    metrics::counter!(crate::audit::LOST).increment(0);
    metrics::counter!(crate::audit::BREAKS).increment(0);
    for table in TABLES {
        for operation in OPERATIONS {
            metrics::counter!(ERRORS, "table" => table, "operation" => operation).increment(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Returns the tables that the migrations of a database create and do not drop again.
    fn made_by(migrations: &str) -> BTreeSet<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../migrations")
            .join(migrations);
        let mut tables = BTreeSet::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if !path.to_str().unwrap().ends_with(".up.sql") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for rest in text.split("CREATE TABLE ").skip(1) {
                tables.insert(rest.split([' ', '(']).next().unwrap().to_owned());
            }
        }
        // it stays for processes of the previous version; no statement of this one names it
        tables.remove("kept_forms");
        tables
    }

    #[test]
    fn the_labels_are_the_tables_of_the_migrations() {
        let labels: BTreeSet<String> = TABLES
            .into_iter()
            .filter(|table| *table != OTHER)
            .map(str::to_owned)
            .collect();
        assert_eq!(labels, made_by("sqlite"));
        assert_eq!(labels, made_by("postgres"));
    }

    #[test]
    fn a_statement_is_known_by_its_first_table() {
        for (sql, expected) in [
            (
                "SELECT COUNT(*) AS n\n FROM keystone_tokens\n JOIN sessions ON true",
                ("keystone_tokens", "select"),
            ),
            (
                "INSERT INTO sign_in_throttles (subject_hash) VALUES ($1)",
                ("sign_in_throttles", "insert"),
            ),
            (
                "UPDATE sessions\n SET ended_at = $1",
                ("sessions", "update"),
            ),
            (
                "DELETE FROM saved_forms WHERE id = $1",
                ("saved_forms", "delete"),
            ),
            ("PRAGMA busy_timeout = 1", (OTHER, OTHER)),
            ("SELECT secret FROM somebody_elses", (OTHER, "select")),
            ("", (OTHER, OTHER)),
        ] {
            assert_eq!(labels(sql), expected, "{sql}");
        }
    }
}
