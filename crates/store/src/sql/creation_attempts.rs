//! Requests for new clusters.
use super::SqlStore;
use crate::creation_attempts::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, CreationAttempt, CreationAttempts,
    NewCreationAttempt, RETENTION, TABLE,
};
use crate::error::StoreError;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use uuid::Uuid;

const BEGIN: &str = "begin the creation of a cluster";
const COLUMNS: &str = "project_id, user_id, attempt_id, cluster_name, specification, state, \
     cluster_id, sent_at";

#[async_trait]
impl CreationAttempts for SqlStore {
    async fn begin(
        &self,
        new: &NewCreationAttempt,
        lease: AttemptLease,
        now: Timestamp,
    ) -> Result<BegunAttempt, StoreError> {
        let key = &new.key;
        sqlx::query(
            "INSERT INTO cluster_creation_attempts (
                 project_id, user_id, attempt_id, cluster_name, specification, state, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (project_id, user_id, attempt_id) DO NOTHING",
        )
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(new.cluster_name.as_str())
        .bind(new.specification.as_str())
        .bind(AttemptState::NotSent.word())
        .bind((now + RETENTION).as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database(BEGIN))?;
        let query = format!(
            "UPDATE cluster_creation_attempts
             SET lease_holder = $1, lease_until_millis = $2,
                 cluster_name = CASE WHEN state = 'not_sent' THEN $7 ELSE cluster_name END,
                 specification = CASE WHEN state = 'not_sent' THEN $8 ELSE specification END
             WHERE project_id = $3 AND user_id = $4 AND attempt_id = $5
                 AND (lease_until_millis IS NULL OR lease_until_millis <= $6)
             RETURNING {COLUMNS}"
        );
        let leased = sqlx::query(&query)
            .bind(lease.holder.to_string())
            .bind((now + lease.life).as_millisecond())
            .bind(key.project_id.as_str())
            .bind(key.user_id.as_str())
            .bind(key.attempt.to_string())
            .bind(now.as_millisecond())
            .bind(new.cluster_name.as_str())
            .bind(new.specification.as_str())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database(BEGIN))?;
        if let Some(row) = leased {
            return Ok(BegunAttempt::Yours(attempt(&row)?));
        }
        let query = format!(
            "SELECT {COLUMNS} FROM cluster_creation_attempts
             WHERE project_id = $1 AND user_id = $2 AND attempt_id = $3"
        );
        let taken = sqlx::query(&query)
            .bind(key.project_id.as_str())
            .bind(key.user_id.as_str())
            .bind(key.attempt.to_string())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database(BEGIN))?;
        match taken {
            Some(row) => Ok(BegunAttempt::Taken(attempt(&row)?)),
            // the other run has just forgotten it
            None => Err(StoreError::Contended { operation: BEGIN }),
        }
    }

    async fn advance(
        &self,
        key: &AttemptKey,
        lease: AttemptLease,
        state: AttemptState,
        sent_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = sqlx::query(
            "UPDATE cluster_creation_attempts
             SET state = $1, cluster_id = $2, sent_at = $3, lease_until_millis = $4,
                 expires_at = $5
             WHERE project_id = $6 AND user_id = $7 AND attempt_id = $8 AND lease_holder = $9
                 AND lease_until_millis > $10",
        )
        .bind(state.word())
        .bind(state.cluster().map(|cluster| cluster.to_string()))
        .bind(sent_at.map(Timestamp::as_second))
        .bind((now + lease.life).as_millisecond())
        .bind((now + RETENTION).as_second())
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(lease.holder.to_string())
        .bind(now.as_millisecond())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store the state of a creation"))?;
        Ok(changed.rows_affected() > 0)
    }

    async fn prolong(
        &self,
        key: &AttemptKey,
        lease: AttemptLease,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = sqlx::query(
            "UPDATE cluster_creation_attempts
             SET lease_until_millis = $1
             WHERE project_id = $2 AND user_id = $3 AND attempt_id = $4 AND lease_holder = $5
                 AND lease_until_millis > $6",
        )
        .bind((now + lease.life).as_millisecond())
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(lease.holder.to_string())
        .bind(now.as_millisecond())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("prolong the lease of a creation"))?;
        Ok(changed.rows_affected() > 0)
    }

    async fn release(&self, key: &AttemptKey, holder: Uuid) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE cluster_creation_attempts
             SET lease_holder = NULL, lease_until_millis = NULL
             WHERE project_id = $1 AND user_id = $2 AND attempt_id = $3 AND lease_holder = $4",
        )
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(holder.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("release the lease of a creation"))?;
        Ok(())
    }

    async fn forget(&self, key: &AttemptKey, holder: Uuid) -> Result<bool, StoreError> {
        let gone = sqlx::query(
            "DELETE FROM cluster_creation_attempts
             WHERE project_id = $1 AND user_id = $2 AND attempt_id = $3 AND lease_holder = $4",
        )
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(holder.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("forget the creation of a cluster"))?;
        Ok(gone.rows_affected() > 0)
    }

    async fn dismiss(
        &self,
        key: &AttemptKey,
        sent_before: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let gone = sqlx::query(
            "DELETE FROM cluster_creation_attempts
             WHERE project_id = $1 AND user_id = $2 AND attempt_id = $3
                 AND state IN ('unknown', 'accepted')
                 AND (lease_until_millis IS NULL OR lease_until_millis <= $4)
                 AND (sent_at IS NULL OR sent_at <= $5)",
        )
        .bind(key.project_id.as_str())
        .bind(key.user_id.as_str())
        .bind(key.attempt.to_string())
        .bind(now.as_millisecond())
        .bind(sent_before.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("dismiss the creation of a cluster"))?;
        Ok(gone.rows_affected() > 0)
    }

    async fn of_user(
        &self,
        project_id: &str,
        user_id: &str,
        now: Timestamp,
    ) -> Result<Vec<CreationAttempt>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM cluster_creation_attempts
             WHERE project_id = $1 AND user_id = $2 AND expires_at > $3
             ORDER BY expires_at DESC, attempt_id"
        );
        let rows = sqlx::query(&query)
            .bind(project_id)
            .bind(user_id)
            .bind(now.as_second())
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list the creations of a user"))?;
        rows.iter().map(attempt).collect()
    }

    async fn of_cluster(
        &self,
        project_id: &str,
        cluster: Uuid,
        now: Timestamp,
    ) -> Result<Option<CreationAttempt>, StoreError> {
        let query = format!(
            "SELECT {COLUMNS} FROM cluster_creation_attempts
             WHERE cluster_id = $1 AND project_id = $2 AND expires_at > $3
             ORDER BY expires_at DESC, attempt_id
             LIMIT 1"
        );
        sqlx::query(&query)
            .bind(cluster.to_string())
            .bind(project_id)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find the creation of a cluster"))?
            .map(|row| attempt(&row))
            .transpose()
    }

    async fn of_project(
        &self,
        project_id: &str,
        now: Timestamp,
    ) -> Result<Vec<(Uuid, Option<Uuid>)>, StoreError> {
        let rows = sqlx::query(
            "SELECT attempt_id, cluster_id FROM cluster_creation_attempts
             WHERE project_id = $1 AND expires_at > $2
             ORDER BY expires_at DESC, attempt_id
             LIMIT 5000",
        )
        .bind(project_id)
        .bind(now.as_second())
        .fetch_all(&self.pool)
        .await
        .map_err(StoreError::database("list the creations of a project"))?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new(TABLE, row);
                Ok((
                    columns.uuid("attempt_id")?,
                    columns.optional_uuid("cluster_id")?,
                ))
            })
            .collect()
    }

    async fn complete(&self, project_id: &str, cluster: Uuid) -> Result<bool, StoreError> {
        let changed = sqlx::query(
            "UPDATE cluster_creation_attempts
             SET state = $1
             WHERE cluster_id = $2 AND project_id = $3 AND state = $4",
        )
        .bind(AttemptState::Complete(cluster).word())
        .bind(cluster.to_string())
        .bind(project_id)
        .bind(AttemptState::Created(cluster).word())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("complete the creation of a cluster"))?;
        Ok(changed.rows_affected() > 0)
    }
}

fn attempt(row: &AnyRow) -> Result<CreationAttempt, StoreError> {
    let columns = Columns::new(TABLE, row);
    let word = columns.text("state")?;
    let state = AttemptState::read(&word, columns.optional_uuid("cluster_id")?);
    Ok(CreationAttempt {
        key: AttemptKey {
            project_id: columns.text("project_id")?,
            user_id: columns.text("user_id")?,
            attempt: columns.uuid("attempt_id")?,
        },
        cluster_name: columns.text("cluster_name")?,
        specification: columns.text("specification")?,
        state: state.ok_or_else(|| columns.corrupt("state", word))?,
        sent_at: columns.optional_time("sent_at")?,
    })
}
