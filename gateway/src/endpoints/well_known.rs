//! Publishes public keys: the gateway's for assertions, kube-auth's for cluster tokens.
use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, header};
use serde_json::{Value, json};

use crate::{clusters::Clusters, sessions::signing::Signing};

/// The public keys that others need.
#[derive(Debug)]
pub(crate) struct PublicKeys {
    pub signing: Arc<Signing>,
    pub clusters: Arc<Clusters>,
}

/// `GET /.well-known/jwks.json`.
pub(crate) async fn jwks(State(keys): State<Arc<PublicKeys>>) -> Response {
    public(keys.signing.jwks())
}

/// `GET /.well-known/portico-cluster-keys`: lists the keys, but not the clusters they belong to.
pub(crate) async fn cluster_keys(State(keys): State<Arc<PublicKeys>>) -> Response {
    let clusters = keys.clusters.snapshot();
    let by_id: BTreeMap<&str, Value> = clusters
        .all()
        .iter()
        .map(|cluster| {
            let key = &cluster.sealing_key;
            let value = json!({ "kid": key.kid(), "kty": "X25519", "key": key.to_base64() });
            (key.kid(), value)
        })
        .collect();
    public(json!({ "keys": by_id.into_values().collect::<Vec<_>>() }))
}

fn public(value: Value) -> Response {
    let mut response = Json(value).into_response();
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=300"),
    );
    response.headers_mut().insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}
