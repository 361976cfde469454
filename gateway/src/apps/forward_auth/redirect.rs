//! `/oauth2/auth/redirect` and `/oauth2/ext_authz/…`: answer 200, or the response for the browser.
//! For proxies that forward Portico's response; those that only read the status use `/oauth2/auth`.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use super::{
    ForwardAuth,
    answer::EMPTY,
    authorize::{AuthDecision, AuthRequest},
};
use crate::{
    apps::handover,
    authentication::NoSession,
    hosts::Site,
    http::{error_response::Problem, interrupt::Interrupt, return_path::ReturnPath},
    own_paths::EXT_AUTHZ,
    request_context::Context,
};

pub(crate) async fn answer(
    State(forward_auth): State<Arc<ForwardAuth>>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let question = forward_auth.question(&context, &method, &uri, &headers)?;
    forward_auth.answer_for_browsers(&question).await
}

/// Answers Envoy's `ext_authz`, which sends the request's own method, host and path, the last
/// behind a prefix of Portico's, and takes only 200 as permission. No header has to be trusted: a
/// forged request only decides about itself.
pub(crate) async fn of_envoy(
    State(forward_auth): State<Arc<ForwardAuth>>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let target = uri
        .path_and_query()
        .and_then(|target| target.as_str().get(EXT_AUTHZ.len() - 1..))
        .ok_or_else(Problem::not_found)?;
    let question = forward_auth.question_in_url(&context, &method, target, &headers)?;
    let mut answer = forward_auth.answer_for_browsers(&question).await?;
    if answer.status() == StatusCode::OK && question.is_for_the_app() {
        // the bearer token was for Portico, not for the app, and Envoy only replaces headers
        // that are present
        answer
            .headers_mut()
            .entry(header::AUTHORIZATION)
            .or_insert(EMPTY);
    }
    Ok(answer)
}

impl ForwardAuth {
    async fn answer_for_browsers(&self, question: &AuthRequest<'_>) -> Result<Response, Interrupt> {
        match self.authorize(question).await? {
            AuthDecision::Open { caller, key } => Ok(self
                .allowed(StatusCode::OK, question, caller.as_ref(), key.as_ref())
                .await?),
            AuthDecision::SignIn(missing) => Err(self.lead_to_sign_in(question, missing)),
            AuthDecision::SignInAgain { app, refusal } => {
                let page = question.context.navigation && question.method.is_safe();
                Err(match &question.context.site {
                    // the main host asks for it during the hand-over
                    Site::App(_) if page => self.lead_to_sign_in(question, NoSession::NoCookie),
                    _ => self
                        .authorization
                        .ask_to_sign_in_again(&app, &refusal)
                        .into(),
                })
            }
            refused @ AuthDecision::Refused { .. } => {
                Ok(self.answer_refused(question.context, refused).await)
            }
        }
    }

    fn lead_to_sign_in(&self, question: &AuthRequest<'_>, missing: NoSession) -> Interrupt {
        let AuthRequest {
            context, headers, ..
        } = question;
        let target = question.forwarded.target.as_deref().unwrap_or("/");
        match &context.site {
            Site::App(app) => {
                let path = ReturnPath::parse(target);
                handover::begin_for(
                    &self.handovers,
                    context,
                    app,
                    &question.method,
                    headers,
                    &path,
                )
            }
            Site::Main => {
                let uri: Uri = target.parse().unwrap_or_default();
                match self
                    .authentication
                    .not_signed_in(context, headers, &uri, missing)
                {
                    Interrupt::Answer(answer) => Interrupt::Answer(Box::new(self.at_home(*answer))),
                    problem => problem,
                }
            }
        }
    }

    /// Makes a relative `Location` absolute: some proxies resolve it against the address of their
    /// authorization request.
    fn at_home(&self, mut answer: Response) -> Response {
        let location = answer.headers().get(header::LOCATION);
        let absolute = location
            .and_then(|location| location.to_str().ok())
            .filter(|location| location.starts_with('/'))
            .and_then(|path| HeaderValue::try_from(format!("{}{path}", self.hosts.main())).ok());
        if let Some(absolute) = absolute {
            answer.headers_mut().insert(header::LOCATION, absolute);
        }
        answer
    }
}
