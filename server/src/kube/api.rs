//! One user's access to one cluster.
use super::{
    KubeError,
    body::{self, BodyLimits},
    clusters::Caches,
    credential::SubjectKey,
};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use kube::client::Body;
use portico_domain::panel::{Health, PodSummary, Row};
use serde_json::Value;
use std::{future::Future, sync::Arc, time::Duration};
use uuid::Uuid;

/// Time limit for one call; the pages promise a response within five seconds.
const CALL_TIMEOUT: Duration = Duration::from_secs(4);
/// Time limit for the start of a stream; the API server may have to connect to a kubelet first.
const STREAM_START_TIMEOUT: Duration = Duration::from_secs(8);
/// Maximum size of a response that is read into memory, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// The same for an enrolled cluster, whose API server is a tenant's: a response costs many times its
/// size while it is read. The largest ones that are regular are chunks of 2000 rows.
pub const MAX_ENROLLED_BODY_BYTES: usize = 16 * 1024 * 1024;

/// A cluster's API with one user's credential. Cheap to clone.
#[derive(Clone)]
pub struct Api {
    pub(super) cluster: Uuid,
    pub(super) subject: SubjectKey,
    pub(super) caches: Arc<Caches>,
    client: kube::Client,
    /// Marked sensitive, so that no debug output prints it. `None`: the client carries a
    /// certificate.
    authorization: Option<HeaderValue>,
    namespace_candidates: Arc<[String]>,
    body_limits: BodyLimits,
}

/// The user who has read something from a cluster, and under which state of the bindings that are made
/// here: the key of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reader {
    cluster: Uuid,
    subject: SubjectKey,
    rights_epoch: u64,
}

/// A call that has not been sent yet.
pub struct Call<'a> {
    pub method: Method,
    pub path: &'a str,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub body: Option<&'a Value>,
}

impl<'a> Call<'a> {
    /// Makes a plain GET for JSON.
    pub fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            accept: "application/json",
            content_type: "application/json",
            body: None,
        }
    }

    /// Makes a call that sends a JSON document.
    pub fn send(method: Method, path: &'a str, body: &'a Value) -> Self {
        Self {
            method,
            body: Some(body),
            ..Self::get(path)
        }
    }

    /// Makes a server-side apply. JSON is YAML too.
    pub fn apply(path: &'a str, body: &'a Value) -> Self {
        Self {
            content_type: "application/apply-patch+yaml",
            ..Self::send(Method::PATCH, path, body)
        }
    }

    /// Makes a JSON patch (RFC 6902).
    pub fn json_patch(path: &'a str, body: &'a Value) -> Self {
        Self {
            content_type: "application/json-patch+json",
            ..Self::send(Method::PATCH, path, body)
        }
    }

    /// Makes a JSON merge patch.
    pub fn merge_patch(path: &'a str, body: &'a Value) -> Self {
        Self {
            content_type: "application/merge-patch+json",
            ..Self::send(Method::PATCH, path, body)
        }
    }
}

impl Api {
    /// Combines a connection pool with a credential.
    pub fn new(
        cluster: Uuid,
        client: kube::Client,
        authorization: Option<HeaderValue>,
        subject: SubjectKey,
        caches: Arc<Caches>,
    ) -> Self {
        Self {
            cluster,
            subject,
            caches,
            client,
            authorization,
            namespace_candidates: Arc::default(),
            body_limits: BodyLimits {
                max_bytes: MAX_BODY_BYTES,
                is_enrolled: false,
            },
        }
    }

    /// Sets how much of responses may be in memory.
    #[must_use]
    pub fn with_body_limits(self, body_limits: BodyLimits) -> Self {
        Self {
            body_limits,
            ..self
        }
    }

    /// Adds namespaces in which the user may have rights, for users who may not list namespaces.
    #[must_use]
    pub fn with_namespace_candidates(self, candidates: impl IntoIterator<Item = String>) -> Self {
        Self {
            namespace_candidates: candidates.into_iter().collect(),
            ..self
        }
    }

    /// Returns the time of day, for what depends on the ages of objects.
    pub fn now(&self) -> Timestamp {
        self.caches.clock.now()
    }

