//! `/oauth2/saved_form`: offers a saved form to its user, and submits or discards it.
use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{FromRef, FromRequest, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, Request, StatusCode, header};
use portico_store::{Outcome, SavedForm};
use secrecy::ExposeSecret as _;

use super::SavedForms;
use crate::{
    audit::Event,
    authentication::{
        Authentication, check_csrf,
        extract::{self, SignedIn, SignedInForm},
    },
    browser_state::BrowserState,
    http::{
        csrf, error_response::Problem, forms, interrupt::Interrupt, redirect::see_other,
        security_headers::harden,
    },
    pages::saved_form,
    request_context::Context,
    sessions::live::Caller,
};

/// Bounds the body of a saved form, in bytes, with room for a longer token.
const MAX_BODY_BYTES: usize = (64 << 10) + 256;

/// A saved form as its user submits it. The body is the form itself, of any fields, and must have
/// the session's CSRF token; nothing else of it is read, as the browser sends it again to its
/// target.
pub(crate) struct SubmittedForm(Caller);

impl<S> FromRequest<S> for SubmittedForm
where
    S: Send + Sync,
    Arc<Authentication>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, Interrupt> {
        let (mut parts, body) = request.into_parts();
        let caller = extract::caller(&mut parts, &Arc::from_ref(state)).await?;
        let body = forms::read(body, MAX_BODY_BYTES).await?;
        let token = url::form_urlencoded::parse(&body)
            .find(|(name, _)| name == csrf::FIELD)
            .map(|(_, value)| value.into_owned());
        check_csrf(&caller, token.as_deref().unwrap_or_default())?;
        Ok(Self(caller))
    }
}

pub(crate) async fn get(
    State(saved_forms): State<Arc<SavedForms>>,
    SignedIn(caller): SignedIn,
    browser: BrowserState,
) -> Result<Response, Interrupt> {
    let Some(form) = saved_forms.saved_form(&browser, &caller).await? else {
        return Ok(saved_form::nothing().into_response());
    };
    let page = saved_form::SavedFormPage {
        user: &caller.session.user.name,
        target: &form.target,
        fields: url::form_urlencoded::parse(form.body.expose_secret().as_bytes())
            .filter(|(name, _)| name != csrf::FIELD)
            .collect(),
        expires_at: form.expires_at,
        csrf: caller.session.csrf.expose_secret(),
    };
    Ok(page.page().into_response())
}

/// `POST /oauth2/saved_form`: the form is submitted with the session's own token, and redirected to its
/// original target. 307 keeps method and body (RFC 9110 section 15.4.8).
pub(crate) async fn send(
    State(saved_forms): State<Arc<SavedForms>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    SubmittedForm(caller): SubmittedForm,
) -> Result<Response, Interrupt> {
    let taken = saved_forms
        .take(&context, &browser, &caller, "form.send")
        .await?;
    let Some(form) = taken else {
        return Ok(saved_form::nothing().into_response());
    };
    let mut answer = StatusCode::TEMPORARY_REDIRECT.into_response();
    let target = HeaderValue::try_from(form.target).map_err(|_| Problem::internal())?;
    answer.headers_mut().insert(header::LOCATION, target);
    harden(answer.headers_mut());
    Ok(answer)
}

/// `POST /oauth2/saved_form/discard`: deletes the saved form.
pub(crate) async fn discard(
    State(saved_forms): State<Arc<SavedForms>>,
    Extension(context): Extension<Context>,
    browser: BrowserState,
    SignedInForm { caller, .. }: SignedInForm,
) -> Result<Response, Interrupt> {
    saved_forms
        .take(&context, &browser, &caller, "form.discard")
        .await?;
    Ok(see_other("/"))
}

impl SavedForms {
    /// Returns the form that waits for this browser, if it belongs to the caller.
    async fn saved_form(
        &self,
        browser: &BrowserState,
        caller: &Caller,
    ) -> Result<Option<SavedForm>, Interrupt> {
        let Some(secret) = browser.saved_form().await? else {
            return Ok(None);
        };
        let forms = self.store.saved_forms();
        let user = &caller.session.user.id;
        Ok(forms
            .find(secret.expose_secret(), user, self.clock.now())
            .await?)
    }

    /// Removes a form from the store, so that two clicks submit it once.
    async fn take(
        &self,
        context: &Context,
        browser: &BrowserState,
        caller: &Caller,
        action: &'static str,
    ) -> Result<Option<SavedForm>, Interrupt> {
        let Some(form) = self.saved_form(browser, caller).await? else {
            return Ok(None);
        };
        let taken = self.store.saved_forms().forget(form.id).await?;
        browser.forget_saved_form().await;
        if !taken {
            return Ok(None);
        }
        let path = form.target.split('?').next().unwrap_or_default();
        let event = Event::new(action, Outcome::Succeeded)
            .session(&caller.session)
            .target(path);
        self.audit.record(context, event).await;
        Ok(Some(form))
    }
}
