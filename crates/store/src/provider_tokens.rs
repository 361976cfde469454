//! The sealed tokens that OIDC providers issued for sessions, and the lease that lets one replica
//! at a time refresh them.
//!
//! A refresh token is often valid for one use. A replica that refreshes therefore holds the row's
//! lease, and writes the new tokens only over the version that it has read. If the holder dies, its
//! lease expires and the next holder continues with the tokens in the row.
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::row::{Columns, to_json};
use crate::sealing::Place;
use crate::sessions::ProviderProfile;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

const TABLE: &str = "provider_tokens";
const COLUMNS: &str = "session_id, provider, refresh_sealed, access_sealed, id_token_sealed, \
     version, refreshed_at, lease_holder, lease_until_millis, revoke_attempts";

/// The tokens of OIDC providers; see [`Store::provider_tokens`].
#[derive(Clone, Copy)]
pub struct ProviderTokens<'s>(pub(crate) &'s Store);

/// The tokens of a new sign-in.
#[derive(Clone, Debug)]
pub struct NewProviderTokens {
    /// The root of the session.
    pub session: Uuid,
    /// The provider's ID in the configuration.
    pub provider: String,
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    /// For the provider's own logout endpoint (`id_token_hint`).
    pub id_token: Option<SecretString>,
}

/// The tokens of a refresh.
#[derive(Clone, Debug)]
pub struct RefreshedTokens {
    /// `None`: the previous one remains valid.
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    /// `None`: the previous one is kept.
    pub id_token: Option<SecretString>,
    /// The provider's current claims about its subject; `None`: unchanged.
    pub profile: Option<ProviderProfile>,
    /// When the tokens must have been refreshed.
    pub expires_at: Timestamp,
}

/// The tokens of a session.
#[derive(Clone, Debug)]
pub struct HeldTokens {
    pub session: Uuid,
    pub provider: String,
    pub refresh_token: Option<SecretString>,
    pub access_token: SecretString,
    pub id_token: Option<SecretString>,
    pub version: i64,
    pub refreshed_at: Timestamp,
    pub leased_until: Option<Timestamp>,
}

/// The result of requesting the lease.
#[derive(Clone, Debug)]
pub enum Lease {
    /// The caller holds the lease exclusively until it ends. The tokens are the current ones.
    Yours(Box<HeldTokens>),
    /// Another replica holds the lease; the tokens still have this version.
    Taken { version: i64, until: Timestamp },
    /// The session has no tokens, or no longer has any.
    Gone,
}

/// Tokens of a session that has ended: they must be revoked.
#[derive(Clone, Debug)]
pub struct EndedTokens {
    pub tokens: HeldTokens,
    /// The number of attempts so far.
    pub attempts: i64,
}