    /// Returns the namespaces in which the user may have rights, unconfirmed.
    pub fn namespace_candidates(&self) -> &[String] {
        &self.namespace_candidates
    }

    pub fn cluster(&self) -> Uuid {
        self.cluster
    }

    /// Returns the key under which something that this user reads is cached.
    pub fn reader(&self) -> Reader {
        Reader {
            cluster: self.cluster,
            subject: self.subject,
            rights_epoch: *self.caches.rights_epoch.borrow(),
        }
    }

    /// Returns the health that this user has read from an object in the last 90 seconds.
    pub async fn assessed(&self, row: &Row) -> Option<Health> {
        self.caches.assessed.get(&self.assessed_slot(row)).await
    }

    /// Stores the health that this user has read from an object.
    pub async fn store_assessed(&self, row: &Row, health: Health) {
        self.caches
            .assessed
            .insert(self.assessed_slot(row), health)
            .await;
    }

    fn assessed_slot(&self, row: &Row) -> (Uuid, SubjectKey, String, String) {
        let (uid, version) = (row.uid.clone(), row.resource_version.clone());
        (self.cluster, self.subject, uid, version)
    }

    /// Returns what this user has read of a pod in the last 60 seconds, if its row has not changed since.
    pub async fn pod_summary(&self, row: &Row) -> Option<PodSummary> {
        let slot = self.pod_summary_slot(row);
        self.caches.pod_summaries.get(&slot).await
    }

    /// Stores what this user has read of a pod.
    pub async fn store_pod_summary(&self, row: &Row, summary: PodSummary) {
        let slot = self.pod_summary_slot(row);
        self.caches.pod_summaries.insert(slot, summary).await;
    }

    fn pod_summary_slot(&self, row: &Row) -> (Reader, String, String) {
        let (uid, version) = (row.uid.clone(), row.resource_version.clone());
        (self.reader(), uid, version)
    }

    /// Discards cached access reviews, after bindings were changed.
    pub fn rights_changed(&self) {
        self.caches.rights_changed();
    }

    /// Sends a call and reads the JSON response.
    pub async fn json(&self, call: Call<'_>) -> Result<Value, KubeError> {
        let bytes = self.bytes(call).await?;
        serde_json::from_slice(&bytes).map_err(|error| KubeError::Protocol(error.to_string()))
    }

    /// Sends a GET and reads the JSON response.
    pub async fn get(&self, path: &str) -> Result<Value, KubeError> {
        self.json(Call::get(path)).await
    }

