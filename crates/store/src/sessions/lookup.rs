//! Lookups of sessions for users and administrators: by user, or after the end.
use super::model::{COLUMNS, TABLE, from_row};
use super::{HASH_PURPOSE, Session, Sessions};
use crate::error::StoreError;
use crate::row::Columns;
use jiff::Timestamp;
use portico_domain::identity::{Named, User};

/// Maximum number of users of one name in a list.
const MAX_USERS: i64 = 50;

impl Sessions<'_> {
    /// Returns the session of a cookie's secret, whether it is live or has ended: for telling a
    /// user why they have to sign in, never for letting them in.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find_even_ended(self, secret: &str) -> Result<Option<Session>, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.find_session(&self.0.keys, secret).await;
        }
        let query = format!(
            "SELECT {COLUMNS}
             FROM sessions
             WHERE secret_hash = $1"
        );
        for hash in self.0.keys.hashes(HASH_PURPOSE, secret) {
            let row = sqlx::query(&query)
                .bind(hash)
                .fetch_optional(&self.0.pool)
                .await
                .map_err(StoreError::database("find a session"))?;
            if let Some(row) = row {
                return from_row(&self.0.keys, &row).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the users with a live session whose ID is `text`, or whose name is (ASCII letters in
    /// any case); `name@domain` matches too.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn users_matching(self, text: &str, now: Timestamp) -> Result<Vec<User>, StoreError> {
        if let Some(redis) = self.0.redis() {
            let most = usize::try_from(MAX_USERS).unwrap_or_default();
            let found = redis.users_matching(&self.0.keys, text, most, now);
            return found.await;
        }
        let (name, domain) = text.rsplit_once('@').unwrap_or((text, ""));
        let rows = sqlx::query(
            "SELECT DISTINCT user_id, user_name, domain_id, domain_name
             FROM sessions
             WHERE ended_at IS NULL AND idle_expires_at > $1 AND absolute_expires_at > $1
                 AND keystone_expires_at > $1
                 AND (
                     user_id = $2 OR LOWER(user_name) = LOWER($2)
                     OR (LOWER(user_name) = LOWER($3)
                         AND (LOWER(domain_name) = LOWER($4) OR domain_id = $4))
                 )
             ORDER BY user_name, domain_name, user_id
             LIMIT $5",
        )
        .bind(now.as_second())
        .bind(text)
        .bind(name)
        .bind(domain)
        .bind(MAX_USERS)
        .fetch_all(&self.0.pool)
        .await
        .map_err(StoreError::database("find users"))?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(TABLE, row);
                Ok(User {
                    id: columns.text("user_id")?,
                    name: columns.text("user_name")?,
                    domain: Named {
                        id: columns.text("domain_id")?,
                        name: columns.text("domain_name")?,
                    },
                })
            })
            .collect()
    }
}
