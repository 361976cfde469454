//! `/oauth2/auth/redirect` and `/oauth2/ext_authz/…`: 200, or what the browser shall see. For proxies
//! that pass our answer on; those that take only the status ask `/oauth2/auth`.
use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use super::{
    EXT_AUTHZ,
    answer::NOTHING,
    judge::{Question, Verdict},
};
use crate::{
    access::return_path::ReturnPath,
    guard::{Missing, Stop},
    handover,
    hosts::Site,
    problem::Problem,
    state::{Context, Gateway, Shared},
};

pub(crate) async fn answer(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let question = gateway.question(&context, &method, &uri, &headers)?;
    gateway.answer_for_browsers(&question).await
}

/// Envoy's `ext_authz` sends the request's own method, host and path, the last behind a prefix of
/// ours, and takes 200 only for a yes. Nothing has to be believed: what is in the way of the answer
/// is what was asked.
pub(crate) async fn of_envoy(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let target = uri
        .path_and_query()
        .and_then(|target| target.as_str().get(EXT_AUTHZ.len() - 1..))
        .ok_or_else(Problem::not_found)?;
    let question = gateway.question_in_url(&context, &method, target, &headers)?;
    let mut answer = gateway.answer_for_browsers(&question).await?;
    if answer.status() == StatusCode::OK && question.is_for_the_app() {
        // the bearer that was for us is not for the app, and Envoy replaces only what is there
        answer
            .headers_mut()
            .entry(header::AUTHORIZATION)
            .or_insert(NOTHING);
    }
    Ok(answer)
}

impl Gateway {
    async fn answer_for_browsers(&self, question: &Question<'_>) -> Result<Response, Stop> {
        match self.judge(question).await? {
            Verdict::Open { caller, key } => Ok(self
                .allowed(StatusCode::OK, question, caller.as_ref(), key.as_ref())
                .await?),
            Verdict::SignIn(missing) => Err(self.lead_to_sign_in(question, missing)),
            Verdict::SignInAgain { app, refusal } => {
                let page = question.context.navigation && question.method.is_safe();
                Err(match &question.context.site {
                    // the main host asks on the way
                    Site::App(_) if page => self.lead_to_sign_in(question, Missing::NoCookie),
                    _ => self.ask_to_sign_in_again(&app, &refusal).into(),
                })
            }
            refused @ Verdict::Refused { .. } => {
                Ok(self.answer_refused(question.context, refused).await)
            }
        }
    }

    fn lead_to_sign_in(&self, question: &Question<'_>, missing: Missing) -> Stop {
        let Question {
            context, headers, ..
        } = question;
        let target = question.told.target.as_deref().unwrap_or("/");
        match &context.site {
            Site::App(app) => {
                let path = ReturnPath::parse(target);
                handover::begin_for(self, context, app, &question.method, headers, &path)
            }
            Site::Main => {
                let uri: Uri = target.parse().unwrap_or_default();
                match self.not_signed_in(context, headers, &uri, missing) {
                    Stop::Answer(answer) => Stop::Answer(Box::new(self.at_home(*answer))),
                    problem => problem,
                }
            }
        }
    }

    /// Some proxies take a relative `Location` for one at the address where they asked.
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
