//! For command lines that sign in at Keystone themselves and seal their own tokens: authenticates
//! them by their Keystone token and serves the sealing key.
use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use jiff::SignedDuration;
use portico_assertion::keys::PublishedKey;
use portico_domain::{cluster::SERVICE_TYPE, identity::Identity};
use portico_openstack::keystone::{Error, TokenScope};
use portico_store::{Reserved, ThrottleLimit};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use super::ClientApi;
use crate::{
    clusters::tokens::no_such_cluster,
    http::{error_response::Problem, interrupt::Interrupt, security_headers::harden},
    request_context::Context,
};

const AUTH_TOKEN: &str = "x-auth-token";
/// Bounds a token, in bytes; Keystone's web server accepts none that is longer.
const MAX_TOKEN_BYTES: usize = 8 * 1024;
/// Limits the refused tokens of one network, so that clients cannot load Keystone through Portico.
const REFUSAL_LIMIT: ThrottleLimit = ThrottleLimit::window(30, 5 * 60);

/// `GET /api/v1/clusters/{id}/sealing-key`: returns the key that tokens for this cluster are sealed
/// to.
///
/// No authentication is needed. The key is public: it can seal but not open, and kube-auth trusts
/// nothing but the Keystone token inside. The client has the cluster's UUID already, and the
/// response reveals nothing else: name, API server and owner are only for users whom the cluster
/// accepts (`GET /api/v1/clusters`). So a command line learns of a new key without sending a
/// credential.
pub(crate) async fn sealing_key(
    State(client_api): State<Arc<ClientApi>>,
    Path(id): Path<String>,
) -> Result<Response, Interrupt> {
    let id: Option<Uuid> = id.parse().ok();
    let cluster = id.and_then(|id| client_api.clusters.find(id));
    let cluster = cluster.ok_or_else(no_such_cluster)?;
    let mut answer = Json(json!({
        "cluster": cluster.record.id,
        "sealing_key": PublishedKey::new(&cluster.sealing_key),
    }))
    .into_response();
    harden(answer.headers_mut());
    Ok(answer)
}

/// Returns the request's Keystone token. A bearer token takes precedence, and cookies are never
/// read.
pub(super) fn keystone_token(headers: &HeaderMap) -> Option<SecretString> {
    if headers.contains_key(http::header::AUTHORIZATION) {
        return None;
    }
    let mut lines = headers.get_all(AUTH_TOKEN).iter();
    let token = lines.next()?.to_str().ok()?;
    let plausible = !token.is_empty() && token.len() <= MAX_TOKEN_BYTES && lines.next().is_none();
    plausible.then(|| token.into())
}

impl ClientApi {
    /// Returns whose Keystone token this is. Keystone is asked each time and nothing is cached:
    /// clients call this when they pin a cloud, not for each kubectl command.
    pub(super) async fn keystone_identity(
        &self,
        context: &Context,
        token: SecretString,
    ) -> Result<Identity, Interrupt> {
        let now = self.clock.now();
        let subject = format!("x-auth-token:{}", context.client.network());
        let throttle = self.store.throttle();
        // before Keystone is asked, so that concurrent requests count before they are answered
        let place = match throttle.reserve(&subject, REFUSAL_LIMIT, now).await? {
            Reserved::Granted(place) => place,
            Reserved::RefusedUntil(until) => return Err(too_many(until.duration_since(now)).into()),
        };
        let details = match self.keystone.validate(&token).await {
            Ok(details) => details,
            Err(error) if error.is_refusal() => {
                return Err(refused("Keystone does not accept the token.").into());
            }
            Err(Error::Forbidden) => return Err(refused("Keystone forbids its use here.").into()),
            Err(error) => {
                throttle.return_reservation(&place).await?;
                return Err(Problem::keystone_unavailable_by(&error).into());
            }
        };
        throttle.return_reservation(&place).await?;
        if details.scope != TokenScope::Project {
            return Err(refused("It belongs to no project: sign in to one.").into());
        }
        // kube-auth would refuse it without being able to explain why
        let credential = details.application_credential.as_ref();
        if credential.is_some_and(|credential| !credential.is_for(SERVICE_TYPE)) {
            return Err(refused(
                "Its application credential has access rules, and none for kubernetes: \
                 make one without.",
            )
            .into());
        }
        Ok(details.identity)
    }
}

fn refused(why: &str) -> Problem {
    Problem::downstream(
        StatusCode::UNAUTHORIZED,
        "keystone_token",
        "The Keystone token cannot be used",
        why,
    )
}

fn too_many(wait: SignedDuration) -> Problem {
    Problem {
        code: "keystone_token",
        ..Problem::throttled(
            "Too many refused tokens",
            "Too many tokens from this network were refused.",
            wait,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use secrecy::ExposeSecret as _;

    #[test]
    fn one_plausible_token_without_a_bearer_counts() {
        let mut headers = HeaderMap::new();
        assert!(keystone_token(&headers).is_none());
        headers.insert(AUTH_TOKEN, HeaderValue::from_static("gAAAA"));
        let found = keystone_token(&headers).unwrap();
        assert_eq!(found.expose_secret(), "gAAAA");
        headers.append(AUTH_TOKEN, HeaderValue::from_static("another"));
        assert!(keystone_token(&headers).is_none());
        headers.insert(AUTH_TOKEN, HeaderValue::from_static("gAAAA"));
        headers.insert(
            http::header::AUTHORIZATION,
            HeaderValue::from_static("Bearer x"),
        );
        assert!(keystone_token(&headers).is_none());
        headers.remove(http::header::AUTHORIZATION);
        let long = "a".repeat(MAX_TOKEN_BYTES + 1);
        headers.insert(AUTH_TOKEN, HeaderValue::from_str(&long).unwrap());
        assert!(keystone_token(&headers).is_none());
    }
}
