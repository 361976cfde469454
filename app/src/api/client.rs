//! The browser's client of the server functions: it adds the project and the CSRF token as headers.
use super::call::{Call, Reply};
use crate::error::{UiError, UiErrorKind};
use futures::{Sink, Stream, sink, stream};
use leptos::{
    __reexports::send_wrapper::SendWrapper,
    server_fn::{Bytes, client::Client},
    task::spawn,
};
use std::{cell::RefCell, future::Future};

thread_local! {
    static PROJECT: RefCell<String> = const { RefCell::new(String::new()) };
    static CSRF_TOKEN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sets the project of all calls: the one of the address being shown or loaded. The browser's own
/// location lags behind while a page loads. Only the browser reads it.
pub fn set_project(project: &str) {
    if cfg!(feature = "hydrate") {
        PROJECT.with_borrow_mut(|known| project.clone_into(known));
    }
}

/// Sets the CSRF token of all calls.
pub fn set_csrf_token(token: &str) {
    if cfg!(feature = "hydrate") {
        CSRF_TOKEN.with_borrow_mut(|known| token.clone_into(known));
    }
}

/// The client of every server function here.
pub struct PanelClient;

impl Client<UiError> for PanelClient {
    type Request = Call;
    type Response = Reply;

    fn send(call: Call) -> impl Future<Output = Result<Reply, UiError>> + Send {
        // the browser has one thread
        SendWrapper::new(async move {
            let project = PROJECT.with_borrow(Clone::clone);
            let token = CSRF_TOKEN.with_borrow(Clone::clone);
            let headers = [
                ("Portico-Project", project.as_str()),
                ("X-CSRF-Token", &token),
            ];
            let reply = call.send(&headers).await.map_err(|_| unreachable())?;
            readable(reply)
        })
    }

    async fn open_websocket(
        _path: &str,
    ) -> Result<
        (
            impl Stream<Item = Result<Bytes, Bytes>> + Send + 'static,
            impl Sink<Bytes> + Send + 'static,
        ),
        UiError,
    > {
        // live data has a stream of its own; no server function needs one
        Ok((stream::empty(), sink::drain()))
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        spawn(future);
    }
}

/// Turns responses that the gateway sends itself, which are not JSON, into the panel's errors.
fn readable(reply: Reply) -> Result<Reply, UiError> {
    let status = reply.status_code();
    if status < 400 || (status != 401 && reply.is_json()) {
        return Ok(reply);
    }
    let mut error = by_status(status);
    error.request_id = reply.header("x-request-id");
    Err(error)
}

fn unreachable() -> UiError {
    UiError::new(UiErrorKind::Unavailable, "Portico could not be reached.")
        .next_step("Check your connection and try again.")
}

fn by_status(status: u16) -> UiError {
    match status {
        401 => UiError::new(UiErrorKind::SignedOut, "Your session has ended.")
            .next_step("Sign in again; you then return to this page."),
        403 => UiError::new(UiErrorKind::NotPermitted, "The request was refused.")
            .next_step("Reload the page and try again."),
        404 => UiError::new(
            UiErrorKind::NotFound,
            "This does not exist, or no longer exists.",
        ),
        413 => UiError::new(UiErrorKind::Invalid, "The request is too large."),
        429 => UiError::new(
            UiErrorKind::Unavailable,
            "Too many requests in a short time.",
        )
        .next_step("Wait a few seconds, then try again."),
        502..=504 => UiError::new(
            UiErrorKind::Unavailable,
            "Portico does not answer right now.",
        )
        .next_step("Try again in a few seconds."),
        _ => UiError::new(UiErrorKind::Internal, "The server could not answer.")
            .next_step("Try again; if it happens again, tell your administrators."),
    }
}
