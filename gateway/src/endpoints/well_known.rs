//! Publishes public keys: the gateway's for assertions, kube-auth's for cluster tokens.
use std::collections::BTreeMap;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, header};
use serde_json::{Value, json};

use crate::state::Shared;

/// `GET /.well-known/jwks.json`.
pub(crate) async fn jwks(State(gateway): State<Shared>) -> Response {
    public(gateway.signing.jwks())
}

/// `GET /.well-known/portico-cluster-keys`: lists the keys, but not the clusters they belong to.
pub(crate) async fn cluster_keys(State(gateway): State<Shared>) -> Response {
    let keys: BTreeMap<&str, Value> = gateway
        .clusters
        .iter()
        .map(|cluster| {
            let key = &cluster.sealing_key;
            let value = json!({ "kid": key.kid(), "kty": "X25519", "key": key.to_base64() });
            (key.kid(), value)
        })
        .collect();
    public(json!({ "keys": keys.into_values().collect::<Vec<_>>() }))
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
