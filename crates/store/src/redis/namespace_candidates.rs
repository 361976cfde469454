//! Namespaces in which a subject may have rights.
use super::RedisStore;
use super::scripts::NAMESPACE_CANDIDATES;
use crate::error::StoreError;
use crate::namespace_candidates::{
    MAX_OF_SUBJECT, MAX_SUBJECTS, NamespaceCandidate, NamespaceCandidates, RETENTION,
};
use async_trait::async_trait;
use jiff::Timestamp;
use std::collections::BTreeSet;

#[async_trait]
impl NamespaceCandidates for RedisStore {
    async fn add(
        &self,
        subject: &str,
        candidate: &NamespaceCandidate,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut call = self.redis.call(&NAMESPACE_CANDIDATES, "add");
        call.arg(subject)
            .arg(format!("{}/{}", candidate.cluster, candidate.namespace))
            .arg((now + RETENTION).as_second())
            .arg(MAX_OF_SUBJECT);
        let _added: i64 = self
            .redis
            .script("store a namespace candidate", &call)
            .await?;
        Ok(())
    }

    async fn of(
        &self,
        subjects: &[String],
        now: Timestamp,
    ) -> Result<Vec<NamespaceCandidate>, StoreError> {
        if subjects.is_empty() {
            return Ok(Vec::new());
        }
        let mut call = self.redis.call(&NAMESPACE_CANDIDATES, "of");
        call.arg(now.as_second());
        for subject in subjects.iter().take(MAX_SUBJECTS) {
            call.arg(subject);
        }
        let found: Vec<String> = self
            .redis
            .script("list namespace candidates", &call)
            .await?;
        let found: Result<BTreeSet<_>, _> = found.iter().map(|text| read(text)).collect();
        Ok(found?.into_iter().collect())
    }
}

fn read(text: &str) -> Result<NamespaceCandidate, StoreError> {
    let corrupt = |reason: String| StoreError::Corrupt {
        table: "namespace_candidates",
        column: "cluster_id",
        reason,
    };
    let (cluster, namespace) = text
        .split_once('/')
        .ok_or_else(|| corrupt("no cluster".to_owned()))?;
    Ok(NamespaceCandidate {
        cluster: cluster
            .parse()
            .map_err(|error| corrupt(format!("{error}")))?,
        namespace: namespace.to_owned(),
    })
}
