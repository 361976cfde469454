//! A probe that finds out quickly whether the database can be reached.
//!
//! sqlx's pool retries a refused connection until its timeout, and then reports no more than "pool
//! timed out". So if an answer is not there within a moment, one connection is made beside the
//! pool, which finds the cause at once. All waiting statements share its result.
use crate::cause::{StoreCause, Unreachable};
use futures::future::{Either, select};
use sqlx::{AnyConnection, Connection as _, Executor as _};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long an operation may take before the server is probed: a database in use answers sooner.
const PROBE_DELAY: Duration = Duration::from_millis(250);
/// How long the result of a failed probe is used for other operations.
const FAILURE_TTL: Duration = Duration::from_millis(500);
/// The server is unreachable if it accepts no connection within this time.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Makes connections beside the pool, one at a time.
#[derive(Clone)]
pub(crate) struct Reach {
    url: Arc<str>,
    last: Arc<Mutex<Option<(Instant, Unreachable)>>>,
}

impl fmt::Debug for Reach {
    // the URL may hold a password
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").finish_non_exhaustive()
    }
}

impl Reach {
    pub fn new(url: &str) -> Self {
        Self {
            url: url.into(),
            last: Arc::default(),
        }
    }

    /// Opens one connection, sets it up and closes it.
    ///
    /// # Errors
    /// The cause of the failure, at once or after three seconds.
    pub async fn try_now(&self) -> Result<(), sqlx::Error> {
        let connecting = async {
            let mut connection = AnyConnection::connect(&self.url).await?;
            set_up(&mut connection).await?;
            connection.close().await
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(result) => result,
            Err(_) => Err(sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())),
        }
    }

    /// Waits for an answer of the pool, but no longer than it takes to find out that the server is
    /// unreachable.
    pub async fn unless_unreachable<T>(
        &self,
        answer: impl Future<Output = T>,
        failed: impl FnOnce(sqlx::Error) -> T,
    ) -> T {
        let mut answer = pin!(answer);
        if let Ok(answer) = tokio::time::timeout(PROBE_DELAY, &mut answer).await {
            return answer;
        }
        let looking = pin!(self.failure());
        match select(answer, looking).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Some(unreachable), _)) => failed(unreachable.into()),
            // it accepts connections: the pool is busy, or the statement is slow
            Either::Right((None, answer)) => answer.await,
        }
    }

    async fn failure(&self) -> Option<Unreachable> {
        let mut last = self.last.lock().await;
        if let Some((at, unreachable)) = &*last
            && at.elapsed() < FAILURE_TTL
        {
            return Some(unreachable.clone());
        }
        let error = self.try_now().await.err()?;
        let cause = StoreCause::of_sql(&error);
        // a file that another process has locked answers late, without a network
        let locked = self.url.starts_with("sqlite:") && matches!(cause, StoreCause::Transport(_));
        if locked || !cause.is_definite() {
            return None;
        }
        let unreachable = Unreachable {
            cause,
            detail: detail(&error),
        };
        *last = Some((Instant::now(), unreachable.clone()));
        Some(unreachable)
    }
}

/// Returns the database's own error message, if there is one.
fn detail(error: &sqlx::Error) -> Option<String> {
    error
        .as_database_error()
        .map(|error| error.message().to_owned())
}

/// Sets up a new connection.
pub(crate) async fn set_up(connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    if connection.backend_name() == "SQLite" {
        connection
            .execute(
                "PRAGMA busy_timeout = 5000;
                 PRAGMA journal_mode = WAL;
                 PRAGMA synchronous = NORMAL;
                 PRAGMA foreign_keys = ON;",
            )
            .await?;
    }
    Ok(())
}
