use crate::advice::{self, Advice};
use crate::audit::writer::Writer;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::file_identity::FileIdentity;
use crate::instrumented_pool::Pool;
use crate::reach::{Reach, set_up};
use crate::redis::Redis;
use crate::sealing::KeyRing;
use crate::{
    AccessTokens, Audit, AuthorizationCodes, BrowserMarks, Changes, DeviceCodes, Handovers,
    KeystoneTokens, LogoutMarks, ProviderFlows, ProviderTokens, SavedForms, SessionCredentials,
    Sessions, SignInAccounts, SignInFlows, Throttle, TotpMarks,
};
use jiff::Timestamp;
use sqlx::any::AnyPoolOptions;
use sqlx::migrate::{Migrate as _, Migrator};
use sqlx::{Connection as _, Row as _};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of the newest sessions that are compared with the keys.
const SAMPLED_SESSIONS: i64 = 20;

/// A connected database with its keys. Clones share both.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) pool: Backend,
    pub(crate) keys: Arc<KeyRing>,
    /// Distinguishes this process's changes from those of others.
    pub(crate) origin: Uuid,
    pub(crate) audit_writer: Arc<Writer>,
    url_advice: Vec<Advice>,
}

impl Store {
    /// Connects to `url`; a SQLite file is created if it does not exist, readable by its owner
    /// only. Redis uses one connection, whatever the value of `max_connections`.
    ///
    /// # Errors
    /// If the URL is of an unsupported kind or the database does not respond.
    pub async fn connect(
        url: &str,
        max_connections: u32,
        keys: KeyRing,
    ) -> Result<Self, StoreError> {
        let keys = Arc::new(keys);
        if Redis::is_url(url) {
            let redis = Redis::connect(url).await?;
            return Ok(Self {
                origin: redis.origin,
                pool: Backend::Redis(redis),
                keys,
                audit_writer: Arc::default(),
                url_advice: advice::on_url(url),
            });
        }
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
            pool: Backend::Sql {
                pool: Pool::new(pool, reach),
                migrator,
                file,
            },
            keys,
            origin: Uuid::new_v4(),
            audit_writer: Arc::default(),
            url_advice: advice::on_url(url),
        })
    }

    /// Returns the Redis of the store; `None` on a SQL database.
    pub(crate) fn redis(&self) -> Option<&Redis> {
        match &self.pool {
            Backend::Redis(redis) => Some(redis),
            Backend::Sql { .. } => None,
        }
    }

    /// Applies the pending migrations; several processes may do so at once.
    ///
    /// # Errors
    /// If a migration fails, or the database is of a newer version.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match &self.pool {
            Backend::Sql { pool, migrator, .. } => migrator.run(pool.raw()).await?,
            Backend::Redis(redis) => {
                redis.migrate().await?;
                redis.claim(&self.key_ids()).await?;
            }
        }
        // entries that were written without the chain join it in the order of their times
        let adopted = self.audit().adopt_all(Timestamp::now(), true).await?;
        if adopted > 0 {
            tracing::info!(adopted, "entries of the audit log have joined its chain");
        }
        Ok(())
    }

    /// Reverts every migration; all data is lost.
    ///
    /// # Errors
    /// If a migration fails.
    pub async fn revert_all(&self) -> Result<(), StoreError> {
        match &self.pool {
            Backend::Sql { pool, migrator, .. } => Ok(migrator.undo(pool.raw(), 0).await?),
            Backend::Redis(redis) => redis.delete_everything().await,
        }
    }

    /// Verifies that the database has every migration of this version.
    ///
    /// # Errors
    /// [`StoreError::NotMigrated`] if it lacks one.
    pub async fn ensure_migrated(&self) -> Result<(), StoreError> {
        let migrator = match &self.pool {
            Backend::Sql { migrator, .. } => migrator,
            Backend::Redis(redis) => return redis.ensure_migrated().await,
        };
        let acquire = self.pool.acquire().await;
        let mut connection = acquire.map_err(StoreError::database("read the migrations"))?;
        connection.ensure_migrations_table().await?;
        let applied = connection.list_applied_migrations().await?;
        let missing = migrator
            .iter()
            .filter(|migration| migration.migration_type.is_up_migration())
            .filter(|known| !applied.iter().any(|done| done.version == known.version))
            .count();
        if missing == 0 {
            Ok(())
        } else {
            Err(StoreError::NotMigrated { missing })
        }
    }

    /// Verifies that the database responds and is the one that was opened: the same file, or a
    /// Redis that holds this installation's store.
    ///
    /// # Errors
    /// If it does not respond; [`StoreError::Uninitialised`] if Redis has lost its data,
    /// [`StoreError::OtherKeys`] if it belongs to another installation; [`StoreError::File`] if the
    /// file was deleted or replaced.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match &self.pool {
            Backend::Redis(redis) => {
                redis.ensure_initialised().await?;
                return redis.claim(&self.key_ids()).await;
            }
            Backend::Sql { file, .. } => file.as_ref().map_or(Ok(()), FileIdentity::check)?,
        }
        let acquire = self.pool.acquire().await;
        let mut connection = acquire.map_err(StoreError::database("reach the database"))?;
        connection
            .ping()
            .await
            .map_err(StoreError::database("reach the database"))
    }

    /// Verifies that the newest sessions can be opened with the keys. With another installation's
    /// key, every cookie would look unknown and all users would be signed out.
    ///
    /// # Errors
    /// [`StoreError::OtherKeys`] if there are sessions and none is sealed with one of the keys.
    pub async fn ensure_own_keys(&self) -> Result<(), StoreError> {
        if let Backend::Redis(redis) = &self.pool {
            return redis.check_owner(&self.key_ids()).await.map(drop);
        }
        let rows =
            sqlx::query("SELECT csrf_sealed FROM sessions ORDER BY created_at DESC LIMIT $1")
                .bind(SAMPLED_SESSIONS)
                .fetch_all(&self.pool)
                .await
                .map_err(StoreError::database("read the newest sessions"))?;
        let mut found = BTreeSet::new();
        for row in rows {
            let sealed: Vec<u8> = row
                .try_get("csrf_sealed")
                .map_err(StoreError::database("read the newest sessions"))?;
            found.insert(crate::sealing::key_id_of(&sealed));
        }
        let own = self.key_ids();
        if found.is_empty() || own.iter().any(|id| found.contains(id)) {
            return Ok(());
        }
        Err(StoreError::OtherKeys {
            found: found.into_iter().collect(),
        })
    }

    /// Returns settings of the server or its URL that can lose sessions, slow them down or disclose
    /// them.
    ///
    /// # Errors
    /// If the server does not respond.
    pub async fn advice(&self) -> Result<Vec<Advice>, StoreError> {
        let mut all = self.url_advice.clone();
        if let Some(redis) = self.redis() {
            all.extend(redis.advice().await?);
        }
        Ok(all)
    }

    /// Closes every connection after the waiting audit entries have been written.
    pub async fn close(&self) {
        self.flush_audit().await;
        self.pool.close().await;
    }

    /// Replaces the keys, here and in every clone; what was sealed with a key that is not among
    /// them can no longer be opened.
    pub fn replace_keys(&self, keys: &KeyRing) {
        self.keys.replace(keys);
    }

    /// Returns the public IDs of the keys, the current one's first.
    pub fn key_ids(&self) -> Vec<String> {
        self.keys.key_ids()
    }

    /// Returns the sessions of browsers, app hosts and command lines.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(self)
    }

    /// Returns the sessions' Keystone tokens and their revocation.
    pub fn keystone_tokens(&self) -> KeystoneTokens<'_> {
        KeystoneTokens(self)
    }

    /// Returns the change feed of sessions, for every replica to follow.
    pub fn changes(&self) -> Changes<'_> {
        Changes(self)
    }

    /// Returns the application credentials of sessions that stay signed in.
    pub fn session_credentials(&self) -> SessionCredentials<'_> {
        SessionCredentials(self)
    }

    /// Returns the sign-ins in progress.
    pub fn sign_in_flows(&self) -> SignInFlows<'_> {
        SignInFlows(self)
    }

    /// Returns the sign-ins at OIDC providers in progress.
    pub fn provider_flows(&self) -> ProviderFlows<'_> {
        ProviderFlows(self)
    }

    /// Returns the tokens that OIDC providers issued for sessions.
    pub fn provider_tokens(&self) -> ProviderTokens<'_> {
        ProviderTokens(self)
    }

    /// Returns the used logout tokens of OIDC providers.
    pub fn logout_marks(&self) -> LogoutMarks<'_> {
        LogoutMarks(self)
    }

    /// Returns the one-time codes that carry a session to an app's host.
    pub fn handovers(&self) -> Handovers<'_> {
        Handovers(self)
    }

    /// Returns the forms that wait until their user has signed in again.
    pub fn saved_forms(&self) -> SavedForms<'_> {
        SavedForms(self)
    }

    /// Returns the signed texts that browsers carry and cannot change.
    pub fn browser_marks(&self) -> BrowserMarks<'_> {
        BrowserMarks(self)
    }

    /// Returns the device codes of the command line (RFC 8628).
    pub fn device_codes(&self) -> DeviceCodes<'_> {
        DeviceCodes(self)
    }

    /// Returns the authorization codes of the command line.
    pub fn authorization_codes(&self) -> AuthorizationCodes<'_> {
        AuthorizationCodes(self)
    }

    /// Returns the access and refresh tokens of the command line.
    pub fn access_tokens(&self) -> AccessTokens<'_> {
        AccessTokens(self)
    }

    /// Returns the used TOTP codes.
    pub fn totp_marks(&self) -> TotpMarks<'_> {
        TotpMarks(self)
    }

    /// Returns the counters of failed sign-ins.
    pub fn throttle(&self) -> Throttle<'_> {
        Throttle(self)
    }

    /// Returns the failed attempts by account, between its sign-ins.
    pub fn sign_in_accounts(&self) -> SignInAccounts<'_> {
        SignInAccounts(self)
    }

    /// Returns the audit log.
    pub fn audit(&self) -> Audit<'_> {
        Audit(self)
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
