//! Protections of managed clusters from deletion.
use super::SqlStore;
use crate::cluster_protections::{ClusterProtection, ClusterProtections, ProtectedCluster, TABLE};
use crate::error::StoreError;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;

#[async_trait]
impl ClusterProtections for SqlStore {
    async fn protect(
        &self,
        cluster: &ProtectedCluster,
        user_id: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let inserted = sqlx::query(
            "INSERT INTO cluster_protections (project_id, cluster_id, user_id, protected_at)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (project_id, cluster_id) DO NOTHING",
        )
        .bind(&cluster.project_id)
        .bind(cluster.cluster.to_string())
        .bind(user_id)
        .bind(now.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("protect a cluster"))?;
        Ok(inserted.rows_affected() > 0)
    }

    async fn remove(&self, cluster: &ProtectedCluster) -> Result<bool, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM cluster_protections WHERE project_id = $1 AND cluster_id = $2",
        )
        .bind(&cluster.project_id)
        .bind(cluster.cluster.to_string())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("remove the protection of a cluster"))?;
        Ok(removed.rows_affected() > 0)
    }

    async fn get(
        &self,
        cluster: &ProtectedCluster,
    ) -> Result<Option<ClusterProtection>, StoreError> {
        let row = sqlx::query(
            "SELECT user_id, protected_at FROM cluster_protections
             WHERE project_id = $1 AND cluster_id = $2",
        )
        .bind(&cluster.project_id)
        .bind(cluster.cluster.to_string())
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("read the protection of a cluster"))?;
        row.map(|row| {
            let columns = Columns::new(TABLE, &row);
            Ok(ClusterProtection {
                user_id: columns.text("user_id")?,
                protected_at: columns.time("protected_at")?,
            })
        })
        .transpose()
    }
}
