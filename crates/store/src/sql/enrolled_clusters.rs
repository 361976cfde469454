//! Clusters that users enrolled.
use super::SqlStore;
use crate::enrolled_clusters::{AllEnrolledClusters, EnrolledClusters, TABLE};
use crate::error::StoreError;
use crate::instrumented_pool::Transaction;
use crate::row::{Columns, to_json};
use async_trait::async_trait;
use jiff::Timestamp;
use portico_domain::enrolled_cluster::{EnrolledCluster, MAX_CLUSTERS};
use uuid::Uuid;

#[async_trait]
impl EnrolledClusters for SqlStore {
    async fn sequence(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT sequence FROM enrolled_cluster_feed WHERE id = 1")
            .fetch_one(&self.pool)
            .await
            .map_err(StoreError::database("read the enrolled clusters"))?;
        sequence(&Columns::new(TABLE, &row))
    }

    async fn all(&self) -> Result<AllEnrolledClusters, StoreError> {
        // one statement, so that sequence and records are from the same moment
        let rows = sqlx::query(
            "SELECT enrolled_cluster_feed.sequence AS sequence, record
             FROM enrolled_cluster_feed
             LEFT JOIN enrolled_clusters ON enrolled_cluster_feed.id = 1
             WHERE enrolled_cluster_feed.id = 1
             ORDER BY cluster_id",
        )
        .fetch_all(&self.pool)
        .await
        .map_err(StoreError::database("read the enrolled clusters"))?;
        let mut all = AllEnrolledClusters {
            sequence: 0,
            clusters: Vec::with_capacity(rows.len()),
        };
        for row in &rows {
            let columns = Columns::new(TABLE, row);
            all.sequence = sequence(&columns)?;
            if let Some(cluster) = columns.optional_json("record")? {
                all.clusters.push(cluster);
            }
        }
        Ok(all)
    }

    async fn get(&self, cluster: Uuid) -> Result<Option<EnrolledCluster>, StoreError> {
        let row = sqlx::query("SELECT record FROM enrolled_clusters WHERE cluster_id = $1")
            .bind(cluster.to_string())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("read an enrolled cluster"))?;
        row.map(|row| Columns::new(TABLE, &row).json("record"))
            .transpose()
    }

    async fn put(&self, cluster: &EnrolledCluster, now: Timestamp) -> Result<bool, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        increase(&mut transaction).await?;
        let known = known(&mut transaction, cluster.id).await?;
        replace(transaction, known.as_deref(), cluster, now).await
    }

    async fn enrol(
        &self,
        cluster: &EnrolledCluster,
        now: Timestamp,
    ) -> Result<EnrolledCluster, StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed_to_store())?;
        increase(&mut transaction).await?;
        let known = known(&mut transaction, cluster.id).await?;
        let merged = match known.as_deref() {
            Some(text) => {
                let earlier: EnrolledCluster =
                    serde_json::from_str(text).map_err(|error| StoreError::Corrupt {
                        table: TABLE,
                        column: "record",
                        reason: error.to_string(),
                    })?;
                cluster.clone().keep_accepted(&earlier)
            }
            None => cluster.clone(),
        };
        replace(transaction, known.as_deref(), &merged, now).await?;
        Ok(merged)
    }

    async fn remove(&self, cluster: Uuid) -> Result<bool, StoreError> {
        let failed = || StoreError::database("remove an enrolled cluster");
        let mut transaction = self.pool.begin().await.map_err(failed())?;
        increase(&mut transaction).await?;
        let gone = sqlx::query("DELETE FROM enrolled_clusters WHERE cluster_id = $1")
            .bind(cluster.to_string())
            .execute(&mut *transaction)
            .await
            .map_err(failed())?;
        if gone.rows_affected() == 0 {
            // rolled back, with the sequence
            return Ok(false);
        }
        transaction.commit().await.map_err(failed())?;
        Ok(true)
    }
}

fn failed_to_store() -> impl FnOnce(sqlx::Error) -> StoreError {
    StoreError::database("store an enrolled cluster")
}

/// Returns the stored text of a record.
async fn known(transaction: &mut Transaction, cluster: Uuid) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar("SELECT record FROM enrolled_clusters WHERE cluster_id = $1")
        .bind(cluster.to_string())
        .fetch_optional(&mut **transaction)
        .await
        .map_err(failed_to_store())
}

/// Stores a record in the place of `known` and commits; returns false, and changes nothing, if it is
/// the same.
async fn replace(
    mut transaction: Transaction,
    known: Option<&str>,
    cluster: &EnrolledCluster,
    now: Timestamp,
) -> Result<bool, StoreError> {
    cluster.check().map_err(|reason| StoreError::Cluster {
        cluster: cluster.id,
        reason,
    })?;
    let record = to_json(TABLE, "record", cluster)?;
    if known == Some(record.as_str()) {
        // rolled back, with the sequence
        return Ok(false);
    }
    if known.is_none() {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM enrolled_clusters")
            .fetch_one(&mut *transaction)
            .await
            .map_err(failed_to_store())?;
        if usize::try_from(count).is_ok_and(|count| count >= MAX_CLUSTERS) {
            return Err(StoreError::TooManyClusters);
        }
    }
    sqlx::query(
        "INSERT INTO enrolled_clusters (cluster_id, record, created_at, updated_at)
         VALUES ($1, $2, $3, $3)
         ON CONFLICT (cluster_id) DO UPDATE
         SET record = excluded.record, updated_at = excluded.updated_at",
    )
    .bind(cluster.id.to_string())
    .bind(record)
    .bind(now.as_second())
    .execute(&mut *transaction)
    .await
    .map_err(failed_to_store())?;
    transaction.commit().await.map_err(failed_to_store())?;
    Ok(true)
}

/// Counts a change. The first step of its transaction: changes wait for each other from here to the
/// commit, so that each compares with what the one before has written.
async fn increase(transaction: &mut Transaction) -> Result<(), StoreError> {
    sqlx::query("UPDATE enrolled_cluster_feed SET sequence = sequence + 1 WHERE id = 1")
        .execute(&mut **transaction)
        .await
        .map_err(StoreError::database("count a change of enrolled clusters"))?;
    Ok(())
}

fn sequence(columns: &Columns<'_>) -> Result<u64, StoreError> {
    u64::try_from(columns.integer("sequence")?).map_err(|error| columns.corrupt("sequence", error))
}
