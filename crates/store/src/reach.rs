//! Whether the database can be reached at all.
//!
//! sqlx's pool tries a refused connection again until its timeout, and then says no more than
//! "pool timed out". So when an answer takes longer than a moment, one connection is made beside the
//! pool, which names the cause at once. All statements that wait share its result.
use crate::cause::StoreCause;
use futures::future::{Either, select};
use sqlx::{AnyConnection, Connection as _, Executor as _};
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// A database in use answers sooner, or hands out a connection sooner.
const PATIENCE: Duration = Duration::from_millis(250);
/// For how long a failed attempt stands for others.
const REMEMBERED: Duration = Duration::from_millis(500);
/// A server that does not take a connection within this time is unreachable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Makes connections beside the pool, one at a time.
#[derive(Clone)]
pub(crate) struct Reach {
    url: Arc<str>,
    last: Arc<Mutex<Option<(Instant, Unreachable)>>>,
}

/// Why no connection can be made.
#[derive(Clone, Debug)]
pub(crate) struct Unreachable {
    pub cause: StoreCause,
    detail: Option<String>,
}

impl fmt::Debug for Reach {
    // the URL may hold a password
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach").finish_non_exhaustive()
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => f.write_str(detail),
            None => self.cause.fmt(f),
        }
    }
}

impl std::error::Error for Unreachable {}

impl From<Unreachable> for sqlx::Error {
    fn from(unreachable: Unreachable) -> Self {
        Self::Configuration(Box::new(unreachable))
    }
}

impl Reach {
    pub fn new(url: &str) -> Self {
        Self {
            url: url.into(),
            last: Arc::default(),
        }
    }

    /// Makes one connection, sets it up and closes it.
    ///
    /// # Errors
    /// With the cause, at once or after three seconds.
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

    /// Waits for an answer of the pool, but no longer than it takes to find out that none will
    /// come.
    pub async fn unless_unreachable<T>(
        &self,
        answer: impl Future<Output = T>,
        failed: impl FnOnce(sqlx::Error) -> T,
    ) -> T {
        let mut answer = pin!(answer);
        if let Ok(answer) = tokio::time::timeout(PATIENCE, &mut answer).await {
            return answer;
        }
        let looking = pin!(self.failure());
        match select(answer, looking).await {
            Either::Left((answer, _)) => answer,
            Either::Right((Some(unreachable), _)) => failed(unreachable.into()),
            // it takes connections: the pool is busy, or the statement slow
            Either::Right((None, answer)) => answer.await,
        }
    }

    async fn failure(&self) -> Option<Unreachable> {
        let mut last = self.last.lock().await;
        if let Some((at, unreachable)) = &*last
            && at.elapsed() < REMEMBERED
        {
            return Some(unreachable.clone());
        }
        let error = self.try_now().await.err()?;
        let cause = StoreCause::of_sql(&error);
        // a file that another process keeps locked answers late, and not over a network
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

/// What the database itself said, where it said anything.
fn detail(error: &sqlx::Error) -> Option<String> {
    error
        .as_database_error()
        .map(|error| error.message().to_owned())
}

/// Prepares a new connection.
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
