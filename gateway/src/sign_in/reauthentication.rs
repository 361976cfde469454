//! `/oauth2/reauthenticate`: replaces the Keystone tokens of a session that continues, for the same
//! user only.
//!
//! `POST` takes a form or JSON with `password` and, where Keystone asks for it, `passcode`; or with
//! an application credential (`credential`, `secret`) for a session that is bound to its project;
//! or with a `token`. `GET` is a page with the methods that are possible for the session.
use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode, Uri};
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::{AuthOutcome, IssuedToken, TokenScope};
use portico_store::{Outcome, Renewal};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use tokio::time::Instant;

use super::{
    SignIn,
    establish::span,
    keystone::{
        application_credential::CredentialReference,
        attempt::{Claimed, Failed},
        totp::plain_code,
    },
    wording::failure,
};
use crate::{
    audit::Event,
    authentication::extract::{SessionForm, SignedIn},
    config::KeystoneMethod,
    http::{
        cookies::Purpose,
        error_response::Problem,
        forms::Fields,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    metrics::{self, TokenOperation},
    pages::reauthenticate::Again,
    request_context::Context,
    sessions::{keystone_tokens::bound_to, live::Caller},
};

/// How long the old tokens stay valid, for requests in flight.
const OLD_TOKEN_GRACE: SignedDuration = SignedDuration::from_secs(30);

/// The result of a successful reauthentication.
struct Proved {
    issued: IssuedToken,
    /// When the user authenticated; `None` if that is unknown.
    at: Option<Timestamp>,
}

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let return_path = ReturnPath::from_query(query.optional("rd"));
    let root = caller.live.root();
    if let Some(provider) = &root.provider {
        // users of an OIDC provider reauthenticate at the provider
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("provider", &provider.id)
            .append_pair("prompt", "login")
            .append_pair("reauthenticate", "1")
            .append_pair("rd", return_path.as_str())
            .finish();
        return Ok(see_other(&format!("/oauth2/start?{query}")));
    }
    let page = Again {
        user: &root.user.name,
        bound_to: bound_to(&root).map(|project| project.name.as_str()),
        keystone: &sign_in.keystone_methods,
        return_path: return_path.as_str(),
        csrf: caller.session.csrf.expose_secret(),
    };
    Ok(page.page().into_response())
}

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    uri: Uri,
    headers: HeaderMap,
    SessionForm { caller, mut fields }: SessionForm,
) -> Result<Response, Interrupt> {
    let caller = match caller {
        Ok(caller) => caller,
        Err(missing) => {
            return Err(crate::authentication::sign_in_first(
                &context, &uri, missing,
            ));
        }
    };
    let started = Instant::now();
    let count = |outcome| metrics::token(TokenOperation::Reauthentication, outcome, started);
    let proved = match sign_in
        .prove(&context, &headers, &caller, &mut fields)
        .await
    {
        Ok(proved) => proved,
        Err(problem) => {
            count(if problem.status.is_server_error() {
                metrics::Outcome::Failed
            } else {
                metrics::Outcome::Refused
            });
            return Err(problem.into());
        }
    };
    let replaced = sign_in
        .go_on(&context, &caller, &proved.issued, proved.at)
        .await;
    count(match &replaced {
        Ok(_) => metrics::Outcome::Succeeded,
        Err(_) => metrics::Outcome::Failed,
    });
    let secret = replaced?;
    let cookie = sign_in.cookies.set(Purpose::Session, &secret);
    if context.navigation {
        let back = ReturnPath::from_query(fields.optional("rd"));
        return Ok(with_cookie(see_other(back.as_str()), cookie));
    }
    let ends = caller.live.root();
    let ends = ends.absolute_expires_at.min(ends.keystone_expires_at);
    let mut answer = Json(json!({ "session_expires_at": ends.as_second() })).into_response();
    crate::http::security_headers::harden(answer.headers_mut());
    Ok(with_cookie(answer, cookie))
}

impl SignIn {
    /// Returns a new token for the credentials that were sent, and when the user authenticated.
    async fn prove(
        &self,
        context: &Context,
        headers: &HeaderMap,
        caller: &Caller,
        fields: &mut Fields,
    ) -> Result<Proved, Problem> {
        let secret = fields.secret("secret");
        let token = fields.secret("token");
        if !secret.expose_secret().is_empty() {
            self.offered(KeystoneMethod::ApplicationCredential, &ReturnPath::home())?;
            let named = CredentialReference::of(fields);
            let attempted = self
                .try_application_credential(context, headers, &named, &secret)
                .await;
            return attempted
                .map(|issued| self.proved_now(issued))
                .map_err(refusal);
        }
        if !token.expose_secret().is_empty() {
            self.offered(KeystoneMethod::Token, &ReturnPath::home())?;
            let attempted = self
                .try_token(context, headers, &token)
                .await
                .map_err(refusal)?;
            // the age of an existing token is unknown
            return Ok(Proved {
                issued: attempted.own,
                at: None,
            });
        }
        let password = fields.secret("password");
        let code = plain_code(&fields.secret("passcode"));
        self.prove_password(context, headers, caller, &password, code)
            .await
            .map(|issued| self.proved_now(issued))
    }

