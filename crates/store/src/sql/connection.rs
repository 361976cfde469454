//! The connection to a SQL database.
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::instrumented_pool::Pool;
use crate::reach::{Reach, set_up};
use crate::shared::Shared;
use sqlx::any::AnyPoolOptions;
use sqlx::migrate::Migrator;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A SQL database. Clones share its connections.
#[derive(Clone, Debug)]
pub(crate) struct SqlStore {
    pub(super) pool: Pool,
    pub(super) shared: Arc<Shared>,
    /// Distinguishes this process's changes from those of others.
    pub(super) origin: Uuid,
    pub(super) migrator: &'static Migrator,
    /// For SQLite only.
    pub(super) file: Option<FileIdentity>,
}

impl SqlStore {
    /// Connects.
    ///
    /// # Errors
    /// If the URL is of an unsupported kind or the database does not respond.
    pub async fn connect(
        url: &str,
        max_connections: u32,
        shared: Arc<Shared>,
    ) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let (migrator, file) = prepare(url)?;
        // the pool would retry for five seconds, and then not report the cause
        let reach = Reach::new(url);
        let connect = || StoreError::database("connect to the database");
        reach.try_now().await.map_err(connect())?;
        let pool = AnyPoolOptions::new()
            .max_connections(max_connections.max(1))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .after_connect(|connection, _| Box::pin(set_up(connection)))
            .connect_lazy(url)
            .map_err(connect())?;
        Ok(Self {
            pool: Pool::new(pool, reach),
            shared,
            origin: Uuid::new_v4(),
            migrator,
            file,
        })
    }
}

fn prepare(url: &str) -> Result<(&'static Migrator, Option<FileIdentity>), StoreError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok((&POSTGRES, None));
    }
    let Some(rest) = url.strip_prefix("sqlite:") else {
        return Err(StoreError::Url(
            "must start with sqlite://, postgres://, redis:// or rediss://".to_owned(),
        ));
    };
    let file = rest.strip_prefix("//").unwrap_or(rest);
    let path = file.split('?').next().unwrap_or_default();
    if path.is_empty() || path == ":memory:" {
        return Err(StoreError::Url(
            "name a file: a database in memory would be another one for each connection".to_owned(),
        ));
    }
    let file = FileIdentity::create_private(path.into())?;
    Ok((&SQLITE, Some(file)))
}
