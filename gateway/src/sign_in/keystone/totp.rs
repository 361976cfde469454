//! `GET` and `POST /oauth2/totp`: asks for a one-time code after a correct password.
use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::SignedDuration;
use portico_openstack::keystone::AuthOutcome;
use portico_store::SignInFlow;
use secrecy::{ExposeSecret as _, SecretString};

use super::attempt::{Claimed, Failed};
use crate::{
    authentication::extract::FormWithoutCsrf,
    browser_state::BrowserState,
    http::{
        cookies::Purpose,
        csrf,
        error_response::Problem,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    pages::sign_in::{Notice, totp},
    request_context::Context,
    sign_in::{SignIn, wording::failure},
};

const MAX_ATTEMPTS: i64 = 6;
/// How long Keystone may accept a code: it also takes the one of the previous window.
const CODE_TTL: SignedDuration = SignedDuration::from_secs(90);

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    browser: BrowserState,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let Some((cookie, flow)) = sign_in.flow(&headers).await? else {
        browser.leave_notice("code_page_ended").await;
        return Ok(see_other("/oauth2/sign_in"));
    };
    let name = flow.user_name.unwrap_or_default();
    Ok(totp(&name, &csrf::token(&cookie), None, StatusCode::OK).into_response())
}

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
    FormWithoutCsrf(mut fields): FormWithoutCsrf,
) -> Result<Response, Interrupt> {
    let Some((cookie, flow)) = sign_in.flow(&headers).await? else {
        return Ok(see_other("/oauth2/sign_in?reason=ended"));
    };
    if !csrf::matches(&cookie, fields.get(csrf::FIELD)) {
        return Err(Problem::csrf().into());
    }
    let (Some(name), Some(domain), Some(receipt)) = (
        flow.user_name.clone(),
        flow.domain.clone(),
        flow.receipt.clone(),
    ) else {
        return Ok(see_other("/oauth2/sign_in"));
    };
    let flows = sign_in.store.sign_in_flows();
    if flows
        .count_attempt(flow.id)
        .await?
        .is_none_or(|tried| tried > MAX_ATTEMPTS)
    {
        flows.finish(flow.id).await?;
        return Ok(see_other("/oauth2/sign_in?reason=ended"));
    }
    let again = |text: &str, status| {
        let notice = Notice::Failure(text.to_owned());
        totp(&name, &csrf::token(&cookie), Some(&notice), status).into_response()
    };
    let code = plain_code(&fields.secret("passcode"));
    let claimed = Claimed {
        name: name.clone(),
        domain,
    };
    let outcome = sign_in
        .try_passcode(&context, &headers, &claimed, code.clone(), receipt)
        .await;
    let issued = match outcome {
        Ok(AuthOutcome::Token(issued)) => *issued,
        Ok(AuthOutcome::ReceiptRequired { .. }) => {
            return Ok(again(
                "Your account needs a further sign-in method that Portico does not offer yet.",
                StatusCode::FORBIDDEN,
            ));
        }
        Err(Failed::Refused) => {
            let page = again(
                "This code is not right. Wait for the next one and try again.",
                StatusCode::UNAUTHORIZED,
            );
            let own = sign_in
                .attempts
                .remember_own_attempt(&headers, std::slice::from_ref(&claimed));
            return Ok(with_cookie(page, own));
        }
        Err(failed) => {
            let retry_after = failed.retry_after();
            let (text, status) = failure(failed)?;
            let mut answer = again(&text, status);
            if let Some(seconds) = retry_after {
                let headers = answer.headers_mut();
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            return Ok(answer);
        }
    };
    let user = &issued.details.identity.user.id;
    if !sign_in.first_use(user, &code).await? {
        sign_in.sessions.revoke(&issued.token).await;
        return Ok(again(
            "This code has been used before. Wait for the next one.",
            StatusCode::UNAUTHORIZED,
        ));
    }
    if !flows.finish(flow.id).await? {
        sign_in.sessions.revoke(&issued.token).await;
        return Ok(see_other("/oauth2/sign_in"));
    }
    let return_path = ReturnPath::parse(&flow.return_path);
    sign_in
        .establish(&context, &headers, issued, &return_path)
        .await
}

impl SignIn {
    async fn flow(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(SecretString, SignInFlow)>, Problem> {
        let Some(cookie) = self.cookies.read(headers, Purpose::Flow) else {
            return Ok(None);
        };
        let flow = self
            .store
            .sign_in_flows()
            .find(cookie.expose_secret(), self.clock.now())
            .await?;
        Ok(flow
            .filter(|flow| flow.receipt.is_some() && flow.return_path.starts_with('/'))
            .map(|flow| (cookie, flow)))
    }

    /// Returns whether a code is used for the first time: Keystone itself accepts it repeatedly
    /// during its lifetime.
    pub async fn first_use(&self, user_id: &str, code: &SecretString) -> Result<bool, Problem> {
        let until = self.clock.now() + CODE_TTL;
        Ok(self
            .store
            .totp_marks()
            .mark(user_id, code.expose_secret(), until)
            .await?)
    }
}

/// Returns a code in the form that Keystone expects, however it was typed.
pub(crate) fn plain_code(typed: &SecretString) -> SecretString {
    let digits: String = typed
        .expose_secret()
        .chars()
        .filter(char::is_ascii_digit)
        .take(12)
        .collect();
    SecretString::from(digits)
}
