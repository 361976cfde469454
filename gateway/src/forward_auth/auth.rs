//! `/oauth2/auth`: 202, 401 or 403, and 503 only when it cannot be decided; never a redirect,
//! whatever the request looks like, and at most one `Set-Cookie`. This is a contract: proxies take
//! every other status for an error of their own.
use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri};

use super::{answer::vary, judge::Verdict};
use crate::{
    guard::Stop,
    problem::Problem,
    state::{Context, Gateway, Shared},
};

pub(crate) async fn answer(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let answer = gateway.status(&context, &method, &uri, &headers).await;
    let mut answer = answer.unwrap_or_else(Stop::into_response);
    keep_to_the_contract(&mut answer);
    answer
}

impl Gateway {
    async fn status(
        &self,
        context: &Context,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Response, Stop> {
        let question = self.question(context, method, uri, headers)?;
        match self.judge(&question).await? {
            Verdict::Open { caller, key } => {
                let status = StatusCode::ACCEPTED;
                Ok(self
                    .allowed(status, &question, caller.as_ref(), key.as_ref())
                    .await?)
            }
            Verdict::SignIn(_) => Err(Problem::signed_out().into()),
            Verdict::SignInAgain { app, refusal } => {
                Err(self.ask_to_sign_in_again(&app, &refusal).into())
            }
            refused @ Verdict::Refused { .. } => Ok(self.answer_refused(context, refused).await),
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

/// What a proxy understands of a status: whatever else speaks against a request is a refusal, and
/// whatever fails of ours cannot be decided.
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
            let said = of_the_contract(status).as_u16();
            assert!([202, 401, 403, 503].contains(&said), "{status}: {said}");
            assert_eq!(said == 202, status == StatusCode::ACCEPTED, "{status}");
        }
    }
}
