//! `/oauth2/device` (RFC 8628): a terminal without a browser starts a request, and a user approves
//! it in a browser on another device.
use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use portico_store::{DeviceRequest, NewDeviceCode, Outcome, Reserved, ThrottleLimit};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{CLIENT_ID, ClientApi, project_names, shown_client, token::refused};
use crate::{
    audit::Event,
    authentication::extract::{FormWithoutCsrf, SignedIn, SignedInForm},
    http::{
        error_response::Problem, forms::Fields, interrupt::Interrupt, security_headers::harden,
    },
    pages::{
        cli::{Approval, decided, enter_code},
        sign_in::Notice,
    },
    request_context::Context,
    sessions::live::Caller,
};

/// Limits the device authorization requests of one network.
const START_LIMIT: ThrottleLimit = ThrottleLimit::window(30, 5 * 60);
/// Limits the wrong user codes that one user may enter.
const WRONG_CODE_LIMIT: ThrottleLimit = ThrottleLimit::window(10, 5 * 60);

/// `POST /oauth2/device`: for command lines, without authentication.
pub(crate) async fn start(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    FormWithoutCsrf(fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    if fields.get("client_id") != CLIENT_ID {
        return Ok(refused("invalid_client", "the client is unknown"));
    }
    let now = client_api.clock.now();
    let subject = format!("device:{}", context.client.network());
    // each request counts, whatever its outcome
    let reserved = client_api
        .store
        .throttle()
        .reserve(&subject, START_LIMIT, now);
    if let Reserved::RefusedUntil(_) = reserved.await? {
        return Ok(refused("slow_down", "too many requests from this network"));
    }
    let new = NewDeviceCode {
        client: shown_client(fields.get("client_name")),
        address: context.address_text(),
        project: None,
        cluster: fields
            .optional("cluster")
            .and_then(|id| client_api.cluster_name(id)),
    };
    let started = client_api.store.device_codes().start(&new, now).await?;
    let page = format!("{}/oauth2/device", client_api.hosts.main());
    let user_code = started.user_code.expose_secret();
    let mut answer = Json(json!({
        "device_code": started.device_code.expose_secret(),
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": started.expires_at.as_second() - now.as_second(),
        "interval": started.interval,
    }))
    .into_response();
    harden(answer.headers_mut());
    Ok(answer)
}

/// `GET /oauth2/device`: for signed-in users; shows the waiting request, or asks for the code.
pub(crate) async fn get(
    State(client_api): State<Arc<ClientApi>>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let Some(code) = query.optional("user_code") else {
        return Ok(enter_code("", None, StatusCode::OK).into_response());
    };
    let now = client_api.clock.now();
    let found = match client_api.find_device(&caller, code, now).await? {
        Ok(found) => found,
        Err(wait) => {
            let seconds = wait.as_secs().max(1);
            let text = format!("Too many wrong codes. Wait {seconds} seconds, then try again.");
            let page = enter_code(
                "",
                Some(&Notice::Failure(text)),
                StatusCode::TOO_MANY_REQUESTS,
            );
            let mut answer = page.into_response();
            let headers = answer.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            return Ok(answer);
        }
    };
    let Some(request) = found else {
        let notice = Notice::Failure(
            "No terminal is waiting for this code. It may have expired; start again in the \
             terminal."
                .to_owned(),
        );
        return Ok(enter_code(code, Some(&notice), StatusCode::NOT_FOUND).into_response());
    };
    let page = Approval {
        user: &caller.session.user.name,
        client: &request.client,
        address: &request.address,
        projects: &project_names(&caller.live),
        cluster: request.cluster.as_deref(),
        csrf: caller.session.csrf.expose_secret(),
        action: "/oauth2/device/decision",
        fields: &[("user_code", code)],
        code: Some(&as_shown(code)),
        redirects_to: None,
    };
    Ok(page.page().into_response())
}

/// `POST /oauth2/device/decision`: approves or denies the request.
pub(crate) async fn decide(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    SignedInForm { caller, fields }: SignedInForm,
) -> Result<Response, Interrupt> {
    let code = fields.get("user_code");
    let approved = fields.get("decision") == "approve";
    let now = client_api.clock.now();
    let codes = client_api.store.device_codes();
    let found = client_api.find_device(&caller, code, now).await?;
    let found = found.map_err(|wait| {
        Problem::throttled("Too many wrong codes", "Too many codes were wrong.", wait)
    })?;
    let Some(request) = found else {
        return Err(expired().into());
    };
    if !codes
        .decide(code, approved.then_some(caller.live.id), now)
        .await?
    {
        return Err(expired().into());
    }
    let outcome = if approved {
        Outcome::Succeeded
    } else {
        Outcome::Denied
    };
    let event = Event::new("cli.approve", outcome)
        .session(&caller.session)
        .target(&request.client)
        .reason("device code");
    client_api.audit.record(&context, event).await;
    Ok(decided(approved).into_response())
}

impl ClientApi {
    /// Finds the request that waits with a code. The attempt is reserved before the code is looked
    /// up, so that concurrent guesses count; the code of a waiting terminal does not count.
    ///
    /// # Errors
    ///
    /// Returns how long to wait.
    async fn find_device(
        &self,
        caller: &Caller,
        code: &str,
        now: Timestamp,
    ) -> Result<Result<Option<DeviceRequest>, SignedDuration>, Problem> {
        let subject = format!("user_code:{}", caller.session.user.id);
        let throttle = self.store.throttle();
        let place = match throttle.reserve(&subject, WRONG_CODE_LIMIT, now).await? {
            Reserved::Granted(place) => place,
            Reserved::RefusedUntil(until) => return Ok(Err(until.duration_since(now))),
        };
        let found = self.store.device_codes().find(code, now).await?;
        if found.is_some() {
            throttle.return_reservation(&place).await?;
        }
        Ok(Ok(found))
    }
}

/// Returns the code in the form that the terminal shows, however it was typed, so that users can
/// compare the two.
fn as_shown(code: &str) -> String {
    let letters: String = code
        .chars()
        .filter(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_uppercase())
        .collect();
    match letters.split_at_checked(4) {
        Some((first, second)) if !second.is_empty() => format!("{first}-{second}"),
        _ => letters,
    }
}

fn expired() -> Problem {
    Problem::downstream(
        StatusCode::NOT_FOUND,
        "device_code",
        "This code has expired",
        "It was already approved or denied, or is too old. Start again in the terminal.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_shown_as_the_terminal_shows_it() {
        for typed in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk "] {
            assert_eq!(as_shown(typed), "BCDF-GHJK");
        }
        assert_eq!(as_shown("bc"), "BC");
    }
}
