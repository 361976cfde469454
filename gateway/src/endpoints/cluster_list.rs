//! `GET /.well-known/portico-clusters`: the signed list of enrolled clusters, for kube-auth
//! (ADR 0023). It names the clusters and projects of all tenants, so only kube-auth gets it.
use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::Timestamp;
use portico_assertion::cluster_list::{CONTENT_TYPE, ClusterList, LIFETIME_SECONDS, ListSigner};
use portico_clock::Clock;
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_store::Store;
use secrecy::{ExposeSecret as _, SecretString};
use subtle::ConstantTimeEq as _;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::http::{access_log, error_response::Problem, security_headers::harden};

/// How often the list is signed anew. Signatures begin at full hours, so that all replicas publish
/// the same document, and a kube-auth that asks another one finds it unchanged.
const SIGNING_INTERVAL_SECONDS: i64 = 3600;
/// How long the store is not asked again, however many replicas of kube-auth ask for the list.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Signs and serves the list.
#[derive(Debug)]
pub(crate) struct ClusterListPublisher {
    pub store: Store,
    pub clock: Clock,
    /// Without one there is no list.
    pub publication: Option<Publication>,
    /// The gateway's public URL.
    pub issuer: Arc<str>,
    pub signed: Mutex<Option<SignedList>>,
}

/// What the list is signed with, and who gets it.
#[derive(Debug)]
pub(crate) struct Publication {
    pub signer: ListSigner,
    /// The bearer token of kube-auth.
    pub token: SecretString,
}

/// The list that was signed last.
#[derive(Debug)]
pub(crate) struct SignedList {
    sequence: u64,
    issued_at: i64,
    document: bytes::Bytes,
    checked: Instant,
}

/// `GET /.well-known/portico-clusters`.
pub(crate) async fn get(
    State(publisher): State<Arc<ClusterListPublisher>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Some(publication) = &publisher.publication else {
        return Err(Problem::not_found());
    };
    // before the store is asked
    if !publication.admits(&headers) {
        return Ok(unauthorized());
    }
    let signer = &publication.signer;
    let (etag, document) = publisher.document(signer, publisher.clock.now()).await?;
    let tag = HeaderValue::from_str(&etag).map_err(|_| Problem::not_found())?;
    let known = headers.get(header::IF_NONE_MATCH);
    let mut response = if known.is_some_and(|known| *known == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE))];
        (content_type, document).into_response()
    };
    harden(response.headers_mut());
    let headers = response.headers_mut();
    headers.insert(header::ETAG, tag);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// Returns 401 without a body: no page and no reason, also for a browser.
fn unauthorized() -> Response {
    access_log::refused("cluster_list_token");
    let mut response = StatusCode::UNAUTHORIZED.into_response();
    harden(response.headers_mut());
    let challenge = HeaderValue::from_static("Bearer");
    let headers = response.headers_mut();
    headers.insert(header::WWW_AUTHENTICATE, challenge);
    response
}

impl Publication {
    /// Returns whether the request has the token, in its only `Authorization` header (RFC 6750
    /// 2.1).
    fn admits(&self, headers: &HeaderMap) -> bool {
        let mut lines = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return false;
        };
        let Some((scheme, given)) = line.to_str().ok().and_then(|line| line.split_once(' ')) else {
            return false;
        };
        let expected = self.token.expose_secret().as_bytes();
        scheme.eq_ignore_ascii_case("bearer") && bool::from(expected.ct_eq(given.as_bytes()))
    }
}

impl ClusterListPublisher {
    /// Returns the entity tag and the current list.
    async fn document(
        &self,
        signer: &ListSigner,
        now: Timestamp,
    ) -> Result<(String, bytes::Bytes), Problem> {
        // one request reads and signs, and all others wait for it
        let mut signed = self.signed.lock().await;
        let now = now.as_second();
        let issued_at = now - now.rem_euclid(SIGNING_INTERVAL_SECONDS);
        if let Some(signed) = signed
            .as_mut()
            .filter(|signed| signed.issued_at == issued_at)
        {
            if signed.checked.elapsed() >= CHECK_INTERVAL
                && self.store.enrolled_clusters().sequence().await? == signed.sequence
            {
                signed.checked = Instant::now();
            }
            if signed.checked.elapsed() < CHECK_INTERVAL {
                return Ok(signed.tagged());
            }
        }
        let all = self.store.enrolled_clusters().all().await?;
        let list = ClusterList {
            iss: self.issuer.to_string(),
            iat: issued_at,
            exp: issued_at + LIFETIME_SECONDS,
            sequence: all.sequence,
            clusters: all.clusters.iter().map(EnrolledCluster::listed).collect(),
        };
        let document = signer.sign(&list).map_err(|error| {
            tracing::error!(%error, "the cluster list cannot be signed");
            Problem::internal()
        })?;
        let new = signed.insert(SignedList {
            sequence: all.sequence,
            issued_at,
            document: document.into(),
            checked: Instant::now(),
        });
        Ok(new.tagged())
    }
}

impl SignedList {
    fn tagged(&self) -> (String, bytes::Bytes) {
        let etag = format!("\"{}-{}\"", self.sequence, self.issued_at);
        (etag, self.document.clone())
    }
}
