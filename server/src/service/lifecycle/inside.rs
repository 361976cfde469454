//! The API server of a cluster, as one user reads it.
use crate::{
    caller::Caller,
    kube::{Api, ClusterSnapshot, KubeError, api::Call},
    service::Services,
};
use portico_cluster_operations::inside::{ApiServer, ReadError};
use serde_json::Value;
use url::form_urlencoded::Serializer;
use uuid::Uuid;

/// The API server of a cluster with the rights of one user.
pub struct UserApi(pub Api);

impl UserApi {
    /// Returns the API server of an enrolled cluster with the rights of the caller.
    ///
    /// # Errors
    /// Why the caller cannot use it, as a sentence.
    pub async fn open(
        services: &Services,
        clusters: &ClusterSnapshot,
        caller: &Caller,
        cluster: Uuid,
    ) -> Result<Self, String> {
        if clusters.get(cluster).is_none() {
            return Err(
                "Portico reads what runs in enrolled clusters only, and this one is not enrolled."
                    .to_owned(),
            );
        }
        let opened = services.api_among(clusters, caller, cluster).await;
        opened
            .map(|(api, _)| Self(api))
            .map_err(|error| error.message)
    }
}

impl ApiServer for UserApi {
    async fn json(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ReadError> {
        let path = with_query(path, query);
        self.0.get(&path).await.map_err(read_error)
    }

    async fn text(&self, path: &str) -> Result<String, ReadError> {
        let call = Call {
            accept: "text/plain",
            ..Call::get(path)
        };
        let bytes = self.0.bytes(call).await.map_err(read_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns a path with encoded parameters.
fn with_query(path: &str, query: &[(&str, &str)]) -> String {
    let mut parameters = Serializer::new(String::new());
    parameters.extend_pairs(query);
    format!("{path}?{}", parameters.finish())
}

fn read_error(error: KubeError) -> ReadError {
    let text = error.sentence();
    match error {
        KubeError::NotFound(_) => ReadError::NotFound(text),
        KubeError::Server { .. }
        | KubeError::Timeout(_)
        | KubeError::Unreachable(_)
        | KubeError::Protocol(_) => ReadError::Failed(text),
        KubeError::Refused(_)
        | KubeError::Unauthenticated
        | KubeError::Conflict(_)
        | KubeError::Expired
        | KubeError::Invalid(_)
        | KubeError::TooMany
        | KubeError::Unconfigured(_)
        | KubeError::NoToken => ReadError::Refused(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        let query = [("fieldSelector", "spec.nodeName=shop-0"), ("limit", "500")];
        assert_eq!(
            with_query("/api/v1/pods", &query),
            "/api/v1/pods?fieldSelector=spec.nodeName%3Dshop-0&limit=500"
        );
    }

    #[test]
    fn a_refusal_and_an_outage_are_different_errors() {
        let missing = read_error(KubeError::NotFound(String::new()));
        assert!(matches!(missing, ReadError::NotFound(_)));
        let refused = read_error(KubeError::Unauthenticated);
        assert!(matches!(refused, ReadError::Refused(_)));
        let failed = read_error(KubeError::Timeout(4));
        assert!(matches!(failed, ReadError::Failed(text) if text.ends_with('.')));
    }
}
