//! The webhook's routes and status codes.
use crate::access::{self, AccessReview};
use crate::binding::canonical;
use crate::cluster::Cluster;
use crate::metrics;
use crate::review::Review;
use crate::service::{KubeAuth, Peer, PeerBinding, PolicyUnavailable};
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use portico_runtime::listener::{OtherPeerCertificates, PeerCertificates};
use portico_runtime::request_id::{RequestId, RequestIdLayer, Trust};
use serde_json::json;
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tower_http::catch_panic::CatchPanicLayer;

const MAX_BODY_BYTES: usize = 64 * 1024;
/// Time limit for a request body; an API server sends its few hundred bytes at once.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// Every error that an API server can get; as `Status`, without `Retry-After`, and never a
/// redirect, which an API server would follow with the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Rejection {
    #[error("the client certificate is not bound to this cluster")]
    Unbound,
    #[error("no such cluster")]
    UnknownCluster,
    #[error("the cluster list has expired: it is not known whether the cluster still exists")]
    ListExpired,
    #[error("not found")]
    NotFound,
    #[error("Content-Type must be application/json")]
    ContentType,
    #[error("the body is larger than 64 KiB")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("{0}")]
    Invalid(#[from] crate::review::Invalid),
    #[error("{0}")]
    InvalidAccess(#[from] access::Invalid),
    #[error("the cluster has no authorization policy")]
    NoPolicy,
    #[error("the cluster's authorization policy has not been read yet")]
    NoPolicyYet,
    #[error("the token cannot be validated now")]
    Undecided,
}

impl KubeAuth {
    /// Returns the routes, for a listener that requires client certificates
    /// ([`KubeAuthConfig::tls_files`]).
    pub fn router(&self) -> Router {
        router(self.clone())
    }
}

impl Rejection {
    fn status(self) -> StatusCode {
        match self {
            Self::Unbound => StatusCode::FORBIDDEN,
            Self::UnknownCluster | Self::NotFound | Self::NoPolicy => StatusCode::NOT_FOUND,
            Self::ContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Invalid(_) | Self::InvalidAccess(_) => StatusCode::BAD_REQUEST,
            Self::Undecided | Self::NoPolicyYet | Self::ListExpired => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    /// Returns the reason in the terms of `metav1.StatusReason`.
    fn reason(self) -> &'static str {
        match self {
            Self::Unbound => "Forbidden",
            Self::UnknownCluster | Self::NotFound | Self::NoPolicy => "NotFound",
            Self::ContentType => "UnsupportedMediaType",
            Self::TooLarge => "RequestEntityTooLarge",
            Self::TooSlow => "Timeout",
            Self::Invalid(_) | Self::InvalidAccess(_) => "BadRequest",
            Self::Undecided | Self::NoPolicyYet | Self::ListExpired => "ServiceUnavailable",
        }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": self.to_string(),
            "reason": self.reason(),
            "code": status.as_u16(),
        });
        (status, Json(body)).into_response()
    }
}

pub(crate) fn router(service: KubeAuth) -> Router {
    let own_cluster = || middleware::from_fn_with_state(service.clone(), bound);
    let (review, access) = (post(token_review), post(subject_access_review));
    Router::new()
        .route("/clusters/{id}/tokenreview", review.layer(own_cluster()))
        .route(
            "/clusters/{id}/subjectaccessreview",
            access.layer(own_cluster()),
        )
        .route(
            "/webhook",
            post(webhook).layer(middleware::from_fn_with_state(
                service.clone(),
                bound_somewhere,
            )),
        )
        .route("/.well-known/portico-cluster-keys", get(cluster_keys))
        .fallback(|| async { Rejection::NotFound })
        .with_state(service)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(
            RequestIdLayer::new(Trust::NoPeer)
                .in_extensions()
                .for_debugging(),
        )
}

/// Lets only API servers of the cluster in the path through, before anything is read.
async fn bound(
    State(service): State<KubeAuth>,
    Path(id): Path<String>,
    mut request: Request,
    next: Next,
) -> Result<Response, Rejection> {
    let peer = peer(&request);
    let cluster = canonical(&id);
    let binding = match (cluster, peer) {
        (Some(cluster), Some(peer)) => service.peer_binding(cluster, peer),
        _ => PeerBinding::Unbound,
    };
    match binding {
        PeerBinding::Bound(cluster) => {
            request.extensions_mut().insert(BoundTo(cluster));
            Ok(next.run(request).await)
        }
        PeerBinding::UnknownCluster => {
            service.want_newest_list();
            metrics::record_rejected(None, "unknown_cluster");
            Err(Rejection::UnknownCluster)
        }
        PeerBinding::Expired => {
            metrics::record_rejected(None, "list_expired");
            Err(Rejection::ListExpired)
        }
        PeerBinding::Unbound => {
            metrics::record_rejected(None, "stranger");
            tracing::warn!(
                // an invalid ID may be any text, of any length
                cluster_id = cluster.map(tracing::field::display),
                certificate = peer.is_some(),
                "review refused: the client certificate is not bound to this cluster"
            );
            Err(Rejection::Unbound)
        }
    }
}

