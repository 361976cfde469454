//! `/oauth2/auth`: answers 202, 401 or 403, and 503 only when no decision is possible; never a
//! redirect, whatever the request looks like, and at most one `Set-Cookie`. Proxies rely on this:
//! they treat every other status as an error of their own.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri};

use super::{ForwardAuth, answer::vary, authorize::AuthDecision};
use crate::{
    http::{error_response::Problem, interrupt::Interrupt},
    request_context::Context,
};

pub(crate) async fn answer(
    State(forward_auth): State<Arc<ForwardAuth>>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let answer = forward_auth.status(&context, &method, &uri, &headers).await;
    let mut answer = answer.unwrap_or_else(Interrupt::into_response);
    keep_to_the_contract(&mut answer);
    answer
}

impl ForwardAuth {
    async fn status(
        &self,
        context: &Context,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Response, Interrupt> {
        let question = self.question(context, method, uri, headers)?;
        match self.authorize(&question).await? {
            AuthDecision::Open { caller, key } => {
                let status = StatusCode::ACCEPTED;
                Ok(self
                    .allowed(status, &question, caller.as_ref(), key.as_ref())
                    .await?)
            }
            AuthDecision::SignIn(_) => Err(Problem::signed_out().into()),
            AuthDecision::SignInAgain { app, refusal } => Err(self
                .authorization
                .ask_to_sign_in_again(&app, &refusal)
                .into()),
            refused @ AuthDecision::Refused { .. } => {
                Ok(self.answer_refused(context, refused).await)
            }
        }
    }
}

fn keep_to_the_contract(answer: &mut Response) {
    if let Some(problem) = answer.extensions_mut().get_mut::<Problem>() {
        problem.status = of_the_contract(problem.status);
    }
    let status = answer.status_mut();
    *status = of_the_contract(*status);
    vary(answer.headers_mut());
}

/// Maps a status to one that proxies understand: every other refusal becomes 403, and every failure
/// of Portico 503.
fn of_the_contract(status: StatusCode) -> StatusCode {
    match status {
        StatusCode::ACCEPTED | StatusCode::UNAUTHORIZED => status,
        failed if failed.is_server_error() => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::FORBIDDEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_four_answers() {
        for status in 100..=599 {
            let status = StatusCode::from_u16(status).expect("status");
            let answered = of_the_contract(status).as_u16();
            assert!(
                [202, 401, 403, 503].contains(&answered),
                "{status}: {answered}"
            );
            assert_eq!(answered == 202, status == StatusCode::ACCEPTED, "{status}");
        }
    }
}
