//! The schemas of kinds, from a cluster's OpenAPI documents: `/openapi/v3` where the API server has it
//! (Kubernetes 1.24 and newer), otherwise `/openapi/v2`.
use super::{
    Api, KubeError,
    openapi::{self, KindSchema},
};
use std::sync::Arc;

/// Returns the schema of a kind, cached for five minutes per user.
///
/// # Errors
/// `NotFound` if the cluster's documents do not have the kind; otherwise those of the requests.
pub async fn of_kind(
    api: &Api,
    group: &str,
    version: &str,
    kind: &str,
) -> Result<Arc<KindSchema>, KubeError> {
    let name = format!("{group}/{version}/{kind}");
    let slot = (api.cluster, api.subject, name);
    if let Some(schema) = api.caches.schemas.get(&slot).await {
        return Ok(schema);
    }
    let found = match from_v3(api, group, version, kind).await? {
        Some(schema) => Some(schema),
        None => openapi::from_v2(&api.get("/openapi/v2").await?, group, version, kind),
    };
    let schema = found.map(Arc::new).ok_or_else(|| {
        KubeError::NotFound(format!(
            "the cluster has no schema of {kind} in {group}/{version}"
        ))
    })?;
    api.caches.schemas.insert(slot, Arc::clone(&schema)).await;
    Ok(schema)
}

async fn from_v3(
    api: &Api,
    group: &str,
    version: &str,
    kind: &str,
) -> Result<Option<KindSchema>, KubeError> {
    let index = match api.get("/openapi/v3").await {
        Ok(index) => index,
        Err(KubeError::NotFound(_) | KubeError::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(path) = openapi::v3_path(&index, group, version) else {
        return Ok(None);
    };
    let document = api.get(&path).await?;
    Ok(openapi::from_v3(&document, group, version, kind))
}
