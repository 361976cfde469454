//! The layer of the routes that know the browser's state.
use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::MethodRouter,
};
use http::{StatusCode, header};
use tower_sessions::{Session, SessionManagerLayer, cookie::SameSite};

use super::{BrowserStates, expiry, state};
use crate::http::{cookies::Purpose, error_response::Problem};

/// Adds the browser's state to routes, for [`super::BrowserState`]. Never to proxied requests: a
/// route without the layer neither reads a browser session nor sets its cookie.
pub(crate) fn with_browser_state<S>(
    routes: MethodRouter<S>,
    states: &Arc<BrowserStates>,
) -> MethodRouter<S>
where
    S: Clone + Send + Sync + 'static,
{
    let cookies = states.cookies;
    let sessions = SessionManagerLayer::new((*states.sessions).clone())
        .with_name(cookies.name(Purpose::State))
        .with_secure(cookies.secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_path("/")
        .with_expiry(expiry());
    // the last one is the first that a request meets
    routes
        .layer::<_, Infallible>(middleware::from_fn_with_state(
            Arc::clone(states),
            rotate_at_sign_in,
        ))
        .layer::<_, Infallible>(sessions)
        .layer::<_, Infallible>(middleware::from_fn_with_state(Arc::clone(states), guard))
}

/// Replaces the ID of the browser's state when a response begins or renews its identity session, so
/// that an ID from before the sign-in leads nowhere.
async fn rotate_at_sign_in(
    State(states): State<Arc<BrowserStates>>,
    request: Request,
    next: Next,
) -> Response {
    let session = request.extensions().get::<Session>().cloned();
    let before = session.as_ref().and_then(Session::id);
    let response = next.run(request).await;
    if let Some(session) = session
        && before.is_some()
        && session.id() == before
        && states.cookies.sets(response.headers(), Purpose::Session)
    {
        state::rotate(&session).await;
    }
    response
}

/// Hides planted cookies from the session layer, which reads names less strictly than
/// [`crate::http::cookies`]; gives the removal of the cookie its attributes, without which browsers
/// ignore it for a `__Host-` name; marks set cookies as sensitive; and turns the empty response for a
/// state that could not be saved into a problem with a next step.
async fn guard(
    State(states): State<Arc<BrowserStates>>,
    mut request: Request,
    next: Next,
) -> Response {
    states
        .cookies
        .keep_plain(request.headers_mut(), Purpose::State);
    let mut response = next.run(request).await;
    // a response of a handler has headers of its own
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && response.headers().is_empty() {
        return Problem::state_unavailable().into_response();
    }
    for (name, value) in response.headers_mut().iter_mut() {
        if *name == header::SET_COOKIE {
            if states.cookies.removes(value, Purpose::State)
                && let Some(removal) = states.cookies.clear(Purpose::State)
            {
                *value = removal;
            }
            value.set_sensitive(true);
        }
    }
    response
}

#[cfg(test)]
mod tests;
