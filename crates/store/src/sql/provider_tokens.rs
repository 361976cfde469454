//! The tokens of OIDC providers and their lease.
use super::SqlStore;
use crate::changes::ChangeKind;
use crate::error::StoreError;
use crate::provider_tokens::{
    EndedTokens, HeldTokens, Lease, NewProviderTokens, ProviderTokens, RefreshedTokens, TABLE,
};
use crate::row::{Columns, to_json};
use crate::sealing::{KeyRing, Place};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

const COLUMNS: &str = "session_id, provider, refresh_sealed, access_sealed, id_token_sealed, \
     version, refreshed_at, lease_holder, lease_until_millis, revoke_attempts";

#[async_trait]
impl ProviderTokens for SqlStore {
    async fn store(&self, new: &NewProviderTokens, now: Timestamp) -> Result<(), StoreError> {
        let row = new.session.to_string();
        let seal = |column, token| sealed(&self.shared.keys, &row, column, token);
        let refresh = seal("refresh_sealed", new.refresh_token.as_ref())?;
        let access = seal("access_sealed", Some(&new.access_token))?;
        let id_token = seal("id_token_sealed", new.id_token.as_ref())?;
        sqlx::query(
            "INSERT INTO provider_tokens (
                 session_id, provider, refresh_sealed, access_sealed, id_token_sealed, version,
                 refreshed_at, revoke_at, revoke_attempts
             )
             VALUES ($1, $2, $3, $4, $5, 1, $6, $6, 0)",
        )
        .bind(row.as_str())
        .bind(new.provider.as_str())
        .bind(refresh)
        .bind(access)
        .bind(id_token)
        .bind(now.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store a provider's tokens"))?;
        Ok(())
    }

    async fn find(&self, session: Uuid) -> Result<Option<HeldTokens>, StoreError> {
        let query = format!("SELECT {COLUMNS} FROM provider_tokens WHERE session_id = $1");
        sqlx::query(&query)
            .bind(session.to_string())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a provider's tokens"))?
            .map(|row| tokens(&self.shared.keys, &row))
            .transpose()
    }

    async fn lease(
        &self,
        session: Uuid,
        holder: Uuid,
        life: SignedDuration,
        now: Timestamp,
    ) -> Result<Lease, StoreError> {
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
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("lease a provider's tokens"))?;
        if let Some(row) = row {
            return Ok(Lease::Yours(Box::new(tokens(&self.shared.keys, &row)?)));
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

    async fn replace(
        &self,
        session: Uuid,
        version: i64,
        new: &RefreshedTokens,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let failed = || StoreError::database("replace a provider's tokens");
        let row = session.to_string();
        let seal = |column, token| sealed(&self.shared.keys, &row, column, token);
        let refresh = seal("refresh_sealed", new.refresh_token.as_ref())?;
        let access = seal("access_sealed", Some(&new.access_token))?;
        let id_token = seal("id_token_sealed", new.id_token.as_ref())?;
        let profile = new
            .profile
            .as_ref()
            .map(|profile| to_json("sessions", "provider_profile", profile))
            .transpose()?;
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        let replaced = sqlx::query(
            "UPDATE provider_tokens
             SET refresh_sealed = COALESCE($1, refresh_sealed), access_sealed = $2,
                 id_token_sealed = COALESCE($3, id_token_sealed), version = version + 1,
                 refreshed_at = $4, lease_holder = NULL, lease_until_millis = NULL
             WHERE session_id = $5 AND version = $6",
        )
        .bind(refresh)
        .bind(access)
        .bind(id_token)
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
        self.announce_in(&mut transaction, session, ChangeKind::Changed, now)
            .await?;
        transaction.commit().await.map_err(failed())?;
        Ok(true)
    }

    async fn release(&self, session: Uuid, holder: Uuid) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE provider_tokens
             SET lease_holder = NULL, lease_until_millis = NULL
             WHERE session_id = $1 AND lease_holder = $2",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("give a lease back"))?;
        Ok(())
    }

    async fn ended(&self, limit: i64, now: Timestamp) -> Result<Vec<EndedTokens>, StoreError> {
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
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list a provider's tokens to revoke"))?;
        rows.iter()
            .map(|row| {
                Ok(EndedTokens {
                    tokens: tokens(&self.shared.keys, row)?,
                    attempts: Columns::new(TABLE, row).integer("revoke_attempts")?,
                })
            })
            .collect()
    }

    async fn revocation_failed(&self, session: Uuid, next: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE provider_tokens
             SET revoke_at = $1, revoke_attempts = revoke_attempts + 1
             WHERE session_id = $2",
        )
        .bind(next.as_second())
        .bind(session.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("count a failed revocation"))?;
        Ok(())
    }

    async fn forget(&self, session: Uuid) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM provider_tokens WHERE session_id = $1")
            .bind(session.to_string())
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("forget a provider's tokens"))?;
        Ok(())
    }
}

fn sealed(
    keys: &KeyRing,
    row: &str,
    column: &'static str,
    token: Option<&SecretString>,
) -> Result<Option<Vec<u8>>, StoreError> {
    token
        .map(|token| keys.seal(place(row, column), token.expose_secret()))
        .transpose()
}

fn tokens(keys: &KeyRing, row: &AnyRow) -> Result<HeldTokens, StoreError> {
    let columns = Columns::new(TABLE, row);
    let id = columns.text("session_id")?;
    let open = |column| {
        columns
            .optional_bytes(column)?
            .map(|sealed| keys.open(place(&id, column), &sealed))
            .transpose()
    };
    let access_token =
        open("access_sealed")?.ok_or_else(|| columns.corrupt("access_sealed", "it is empty"))?;
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

fn place<'a>(row: &'a str, column: &'static str) -> Place<'a> {
    Place {
        table: TABLE,
        row,
        column,
    }
}
