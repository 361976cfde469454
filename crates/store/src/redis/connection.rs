//! The connection to Redis: one for all commands, which reconnects by itself.
use super::address::{self, Address};
use super::labels::labels;
use crate::error::StoreError;
use crate::instrumented_pool::QueryTimer;
use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{Client, Cmd, ErrorKind, FromRedisValue, RedisError, Script, ScriptInvocation};
use ::redis::{RedisResult, ServerErrorKind};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit for one command; a browser must not wait longer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
const SLOW_THRESHOLD: Duration = Duration::from_millis(500);

/// A Redis server. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Redis {
    client: Arc<Client>,
    manager: Arc<RwLock<ConnectionManager>>,
    closed: Arc<AtomicBool>,
    pub(super) prefix: Arc<str>,
    /// Distinguishes this process's changes from those of others.
    pub(super) origin: Uuid,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis")
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl Redis {
    /// Returns whether a URL is for Redis.
    pub fn is_url(url: &str) -> bool {
        address::is_redis(url)
    }

    /// Checks a URL without opening a connection.
    ///
    /// # Errors
    /// If the URL cannot be used.
    pub fn check_url(url: &str) -> Result<(), StoreError> {
        address::parse(url).map(drop)
    }

    /// Connects.
    ///
    /// # Errors
    /// If the URL cannot be used, the server does not respond, or it is a cluster.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let Address { client, prefix } = address::read(url)?;
        let operation = "connect to Redis";
        let connecting = ConnectionManager::new_with_config(client.clone(), settings());
        let manager = tokio::time::timeout(RESPONSE_TIMEOUT, connecting)
            .await
            .map_err(|_| StoreError::RedisTimeout { operation })?
            .map_err(StoreError::redis(operation))?;
        let redis = Self {
            client: Arc::new(client),
            manager: Arc::new(RwLock::new(manager)),
            closed: Arc::default(),
            prefix: prefix.into(),
            origin: Uuid::new_v4(),
        };
        redis.refuse_cluster().await?;
        Ok(redis)
    }

    /// Sends no more commands, here and in every clone.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Returns the invocation of an action of a script group; its arguments follow.
    pub(super) fn call(&self, group: &'static Script, action: &str) -> ScriptInvocation<'static> {
        let mut invocation = group.prepare_invoke();
        invocation
            .key(&*self.prefix)
            .arg(self.origin.to_string())
            .arg(action);
        invocation
    }

    /// Returns the name of a key.
    pub(super) fn key(&self, kind: &str, id: &str) -> String {
        format!("{}{kind}:{id}", self.prefix)
    }

    pub(super) async fn script<T: FromRedisValue>(
        &self,
        operation: &'static str,
        invocation: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        self.run(operation, invocation.invoke_async(&mut connection))
            .await
    }

    pub(super) async fn command<T: FromRedisValue>(
        &self,
        operation: &'static str,
        command: &Cmd,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        self.run(operation, command.query_async(&mut connection))
            .await
    }

    /// Waits for the response and measures its duration: every command goes through here.
    async fn run<T>(
        &self,
        operation: &'static str,
        answer: impl Future<Output = RedisResult<T>>,
    ) -> Result<T, StoreError> {
        if self.closed.load(Ordering::Relaxed) {
            let error = io::Error::from(io::ErrorKind::NotConnected).into();
            return Err(StoreError::Redis { operation, error });
        }
        let started = Instant::now();
        let (table, statement) = labels(operation);
        let measured = QueryTimer::command(table, statement);
        let answer = match tokio::time::timeout(RESPONSE_TIMEOUT, answer).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) if error.is_timeout() => Err(StoreError::RedisTimeout { operation }),
            Ok(Err(error)) => {
                self.leave_a_replica(&error);
                Err(StoreError::Redis { operation, error })
            }
            Err(_) => Err(StoreError::RedisTimeout { operation }),
        };
        measured.saw(&answer);
        let took = started.elapsed();
        if took > SLOW_THRESHOLD {
            tracing::warn!(operation, ?took, "Redis is slow");
        }
        answer
    }

    fn connection(&self) -> ConnectionManager {
        let manager = self.manager.read();
        manager.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reconnects after a failover: the old connection may lead to a server that is a replica now,
    /// while the address leads to the new primary.
    fn leave_a_replica(&self, error: &RedisError) {
        if error.kind() != ErrorKind::Server(ServerErrorKind::ReadOnly) {
            return;
        }
        tracing::warn!("this Redis is a replica now; connecting to its address again");
        if let Ok(fresh) =
            ConnectionManager::new_lazy_with_config(Client::clone(&self.client), settings())
        {
            *self.manager.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
    }
}

fn settings() -> ConnectionManagerConfig {
    // few retries: while the server does not respond, each request starts new ones
    ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_min_delay(Duration::from_millis(50))
        .set_max_delay(Duration::from_millis(500))
        .set_number_of_retries(2)
}