    /// Sends a call and reads the whole response.
    pub async fn bytes(&self, call: Call<'_>) -> Result<Bytes, KubeError> {
        let (status, body) = self.answer(call).await?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(KubeError::from_response(status, &body))
        }
    }

    /// Sends a GET and reads the whole response, which may be up to ten seconds old. Requests of this user
    /// for the same path, at the same time or within that time, are one request to the API server.
    ///
    /// # Errors
    /// Those of the request. They are not cached.
    pub async fn recent(&self, path: &str) -> Result<Bytes, KubeError> {
        let slot = (self.reader(), path.to_owned());
        let request = self.bytes(Call::get(path));
        let response = self.caches.recent.try_get_with(slot, request).await;
        response.map_err(|error| KubeError::clone(&error))
    }

    /// Sends a call and reads the whole response, whatever its status: for callers that need more of a
    /// refusal than its message.
    pub async fn answer(&self, call: Call<'_>) -> Result<(StatusCode, Bytes), KubeError> {
        let request = self.request(&call)?;
        within(CALL_TIMEOUT, async {
            let response = self.client.send(request).await?;
            let status = response.status();
            let body = body::read(response.into_body(), self.body_limits).await?;
            Ok((status, body))
        })
        .await
    }

    /// Sends a call and returns the response as a stream.
    pub async fn stream(
        &self,
        call: Call<'_>,
    ) -> Result<BoxStream<'static, Result<Bytes, std::io::Error>>, KubeError> {
        let request = self.request(&call)?;
        within(STREAM_START_TIMEOUT, async {
            let response = self.client.send(request).await?;
            let status = response.status();
            if status != StatusCode::OK {
                let body = body::read(response.into_body(), self.body_limits).await;
                let body = body.unwrap_or_default();
                return Err(KubeError::from_response(status, &body));
            }
            Ok(response
                .into_body()
                .into_data_stream()
                .map_err(std::io::Error::other)
                .boxed())
        })
        .await
    }

    /// Opens a WebSocket.
    pub async fn connect(&self, path: &str) -> Result<kube::client::Connection, KubeError> {
        let mut request = Request::get(path)
            .body(Vec::new())
            .map_err(|error| KubeError::Invalid(error.to_string()))?;
        self.authorize(request.headers_mut());
        within(STREAM_START_TIMEOUT, async {
            Ok(self.client.connect(request).await?)
        })
        .await
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<Body>, KubeError> {
        let mut request = Request::builder()
            .method(&call.method)
            .uri(call.path)
            .header(header::ACCEPT, call.accept);
        let body = match call.body {
            Some(value) => {
                request = request.header(header::CONTENT_TYPE, call.content_type);
                value.to_string().into_bytes()
            }
            None => Vec::new(),
        };
        let mut request = request
            .body(Body::from(body))
            .map_err(|error| KubeError::Invalid(error.to_string()))?;
        self.authorize(request.headers_mut());
        Ok(request)
    }

    fn authorize(&self, headers: &mut http::HeaderMap) {
        if let Some(value) = &self.authorization {
            headers.insert(header::AUTHORIZATION, value.clone());
        }
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, KubeError>>,
) -> Result<T, KubeError> {
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or(Err(KubeError::Timeout(limit.as_secs())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::credential::ClusterTokens;
    use std::{
        convert::Infallible,
        sync::atomic::{AtomicUsize, Ordering},
    };

    /// An API server whose responses are the number of the request.
    fn counting_client() -> kube::Client {
        let requests = Arc::new(AtomicUsize::new(0));
        let service = tower::service_fn(move |_: Request<Body>| {
            let number = requests.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                tokio::task::yield_now().await;
                let body = Body::from(number.to_string().into_bytes());
                Ok::<_, Infallible>(http::Response::new(body))
            }
        });
        kube::Client::new(service, "default")
    }

    #[tokio::test]
    async fn a_response_beyond_the_clusters_limit_is_not_read() {
        let service = tower::service_fn(|_: Request<Body>| async {
            let body = Body::from(vec![b' '; 1024]);
            Ok::<_, Infallible>(http::Response::new(body))
        });
        let client = kube::Client::new(service, "default");
        let subject = ClusterTokens::default().subject(&"vera".into());
        let api = Api::new(Uuid::nil(), client, None, subject, Arc::default());
        let read = async |limit| {
            let limited = api.clone().with_body_limits(BodyLimits {
                max_bytes: limit,
                is_enrolled: true,
            });
            limited.bytes(Call::get("/version")).await
        };
        assert!(matches!(read(1023).await, Err(KubeError::Protocol(_))));
        assert_eq!(read(1024).await.unwrap().len(), 1024);
    }

    #[tokio::test]
    async fn recent_responses_are_shared_between_requests_of_one_user_and_never_between_users() {
        let (client, caches) = (counting_client(), Arc::new(Caches::default()));
        let tokens = ClusterTokens::default();
        let api = |cluster: u128, token: &str| {
            let subject = tokens.subject(&token.into());
            let cluster = Uuid::from_u128(cluster);
            Api::new(cluster, client.clone(), None, subject, Arc::clone(&caches))
        };
        let (vera, otto) = (api(1, "vera"), api(1, "otto"));
        // two tabs at once, and a scroll afterwards
        let (one, two) = tokio::join!(vera.recent("/pods"), vera.recent("/pods"));
        assert_eq!(one.unwrap(), "1");
        assert_eq!(two.unwrap(), "1");
        assert_eq!(vera.clone().recent("/pods").await.unwrap(), "1");
        // the control cases: another path, cluster or user, and changed rights
        assert_eq!(vera.recent("/nodes").await.unwrap(), "2");
        assert_eq!(api(2, "vera").recent("/pods").await.unwrap(), "3");
        assert_eq!(otto.recent("/pods").await.unwrap(), "4");
        vera.rights_changed();
        assert_eq!(vera.recent("/pods").await.unwrap(), "5");
    }
}
