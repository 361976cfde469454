//! `GET` and `POST /oauth2/authorize`: a command line on the user's own computer asks for access
//! (RFC 8252 loopback redirect, PKCE). Requires a signed-in user and a click each time.
use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, StatusCode, header};
use portico_store::{NewAuthorizationCode, Outcome};
use secrecy::ExposeSecret as _;
use url::{Host, Url};
use uuid::Uuid;

use super::{CLIENT_ID, ClientApi, pkce, project_names, shown_client};
use crate::{
    audit::Event,
    authentication::extract::{SignedIn, SignedInForm},
    http::{
        error_response::Problem, forms::Fields, interrupt::Interrupt, security_headers::harden,
    },
    pages::cli::Approval,
    request_context::Context,
};

const MAX_STATE_BYTES: usize = 512;

/// The authorization request of a command line.
#[derive(Debug)]
struct Request {
    redirect: Url,
    challenge: String,
    state: String,
    client: String,
    cluster: String,
}

impl Request {
    /// Reads a request. Errors are shown on this page and never redirected, as the redirect address
    /// may be an attacker's.
    fn read(fields: &Fields) -> Result<Self, Problem> {
        let wrong = |what: &str| {
            Problem::bad_request(format!(
                "A command line asked for access in a way that Portico does not allow: {what}."
            ))
        };
        if fields.get("client_id") != CLIENT_ID {
            return Err(wrong("the client is unknown"));
        }
        if fields.get("response_type") != "code" {
            return Err(wrong("only response_type=code is offered"));
        }
        let redirect = loopback(fields.get("redirect_uri"))
            .ok_or_else(|| wrong("the redirect address is not a port of this computer"))?;
        let challenge = fields.get("code_challenge");
        if fields.get("code_challenge_method") != "S256" || !pkce::is_challenge(challenge) {
            return Err(wrong("PKCE with S256 is required"));
        }
        if fields.get("state").len() > MAX_STATE_BYTES {
            return Err(wrong("the state is too long"));
        }
        Ok(Self {
            redirect,
            challenge: challenge.to_owned(),
            state: fields.get("state").to_owned(),
            client: shown_client(fields.get("client_name")),
            cluster: fields.get("cluster").to_owned(),
        })
    }

    fn answer(&self, issuer: &str, pairs: &[(&str, &str)]) -> Response {
        let mut url = self.redirect.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        if !self.state.is_empty() {
            url.query_pairs_mut().append_pair("state", &self.state);
        }
        url.query_pairs_mut().append_pair("iss", issuer);
        let mut response = StatusCode::SEE_OTHER.into_response();
        if let Ok(mut location) = HeaderValue::try_from(url.as_str()) {
            location.set_sensitive(true);
            response.headers_mut().insert(header::LOCATION, location);
        }
        harden(response.headers_mut());
        response
    }

    /// Returns the redirect's origin for the page's content security policy, which cannot express
    /// IPv6 addresses.
    fn policy_source(&self) -> String {
        match (self.redirect.host(), self.redirect.port()) {
            (Some(Host::Ipv4(ip)), Some(port)) => format!("http://{ip}:{port}"),
            _ => "http:".to_owned(),
        }
    }
}

pub(crate) async fn get(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    signed_in: Result<SignedIn, Interrupt>,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let request = Request::read(&Fields::of_query(&uri)?)?;
    let SignedIn(caller) = signed_in?;
    let cluster = client_api.cluster_name(&request.cluster);
    let page = Approval {
        user: &caller.session.user.name,
        client: &request.client,
        address: &context.address_text(),
        projects: &project_names(&caller.live),
        cluster: cluster.as_deref(),
        csrf: caller.session.csrf.expose_secret(),
        action: "/oauth2/authorize",
        fields: &[
            ("client_id", CLIENT_ID),
            ("response_type", "code"),
            ("redirect_uri", request.redirect.as_str()),
            ("code_challenge", &request.challenge),
            ("code_challenge_method", "S256"),
            ("state", &request.state),
            ("client_name", &request.client),
            ("cluster", &request.cluster),
        ],
        code: None,
        redirects_to: Some(request.policy_source()),
    };
    Ok(page.page().into_response())
}

pub(crate) async fn post(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    SignedInForm { caller, fields }: SignedInForm,
) -> Result<Response, Interrupt> {
    let request = Request::read(&fields)?;
    let issuer = client_api.hosts.main().to_string();
    let approved = fields.get("decision") == "approve";
    let outcome = if approved {
        Outcome::Succeeded
    } else {
        Outcome::Denied
    };
    let event = Event::new("cli.approve", outcome)
        .session(&caller.session)
        .target(&request.client)
        .reason("loopback");
    client_api.audit.record(&context, event).await;
    if !approved {
        return Ok(request.answer(&issuer, &[("error", "access_denied")]));
    }
    let new = NewAuthorizationCode {
        session: caller.live.id,
        client: request.client.clone(),
        redirect_uri: request.redirect.to_string(),
        code_challenge: request.challenge.clone(),
        project: None,
    };
    let code = client_api
        .store
        .authorization_codes()
        .create(&new, client_api.clock.now())
        .await?;
    Ok(request.answer(&issuer, &[("code", code.expose_secret())]))
}

impl ClientApi {
    /// Returns the name of the cluster with this ID.
    pub fn cluster_name(&self, id: &str) -> Option<String> {
        let id: Uuid = id.parse().ok()?;
        let cluster = self.clusters.find(id)?;
        Some(cluster.record.name.clone())
    }
}

/// Reads a redirect address on the user's own computer. It must be an IP address, as names can be
/// rebound.
pub(super) fn loopback(raw: &str) -> Option<Url> {
    let url = Url::parse(raw).ok()?;
    let host_is_loopback = match url.host()? {
        Host::Ipv4(ip) => IpAddr::V4(ip) == IpAddr::from([127, 0, 0, 1]),
        Host::Ipv6(ip) => ip.is_loopback(),
        Host::Domain(_) => false,
    };
    let plain = url.scheme() == "http"
        && url.port().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    (host_is_loopback && plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_redirected_to() {
        for good in [
            "http://127.0.0.1:41234/callback",
            "http://[::1]:41234/callback",
        ] {
            assert!(loopback(good).is_some(), "{good}");
        }
        for bad in [
            "http://localhost:41234/callback",
            "https://127.0.0.1:41234/callback",
            "http://127.0.0.1/callback",
            "http://127.0.0.2:41234/",
            "http://127.0.0.1.evil.example:80/",
            "http://evil@127.0.0.1:41234/",
            "http://127.0.0.1:41234/#x",
            "http://evil.example:41234/",
            "custom:/callback",
            "",
        ] {
            assert!(loopback(bad).is_none(), "{bad}");
        }
    }
}
