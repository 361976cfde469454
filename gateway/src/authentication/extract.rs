//! Extractors of who is asking, and of forms.
//!
//! A form is read together with the proof that its sender meant to send it: [`SignedInForm`] and
//! [`SessionForm`] check the session's CSRF token. A handler that checks another proof takes a
//! [`FormWithoutCsrf`]. [`Fields`] alone are not an extractor, so that the check cannot be
//! forgotten.
use std::sync::Arc;

use axum::{
    RequestPartsExt as _,
    body::Body,
    extract::{FromRef, FromRequest, FromRequestParts, OriginalUri},
};
use http::{HeaderMap, Request, request::Parts};

use super::{Authentication, NoSession, check_csrf};
use crate::{
    http::{csrf, error_response::Problem, forms::Fields, interrupt::Interrupt},
    request_context::Context,
    sessions::live::Caller,
};

/// The header in which scripts send the CSRF token.
const CSRF_HEADER: &str = "x-csrf-token";

/// The user who opens a page: the browser session of the main host, recently validated by Keystone.
/// Others are redirected to sign-in and back. Only for methods that change nothing; every other
/// request is refused, as it needs a [`SignedInForm`].
pub(crate) struct SignedIn(pub Caller);

impl<S> FromRequestParts<S> for SignedIn
where
    S: Send + Sync,
    Arc<Authentication>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Interrupt> {
        if !parts.method.is_safe() {
            return Err(Problem::method_not_allowed().into());
        }
        Ok(Self(caller(parts, &Arc::from_ref(state)).await?))
    }
}

/// The user of the browser session of the main host, recently validated by Keystone. Others get
/// 401, browsers too: for endpoints that scripts and programs read. Only for methods that change
/// nothing.
pub(crate) struct SignedInWithoutRedirect(pub Caller);

impl<S> FromRequestParts<S> for SignedInWithoutRedirect
where
    S: Send + Sync,
    Arc<Authentication>: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if !parts.method.is_safe() {
            return Err(Problem::method_not_allowed());
        }
        let authentication: Arc<Authentication> = Arc::from_ref(state);
        let context = context(parts)?;
        let caller = authentication.lookup(&parts.headers, None).await?;
        let caller = caller.map_err(|_| Problem::signed_out())?;
        authentication
            .ensure_valid(&context, &caller)
            .await?
            .map_err(|_| Problem::signed_out())?;
        Ok(Self(caller))
    }
}

/// The form of a signed-in user, with the session's CSRF token. Without a session, a browser is
/// redirected to sign-in.
pub(crate) struct SignedInForm {
    pub caller: Caller,
    pub fields: Fields,
}

impl<S> FromRequest<S> for SignedInForm
where
    S: Send + Sync,
    Arc<Authentication>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, Interrupt> {
        let (mut parts, body) = request.into_parts();
        let fields = Fields::of_body(&parts.headers, body).await?;
        let caller = caller(&mut parts, &Arc::from_ref(state)).await?;
        check_csrf(&caller, csrf_token(&parts.headers, &fields))?;
        Ok(Self { caller, fields })
    }
}

/// A form that is answered with and without a session; with one, it has the session's CSRF token.
pub(crate) struct SessionForm {
    pub caller: Result<Caller, NoSession>,
    pub fields: Fields,
}

impl<S> FromRequest<S> for SessionForm
where
    S: Send + Sync,
    Arc<Authentication>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, Interrupt> {
        let (parts, body) = request.into_parts();
        let fields = Fields::of_body(&parts.headers, body).await?;
        let authentication: Arc<Authentication> = Arc::from_ref(state);
        let caller = authentication.lookup(&parts.headers, None).await?;
        if let Ok(caller) = &caller {
            check_csrf(caller, csrf_token(&parts.headers, &fields))?;
        }
        Ok(Self { caller, fields })
    }
}

/// A form without the session's CSRF token. Its handler checks another proof: a secret of the sign-in
/// in progress, a code that is valid once, or a credential.
pub(crate) struct FormWithoutCsrf(pub Fields);

impl<S: Sync> FromRequest<S> for FormWithoutCsrf {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        Ok(Self(Fields::of_body(&parts.headers, body).await?))
    }
}

/// Returns the context of a request, which the dispatcher adds to every request.
pub(crate) fn context(parts: &Parts) -> Result<Context, Problem> {
    let context = parts.extensions.get::<Context>().cloned();
    context.ok_or_else(Problem::internal)
}

/// Returns the browser session of a request to the main host, recently validated by Keystone. For
/// extractors only.
pub(crate) async fn caller(
    parts: &mut Parts,
    authentication: &Authentication,
) -> Result<Caller, Interrupt> {
    let context = context(parts)?;
    let OriginalUri(uri) = match parts.extract::<OriginalUri>().await {
        Ok(uri) => uri,
        Err(never) => match never {},
    };
    authentication.browser(&context, &parts.headers, &uri).await
}

fn csrf_token<'f>(headers: &'f HeaderMap, fields: &'f Fields) -> &'f str {
    headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_else(|| fields.get(csrf::FIELD))
}