/// Does the same if the path names no cluster: the certificate does.
async fn bound_somewhere(
    State(service): State<KubeAuth>,
    mut request: Request,
    next: Next,
) -> Result<Response, Rejection> {
    let cluster = peer(&request).and_then(|peer| service.cluster_of(peer));
    let Some(cluster) = cluster else {
        metrics::record_rejected(None, "stranger");
        tracing::warn!("review refused: the client certificate is not bound to one cluster");
        return Err(Rejection::Unbound);
    };
    request.extensions_mut().insert(BoundTo(cluster));
    Ok(next.run(request).await)
}

/// Returns what the client presented.
fn peer(request: &Request) -> Option<Peer<'_>> {
    let extensions = request.extensions();
    if let Some(PeerCertificates(chain)) = extensions.get() {
        return Some(Peer {
            chain,
            of_configured_authority: true,
        });
    }
    let OtherPeerCertificates(chain) = extensions.get()?;
    Some(Peer {
        chain,
        of_configured_authority: false,
    })
}

/// The cluster to which the client has proved to belong. The request uses this one to its end, also
/// if the cluster list is replaced meanwhile.
#[derive(Clone)]
struct BoundTo(Arc<Cluster>);

impl BoundTo {
    /// Counts a body that was not a review.
    fn invalid_review(&self) {
        metrics::record_rejected(Some(&self.0.label), "invalid");
    }
}

/// Handles `POST /clusters/{id}/tokenreview`, for the cluster's own API servers.
async fn token_review(
    State(service): State<KubeAuth>,
    Extension(bound): Extension<BoundTo>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Rejection> {
    let review = read(&headers, body)
        .await
        .and_then(|body| Ok(Review::decode(&body)?))
        .inspect_err(|_| bound.invalid_review())?;
    answer_review(&service, &bound.0, &review, request_id).await
}

async fn answer_review(
    service: &KubeAuth,
    cluster: &Cluster,
    review: &Review,
    request_id: RequestId,
) -> Result<Response, Rejection> {
    let answer = service
        .review(cluster, review, request_id)
        .await
        .ok_or(Rejection::Undecided)?;
    Ok(uncached(&answer))
}

/// Handles `POST /webhook`: both reviews at one address, as in k8s-keystone-auth.
async fn webhook(
    State(service): State<KubeAuth>,
    Extension(bound): Extension<BoundTo>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Rejection> {
    let invalid = |_: &Rejection| bound.invalid_review();
    let body = read(&headers, body).await.inspect_err(invalid)?;
    if is_access_review(&body) {
        return answer_access(&service, &bound.0, &body, request_id).inspect_err(invalid);
    }
    let review = Review::decode(&body).map_err(Rejection::from);
    answer_review(
        &service,
        &bound.0,
        &review.inspect_err(invalid)?,
        request_id,
    )
    .await
}

fn is_access_review(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice::<Kind>(body).is_ok_and(|found| found.kind == access::KIND)
}

fn uncached(answer: &impl serde::Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// Handles `POST /clusters/{id}/subjectaccessreview`, for the cluster's own API servers.
async fn subject_access_review(
    State(service): State<KubeAuth>,
    Extension(bound): Extension<BoundTo>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Rejection> {
    answer_access(&service, &bound.0, &read(&headers, body).await?, request_id)
}

fn answer_access(
    service: &KubeAuth,
    cluster: &Cluster,
    body: &[u8],
    request_id: RequestId,
) -> Result<Response, Rejection> {
    let review = AccessReview::decode(body)?;
    let answer = service
        .access(cluster, &review, request_id)
        .map_err(|none| match none {
            PolicyUnavailable::NoPolicy => Rejection::NoPolicy,
            PolicyUnavailable::NotReadYet => Rejection::NoPolicyYet,
        })?;
    Ok(uncached(&answer))
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Rejection> {
    let content_type = headers.get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
        return Err(Rejection::ContentType);
    }
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(Rejection::TooLarge);
    }
    tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, MAX_BODY_BYTES))
        .await
        .map_err(|_| Rejection::TooSlow)?
        // the connection is broken, so no client is left to read the response
        .map_err(|_| Rejection::TooLarge)
}

fn is_json(content_type: &[u8]) -> bool {
    let essence = content_type.split(|&byte| byte == b';').next();
    essence.is_some_and(|essence| {
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(b"application/json")
    })
}

/// Handles `GET /.well-known/portico-cluster-keys`: the keys to seal to, the current one first.
async fn cluster_keys(State(service): State<KubeAuth>) -> Response {
    let headers = [(header::CACHE_CONTROL, "max-age=300")];
    (headers, Json(service.published_keys())).into_response()
}

/// Responds to a panic: a defect is not a refusal either, and after a 500 the API server would
/// retry five times.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a review ended in a panic");
    Rejection::Undecided.into_response()
}