    fn proved_now(&self, issued: IssuedToken) -> Proved {
        Proved {
            issued,
            at: Some(self.clock.now()),
        }
    }

    /// Continues a session with a new token and a new cookie. The token must be of the session's
    /// own user, and for the project that the session is bound to.
    pub(super) async fn go_on(
        &self,
        context: &Context,
        caller: &Caller,
        issued: &IssuedToken,
        proved_at: Option<Timestamp>,
    ) -> Result<SecretString, Interrupt> {
        let root = caller.live.root();
        let fits = match bound_to(&root) {
            Some(project) => {
                let given = issued.details.identity.project.as_ref();
                given.is_some_and(|given| given.id == project.id)
            }
            None => issued.details.scope == TokenScope::Unscoped,
        };
        if !fits || issued.details.identity.user.id != root.user.id {
            self.sessions.revoke(&issued.token).await;
            return Err(Problem::downstream(
                StatusCode::FORBIDDEN,
                "refused",
                "We could not verify that it is you",
                "This is a different account or project from this session's. Only the session's \
                 own account can continue it.",
            )
            .into());
        }
        let methods = issued.details.methods.clone();
        let secret = self
            .replace_tokens(caller, Some(issued), methods, proved_at)
            .await?;
        let event =
            Event::new("session.reauthenticate", Outcome::Succeeded).session(&caller.session);
        self.audit.record(context, event).await;
        Ok(secret)
    }

    /// Returns a new token for the password of the session's own user.
    async fn prove_password(
        &self,
        context: &Context,
        headers: &HeaderMap,
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
            .try_password(context, headers, &readings, password)
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
                    .try_passcode(context, headers, &claimed, code.clone(), receipt)
                    .await
                    .map_err(refusal)?;
                let AuthOutcome::Token(issued) = outcome else {
                    return Err(refusal(Failed::Refused));
                };
                if !self.first_use(&user.id, &code).await? {
                    self.sessions.revoke(&issued.token).await;
                    return Err(refusal(Failed::Refused));
                }
                *issued
            }
        };
        Ok(issued)
    }

    /// Stores the new token, lets the old ones expire soon, and gives the session a new cookie.
    pub async fn replace_tokens(
        &self,
        caller: &Caller,
        issued: Option<&IssuedToken>,
        auth_methods: Vec<String>,
        authenticated_at: Option<Timestamp>,
    ) -> Result<SecretString, Interrupt> {
        let root = caller.live.id;
        let now = self.clock.now();
        let tokens = self.store.keystone_tokens();
        let old = tokens.list(root).await?;
        if let Some(issued) = issued {
            self.sessions.store_token(root, issued).await?;
        }
        let before = caller.live.root();
        let stays = self.store.session_credentials().of_session(root, now);
        let stays_until = stays.await?.map(|credential| credential.expires_at);
        let ends = issued.map_or(before.keystone_expires_at, |issued| {
            issued.details.expires_at
        });
        let renewal = Renewal {
            auth_methods,
            idle_expires_at: now + span(self.session.idle),
            absolute_expires_at: before.absolute_expires_at,
            keystone_expires_at: stays_until.unwrap_or(ends).max(ends),
            authenticated_at,
        };
        let Some(secret) = self.store.sessions().renew(root, &renewal, now).await? else {
            return Err(Problem::signed_out().into());
        };
        for token in old {
            tokens.revoke_later(token.id, now + OLD_TOKEN_GRACE).await?;
        }
        caller.live.forget_tokens();
        self.sessions.registry.refresh(root);
        self.sessions.registry.recheck(&caller.live).await?;
        // streams were opened with the old token: clients reconnect with the new one
        caller.live.connections.renew();
        Ok(secret)
    }
}

fn refusal(failed: Failed) -> Problem {
    let code = match &failed {
        Failed::Throttled(_) => "throttled",
        Failed::KeystoneUnavailable(_) => "keystone_unavailable",
        Failed::Refused | Failed::Unfit(_) | Failed::Problem(_) => "refused",
    };
    let retry_after = failed.retry_after();
    match failure(failed) {
        Ok((text, status)) => {
            // 401 would mean "signed out" to the client
            let status = if status == StatusCode::UNAUTHORIZED {
                StatusCode::FORBIDDEN
            } else {
                status
            };
            let mut problem =
                Problem::downstream(status, code, "We could not verify that it is you", text);
            problem.retry_after = retry_after.and_then(|seconds| u16::try_from(seconds).ok());
            problem
        }
        Err(problem) => problem,
    }
}
