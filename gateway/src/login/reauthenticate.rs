//! `POST /oauth2/reauthenticate`: new Keystone tokens for a session that goes on, same user only.
//! A form or JSON with `password` and, where Keystone asks for it, `passcode`.
use std::time::Instant;

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, Uri};
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::{AuthOutcome, IssuedToken};
use portico_store::{Outcome, Renewal};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::{
    attempt::{Claimed, Failed},
    establish::span,
    sign_in::failure,
    totp::plain_code,
};
use crate::{
    access::{csrf, return_path::ReturnPath},
    audit::Event,
    forms::Fields,
    guard::{Stop, check_csrf, see_other, with_cookie},
    meters::{self, TokenOperation},
    problem::Problem,
    session::{cookie::Purpose, live::Caller},
    state::{Context, Gateway, Shared},
};

/// Requests on their way may still use the old tokens.
const GRACE: SignedDuration = SignedDuration::from_secs(30);

pub(crate) async fn post(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    uri: Uri,
    headers: HeaderMap,
    mut fields: Fields,
) -> Result<Response, Stop> {
    let caller = match gateway.lookup(&headers, None).await? {
        Ok(caller) => caller,
        Err(missing) => return Err(crate::guard::sign_in_first(&context, &uri, missing)),
    };
    let sent = headers
        .get("x-csrf-token")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_else(|| fields.get(csrf::FIELD))
        .to_owned();
    check_csrf(&caller, &sent)?;
    let password = fields.secret("password");
    let code = plain_code(&fields.secret("passcode"));
    let started = Instant::now();
    let count = |outcome| meters::token(TokenOperation::Reauthentication, outcome, started);
    let issued = match gateway.prove(&context, &caller, &password, code).await {
        Ok(issued) => issued,
        Err(problem) => {
            count(if problem.status.is_server_error() {
                meters::Outcome::Failed
            } else {
                meters::Outcome::Refused
            });
            return Err(problem.into());
        }
    };
    let replaced = gateway.replace_tokens(&caller, &issued).await;
    count(if replaced.is_ok() {
        meters::Outcome::Succeeded
    } else {
        meters::Outcome::Failed
    });
    let secret = replaced?;
    let event = Event::new("session.reauthenticate", Outcome::Succeeded).session(&caller.session);
    gateway.audit(&context, event).await;

    let cookie = gateway.cookies.set(Purpose::Session, &secret);
    if context.navigation {
        let back = ReturnPath::from_query(fields.optional("rd"));
        return Ok(with_cookie(see_other(back.as_str()), cookie));
    }
    let ends = caller.live.root();
    let ends = ends.absolute_expires_at.min(ends.keystone_expires_at);
    let mut answer = Json(json!({ "session_expires_at": ends.as_second() })).into_response();
    crate::pages::layout::harden(answer.headers_mut());
    Ok(with_cookie(answer, cookie))
}

impl Gateway {
    /// A new token for the session's own user.
    async fn prove(
        &self,
        context: &Context,
        caller: &Caller,
        password: &SecretString,
        code: SecretString,
    ) -> Result<IssuedToken, Problem> {
        let user = &caller.session.user;
        let claimed = Claimed {
            name: user.name.clone(),
            domain: user.domain.name.clone(),
        };
        let readings = [claimed.clone()];
        let (_, outcome) = self
            .try_password(context, &readings, password)
            .await
            .map_err(refusal)?;
        let issued = match outcome {
            AuthOutcome::Token(issued) => *issued,
            AuthOutcome::ReceiptRequired { .. } if code.expose_secret().is_empty() => {
                return Err(Problem::downstream(
                    StatusCode::FORBIDDEN,
                    "passcode_required",
                    "A one-time code is needed",
                    "Type the code that your authenticator app shows.",
                ));
            }
            AuthOutcome::ReceiptRequired { receipt, .. } => {
                let outcome = self
                    .try_passcode(context, &claimed, code.clone(), receipt)
                    .await
                    .map_err(refusal)?;
                let AuthOutcome::Token(issued) = outcome else {
                    return Err(refusal(Failed::Refused));
                };
                if !self.first_use(&user.id, &code).await? {
                    self.revoke(&issued.token).await;
                    return Err(refusal(Failed::Refused));
                }
                *issued
            }
        };
        if issued.details.identity.user.id != user.id {
            self.revoke(&issued.token).await;
            return Err(refusal(Failed::Refused));
        }
        Ok(issued)
    }

    /// Stores the new token, lets the old ones run out soon, and gives the session a new cookie.
    async fn replace_tokens(
        &self,
        caller: &Caller,
        issued: &IssuedToken,
    ) -> Result<SecretString, Stop> {
        let root = caller.live.id;
        let now = Timestamp::now();
        let tokens = self.store.keystone_tokens();
        let old = tokens.list(root).await?;
        self.store_token(root, issued).await?;
        let renewal = Renewal {
            auth_methods: issued.details.methods.clone(),
            idle_expires_at: now + span(self.config.session.idle),
            absolute_expires_at: caller.live.root().absolute_expires_at,
            keystone_expires_at: issued.details.expires_at,
        };
        let Some(secret) = self.store.sessions().renew(root, &renewal, now).await? else {
            return Err(Problem::signed_out().into());
        };
        for token in old {
            tokens.revoke_later(token.id, now + GRACE).await?;
        }
        caller.live.forget_tokens();
        self.registry.refresh(root);
        self.registry.recheck(&caller.live).await?;
        // streams were opened with the old token: they come back with the new one
        caller.live.connections.renew();
        Ok(secret)
    }
}

fn refusal(failed: Failed) -> Problem {
    let code = match &failed {
        Failed::Throttled(_) => "throttled",
        Failed::KeystoneUnavailable => "keystone_unavailable",
        Failed::Refused | Failed::Problem(_) => "refused",
    };
    match failure(failed) {
        Ok((text, status)) => {
            // 401 would read as "signed out" to whoever sent this
            let status = if status == StatusCode::UNAUTHORIZED {
                StatusCode::FORBIDDEN
            } else {
                status
            };
            Problem::downstream(status, code, "You could not be confirmed", text)
        }
        Err(problem) => problem,
    }
}
