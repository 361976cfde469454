//! Namespaces in which a subject may have rights.
use super::SqlStore;
use crate::error::StoreError;
use crate::namespace_candidates::{
    MAX_OF_SUBJECT, MAX_SUBJECTS, NamespaceCandidate, NamespaceCandidates, RETENTION,
};
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use std::fmt::Write as _;

#[async_trait]
impl NamespaceCandidates for SqlStore {
    async fn add(
        &self,
        subject: &str,
        candidate: &NamespaceCandidate,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO namespace_candidates (subject, cluster_id, namespace, expires_at)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (subject, cluster_id, namespace) DO UPDATE
             SET expires_at = excluded.expires_at",
        )
        .bind(subject)
        .bind(candidate.cluster.to_string())
        .bind(candidate.namespace.as_str())
        .bind((now + RETENTION).as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("store a namespace candidate"))?;
        sqlx::query(
            "DELETE FROM namespace_candidates
             WHERE subject = $1 AND expires_at < (
                 SELECT MIN(expires_at) FROM (
                     SELECT expires_at FROM namespace_candidates
                     WHERE subject = $1
                     ORDER BY expires_at DESC
                     LIMIT $2
                 ) AS newest
             )",
        )
        .bind(subject)
        .bind(MAX_OF_SUBJECT)
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("delete old namespace candidates"))?;
        Ok(())
    }

    async fn of(
        &self,
        subjects: &[String],
        now: Timestamp,
    ) -> Result<Vec<NamespaceCandidate>, StoreError> {
        let subjects = &subjects[..subjects.len().min(MAX_SUBJECTS)];
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let mut places = String::from("$2");
        for at in 3..=subjects.len() + 1 {
            // writing to a string cannot fail
            let _ = write!(places, ", ${at}");
        }
        let statement = format!(
            "SELECT DISTINCT cluster_id, namespace
             FROM namespace_candidates
             WHERE expires_at > $1 AND subject IN ({places})
             ORDER BY cluster_id, namespace"
        );
        let mut query = sqlx::query(&statement).bind(now.as_second());
        for subject in subjects {
            query = query.bind(subject.as_str());
        }
        let rows = query
            .fetch_all(&self.pool)
            .await
            .map_err(StoreError::database("list namespace candidates"))?;
        rows.iter()
            .map(|row| {
                let columns = Columns::new("namespace_candidates", row);
                Ok(NamespaceCandidate {
                    cluster: columns.uuid("cluster_id")?,
                    namespace: columns.text("namespace")?,
                })
            })
            .collect()
    }
}
