use crate::advice::{self, Advice};
use crate::database::Database;
use crate::error::StoreError;
use crate::redis::{Redis, RedisStore};
use crate::sealing::KeyRing;
use crate::shared::Shared;
use crate::sql::SqlStore;
use crate::sweep::{Sweep, Swept};
use crate::{
    AccessTokens, Audit, AuthorizationCodes, BrowserMarks, BrowserSessions, Changes,
    ClusterJournal, ClusterProtections, CreationAttempts, DeviceCodes, EnrolledClusters, Handovers,
    KeystoneTokens, LogoutMarks, NamespaceCandidates, ProviderFlows, ProviderTokens, SavedForms,
    SessionCredentials, Sessions, SignInAccounts, SignInFlows, Throttle, TotpMarks,
};
use jiff::Timestamp;
use std::sync::Arc;

/// A connected database with its keys. Clones share both.
#[derive(Clone, Debug)]
pub struct Store {
    backend: Backend,
    shared: Arc<Shared>,
    url_advice: Vec<Advice>,
}

/// The database of a store.
#[derive(Clone, Debug)]
enum Backend {
    Sql(SqlStore),
    Redis(RedisStore),
}

/// Defines the accessors of [`Store`] for what each database implements: the one place that chooses
/// between SQL and Redis.
macro_rules! accessors {
    ($($(#[$doc:meta])* $visibility:vis fn $name:ident -> $repository:ident;)*) => {
        impl Store {
            $(
                $(#[$doc])*
                $visibility fn $name(&self) -> &dyn $repository {
                    match &self.backend {
                        Backend::Sql(sql) => sql,
                        Backend::Redis(redis) => redis,
                    }
                }
            )*
        }
    };
}

accessors! {
    /// Returns the sessions of browsers, app hosts and command lines.
    pub fn sessions -> Sessions;

    /// Returns the sessions' Keystone tokens and their revocation.
    pub fn keystone_tokens -> KeystoneTokens;

    /// Returns the change feed of sessions, for every replica to follow.
    pub fn changes -> Changes;

    /// Returns the application credentials of sessions that stay signed in.
    pub fn session_credentials -> SessionCredentials;

    /// Returns the sign-ins in progress.
    pub fn sign_in_flows -> SignInFlows;

    /// Returns the sign-ins at OIDC providers in progress.
    pub fn provider_flows -> ProviderFlows;

    /// Returns the tokens that OIDC providers issued for sessions.
    pub fn provider_tokens -> ProviderTokens;

    /// Returns the used logout tokens of OIDC providers.
    pub fn logout_marks -> LogoutMarks;

    /// Returns the one-time codes that carry a session to an app's host.
    pub fn handovers -> Handovers;

    /// Returns the state of browsers before and beside their sessions.
    pub fn browser_sessions -> BrowserSessions;

    /// Returns the forms that wait until their user has signed in again.
    pub fn saved_forms -> SavedForms;

    /// Returns the device codes of the command line (RFC 8628).
    pub fn device_codes -> DeviceCodes;

    /// Returns the authorization codes of the command line.
    pub fn authorization_codes -> AuthorizationCodes;

    /// Returns the access and refresh tokens of the command line.
    pub fn access_tokens -> AccessTokens;

    /// Returns the used TOTP codes.
    pub fn totp_marks -> TotpMarks;

    /// Returns the counters of failed sign-ins.
    pub fn throttle -> Throttle;

    /// Returns the failed attempts by account, between its sign-ins.
    pub fn sign_in_accounts -> SignInAccounts;

    /// Returns the namespaces in which subjects may have rights.
    pub fn namespace_candidates -> NamespaceCandidates;

    /// Returns the clusters that users enrolled; on a SQL database only.
    pub fn enrolled_clusters -> EnrolledClusters;

    /// Returns the requests for new clusters; on a SQL database only.
    pub fn creation_attempts -> CreationAttempts;

    /// Returns the journals of managed clusters; on a SQL database only.
    pub fn cluster_journal -> ClusterJournal;

    /// Returns the protections of managed clusters from deletion; on a SQL database only.
    pub fn cluster_protections -> ClusterProtections;

    /// Returns the audit log.
    pub fn audit -> Audit;

    fn database -> Database;
    fn sweeping -> Sweep;
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
        let shared = Arc::new(Shared::new(keys));
        let backend = if Redis::is_url(url) {
            Backend::Redis(RedisStore::connect(url, Arc::clone(&shared)).await?)
        } else {
            Backend::Sql(SqlStore::connect(url, max_connections, Arc::clone(&shared)).await?)
        };
        Ok(Self {
            backend,
            shared,
            url_advice: advice::on_url(url),
        })
    }

    /// Applies the pending migrations; several processes may do so at once. Entries of the audit log
    /// that a version without the chain wrote join it at `now`.
    ///
    /// # Errors
    /// If a migration fails, or the database is of a newer version.
    pub async fn migrate(&self, now: Timestamp) -> Result<(), StoreError> {
        self.database().migrate(now).await
    }

    /// Reverts every migration; all data is lost.
    ///
    /// # Errors
    /// If a migration fails.
    pub async fn revert_all(&self) -> Result<(), StoreError> {
        self.database().revert_all().await
    }

    /// Verifies that the database has every migration of this version.
    ///
    /// # Errors
    /// [`StoreError::NotMigrated`] if it lacks one.
    pub async fn ensure_migrated(&self) -> Result<(), StoreError> {
        self.database().ensure_migrated().await
    }

    /// Verifies that the database responds and is the one that was opened: the same file, or a
    /// Redis that holds this installation's store.
    ///
    /// # Errors
    /// If it does not respond; [`StoreError::Uninitialised`] if Redis has lost its data,
    /// [`StoreError::OtherKeys`] if it belongs to another installation; [`StoreError::File`] if the
    /// file was deleted or replaced.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.database().ping().await
    }

    /// Verifies that the newest sessions can be opened with the keys. With another installation's
    /// key, every cookie would look unknown and all users would be signed out.
    ///
    /// # Errors
    /// [`StoreError::OtherKeys`] if there are sessions and none is sealed with one of the keys.
    pub async fn ensure_own_keys(&self) -> Result<(), StoreError> {
        self.database().ensure_own_keys().await
    }

    /// Returns settings of the server or its URL that can lose sessions, slow them down or disclose
    /// them.
    ///
    /// # Errors
    /// If the server does not respond.
    pub async fn advice(&self) -> Result<Vec<Advice>, StoreError> {
        let mut all = self.url_advice.clone();
        all.extend(self.database().advice().await?);
        Ok(all)
    }

    /// Returns whether this is a SQL database: Redis does not store what must not be lost, such as
    /// enrolled clusters.
    pub fn has_sql(&self) -> bool {
        matches!(self.backend, Backend::Sql(_))
    }

    /// Closes every connection after the waiting audit entries have been written.
    pub async fn close(&self) {
        self.database().close().await;
    }

    /// Replaces the keys, here and in every clone; what was sealed with a key that is not among
    /// them can no longer be opened.
    pub fn replace_keys(&self, keys: &KeyRing) {
        self.shared.keys.replace(keys);
    }

    /// Returns the public IDs of the keys, the current one's first.
    pub fn key_ids(&self) -> Vec<String> {
        self.shared.keys.key_ids()
    }

    /// Returns the signed texts that browsers carry and cannot change.
    pub fn browser_marks(&self) -> BrowserMarks<'_> {
        BrowserMarks(&self.shared.keys)
    }

    /// Ends expired sessions and deletes entries that can no longer be used. Call it about once a
    /// minute; several replicas may do so.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn sweep(&self, now: Timestamp) -> Result<Swept, StoreError> {
        let ended = self.sessions().end_expired(now).await?;
        let deleted = self.sweeping().delete_old(now).await?;
        Ok(Swept { ended, deleted })
    }
}
