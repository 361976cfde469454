//! Saves a form that arrives after its session has expired.
use axum::{body::Body, response::Response};
use http::{HeaderMap, Method, Request, StatusCode, header};
use jiff::Timestamp;
use portico_store::{EndReason, NewSavedForm, Outcome, Session, SessionKind};
use secrecy::{ExposeSecret as _, SecretString};

use super::SavedForms;
use crate::{
    audit::Event,
    http::{
        cookies::Purpose,
        forms,
        interrupt::Interrupt,
        redirect::{see_other, with_cookie},
        return_path::ReturnPath,
    },
    request_context::Context,
};

/// Bounds the body of a form, in bytes, as the forms' own handlers do.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Sign-in with a message, and back to the page that offers the form.
const SIGN_IN: &str = "/oauth2/sign_in?rd=%2Foauth2%2Fsaved_form&reason=form_saved";

impl SavedForms {
    /// Saves the form of a user whose session has expired, and redirects to sign-in. Every other
    /// request gets the response that it would have got anyway.
    pub async fn save_form(
        &self,
        context: &Context,
        request: Request<Body>,
        otherwise: Interrupt,
    ) -> Interrupt {
        let leads_to_sign_in = matches!(
            &otherwise,
            Interrupt::Answer(answer) if answer.status() == StatusCode::SEE_OTHER
        );
        if !leads_to_sign_in || !context.navigation || !is_form(&request) {
            return otherwise;
        }
        match self.saved(context, request).await {
            Some(answer) => Interrupt::Answer(Box::new(answer)),
            None => otherwise,
        }
    }

    async fn saved(&self, context: &Context, request: Request<Body>) -> Option<Response> {
        let target = request.uri().path_and_query()?.as_str().to_owned();
        if ReturnPath::parse(&target).as_str() != target {
            return None;
        }
        let now = self.clock.now();
        let session = self.expired_session(request.headers(), now).await?;
        let browser = self.browser_states.open(context, request.headers());
        let body = forms::read(request.into_body(), MAX_BODY_BYTES)
            .await
            .ok()?;
        let body = SecretString::from(String::from_utf8(body.to_vec()).ok()?);
        let new = NewSavedForm {
            user_id: session.user.id.clone(),
            target: target.clone(),
            body,
        };
        let secret = match self.store.saved_forms().save(&new, now).await {
            Ok(secret) => secret,
            Err(error) => {
                tracing::warn!(%error, "a form could not be saved");
                return None;
            }
        };
        if !browser.remember_saved_form(&secret).await {
            return None;
        }
        let cookie = browser.commit().await?;
        let path = target.split('?').next().unwrap_or_default();
        let event = Event::new("form.save", Outcome::Succeeded)
            .session(&session)
            .target(path);
        self.audit.record(context, event).await;
        Some(with_cookie(see_other(SIGN_IN), Some(cookie)))
    }

    /// Returns the session of the request's cookie, if time or Keystone has ended it. After a
    /// sign-out or a revocation, no form is saved.
    async fn expired_session(&self, headers: &HeaderMap, now: Timestamp) -> Option<Session> {
        let cookie = self.cookies.read(headers, Purpose::Session)?;
        let sessions = self.store.sessions();
        let session = sessions.find_even_ended(cookie.expose_secret()).await;
        let session = session.ok()??;
        let by_time = matches!(
            session.end_reason.unwrap_or(EndReason::Expired),
            EndReason::Expired | EndReason::RefusedByKeystone
        );
        (session.kind == SessionKind::Browser && by_time && !session.is_live(now))
            .then_some(session)
    }
}

fn is_form(request: &Request<Body>) -> bool {
    request.method() == Method::POST
        && request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .and_then(|kind| kind.split(';').next())
            .is_some_and(|kind| {
                kind.trim()
                    .eq_ignore_ascii_case("application/x-www-form-urlencoded")
            })
}