impl ProviderTokens<'_> {
    /// Stores the tokens of a sign-in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn store(self, new: &NewProviderTokens, now: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.store_provider_tokens(&self.0.keys, new, now).await;
        }
        let row = new.session.to_string();
        sqlx::query(
            "INSERT INTO provider_tokens (
                 session_id, provider, refresh_sealed, access_sealed, id_token_sealed, version,
                 refreshed_at, revoke_at, revoke_attempts
             )
             VALUES ($1, $2, $3, $4, $5, 1, $6, $6, 0)",
        )
        .bind(row.as_str())
        .bind(new.provider.as_str())
        .bind(self.sealed(&row, "refresh_sealed", new.refresh_token.as_ref())?)
        .bind(self.sealed(&row, "access_sealed", Some(&new.access_token))?)
        .bind(self.sealed(&row, "id_token_sealed", new.id_token.as_ref())?)
        .bind(now.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("store a provider's tokens"))?;
        Ok(())
    }

    /// Returns the tokens of a session, by its root.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(self, session: Uuid) -> Result<Option<HeldTokens>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.find_provider_tokens(&self.0.keys, session).await;
        }
        let query = format!("SELECT {COLUMNS} FROM provider_tokens WHERE session_id = $1");
        sqlx::query(&query)
            .bind(session.to_string())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a provider's tokens"))?
            .map(|row| self.tokens(&row))
            .transpose()
    }

    /// Acquires the lease of a live session's tokens for `holder`, unless another replica holds it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn lease(
        self,
        session: Uuid,
        holder: Uuid,
        life: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease, StoreError> {
        if let Some(redis) = self.0.redis() {
            let lease = redis.lease_provider_tokens(&self.0.keys, session, holder, life, now);
            return lease.await;
        }
        let query = format!(
            "UPDATE provider_tokens
             SET lease_holder = $1, lease_until_millis = $2
             WHERE session_id = $3
                 AND (lease_until_millis IS NULL OR lease_until_millis <= $4)
                 AND EXISTS (SELECT 1 FROM sessions WHERE id = $3 AND ended_at IS NULL)
             RETURNING {COLUMNS}"
        );
        let row = sqlx::query(&query)
            .bind(holder.to_string())
            .bind((now + life).as_millisecond())
            .bind(session.to_string())
            .bind(now.as_millisecond())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("lease a provider's tokens"))?;
        if let Some(row) = row {
            return Ok(Lease::Yours(Box::new(self.tokens(&row)?)));
        }
        Ok(match self.find(session).await? {
            Some(held) => match held.leased_until {
                Some(until) => Lease::Taken {
                    version: held.version,
                    until,
                },
                None => Lease::Gone,
            },
            None => Lease::Gone,
        })
    }

    /// Replaces the tokens with those of a refresh, if they still have the version that the refresh
    /// started with, for the session's family too, and releases the lease, all in one transaction.
    /// Returns whether it did: not if the tokens were replaced meanwhile.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn replace(
        self,
        session: Uuid,
        version: i64,
        new: &RefreshedTokens,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if let Some(redis) = self.0.redis() {
            let replaced = redis.replace_provider_tokens(&self.0.keys, session, version, new, now);
            return replaced.await;
        }
        let failed = || StoreError::database("replace a provider's tokens");
        let row = session.to_string();
        let profile = new
            .profile
            .as_ref()
            .map(|profile| to_json("sessions", "provider_profile", profile))
            .transpose()?;
        let mut transaction = self.0.pool.begin().await.map_err(failed())?;
        let replaced = sqlx::query(
            "UPDATE provider_tokens
             SET refresh_sealed = COALESCE($1, refresh_sealed), access_sealed = $2,
                 id_token_sealed = COALESCE($3, id_token_sealed), version = version + 1,
                 refreshed_at = $4, lease_holder = NULL, lease_until_millis = NULL
             WHERE session_id = $5 AND version = $6",
        )
        .bind(self.sealed(&row, "refresh_sealed", new.refresh_token.as_ref())?)
        .bind(self.sealed(&row, "access_sealed", Some(&new.access_token))?)
        .bind(self.sealed(&row, "id_token_sealed", new.id_token.as_ref())?)
        .bind(now.as_second())
        .bind(row.as_str())
        .bind(version)
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        if replaced.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query(
            "UPDATE sessions
             SET provider_profile = COALESCE($1, provider_profile), provider_expires_at = $2
             WHERE (id = $3 OR parent = $3) AND ended_at IS NULL",
        )
        .bind(profile)
        .bind(new.expires_at.as_second())
        .bind(row.as_str())
        .execute(&mut *transaction)
        .await
        .map_err(failed())?;
        let changes = self.0.changes();
        changes
            .announce_in(&mut transaction, session, ChangeKind::Changed, now)
            .await?;
        transaction.commit().await.map_err(failed())?;
        Ok(true)
    }

    /// Releases a lease without new tokens.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read; the lease then expires by
    /// itself.
    pub async fn release(self, session: Uuid, holder: Uuid) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.release_provider_tokens(session, holder).await;
        }
        sqlx::query(
            "UPDATE provider_tokens
             SET lease_holder = NULL, lease_until_millis = NULL
             WHERE session_id = $1 AND lease_holder = $2",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("give a lease back"))?;
        Ok(())
    }

    /// Returns the tokens of ended sessions whose next revocation attempt is due.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn ended(self, limit: i64, now: Timestamp) -> Result<Vec<EndedTokens>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.ended_provider_tokens(&self.0.keys, limit, now).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM provider_tokens
             WHERE revoke_at <= $1
                 AND session_id IN (SELECT id FROM sessions WHERE ended_at IS NOT NULL)
             ORDER BY revoke_at, session_id
             LIMIT $2"
        );
        let rows = sqlx::query(&query)
            .bind(now.as_second())
            .bind(limit)
            .fetch_all(&self.0.pool)
            .await
            .map_err(StoreError::database("list a provider's tokens to revoke"))?;
        rows.iter()
            .map(|row| {
                Ok(EndedTokens {
                    tokens: self.tokens(row)?,
                    attempts: Columns::new(TABLE, row).integer("revoke_attempts")?,
                })
            })
            .collect()
    }

    /// Counts a failed revocation attempt.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn revocation_failed(self, session: Uuid, next: Timestamp) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.provider_revocation_failed(session, next).await;
        }
        sqlx::query(
            "UPDATE provider_tokens
             SET revoke_at = $1, revoke_attempts = revoke_attempts + 1
             WHERE session_id = $2",
        )
        .bind(next.as_second())
        .bind(session.to_string())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("count a failed revocation"))?;
        Ok(())
    }

    /// Deletes the tokens of a session after they were revoked.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn forget(self, session: Uuid) -> Result<(), StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.forget_provider_tokens(session).await;
        }
        sqlx::query("DELETE FROM provider_tokens WHERE session_id = $1")
            .bind(session.to_string())
            .execute(&self.0.pool)
            .await
            .map_err(StoreError::database("forget a provider's tokens"))?;
        Ok(())
    }

    fn sealed(
        self,
        row: &str,
        column: &'static str,
        token: Option<&SecretString>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        token
            .map(|token| self.0.keys.seal(place(row, column), token.expose_secret()))
            .transpose()
    }

    fn tokens(self, row: &AnyRow) -> Result<HeldTokens, StoreError> {
        let columns = Columns::new(TABLE, row);
        let id = columns.text("session_id")?;
        let open = |column| {
            columns
                .optional_bytes(column)?
                .map(|sealed| self.0.keys.open(place(&id, column), &sealed))
                .transpose()
        };
        let access_token = open("access_sealed")?
            .ok_or_else(|| columns.corrupt("access_sealed", "it is empty"))?;
        Ok(HeldTokens {
            session: columns.uuid("session_id")?,
            provider: columns.text("provider")?,
            refresh_token: open("refresh_sealed")?,
            access_token,
            id_token: open("id_token_sealed")?,
            version: columns.integer("version")?,
            refreshed_at: columns.time("refreshed_at")?,
            leased_until: columns.optional_millis("lease_until_millis")?,
        })
    }
}

fn place<'a>(row: &'a str, column: &'static str) -> Place<'a> {
    Place {
        table: TABLE,
        row,
        column,
    }
}
