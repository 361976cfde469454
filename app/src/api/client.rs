//! How the browser calls server functions: with the project and the CSRF token as headers.
use crate::error::{UiError, UiErrorKind};
use leptos::server_fn::{
    Bytes,
    client::{Client, browser::BrowserClient},
    request::browser::BrowserRequest,
    response::{ClientRes, browser::BrowserResponse},
};
use std::{cell::RefCell, future::Future};

thread_local! {
    static PROJECT: RefCell<String> = const { RefCell::new(String::new()) };
    static CSRF_TOKEN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The project that calls are made in: the one of the address being shown or loaded. The
/// browser's own location lags behind while a page loads. Only the browser reads it.
pub fn set_project(project: &str) {
    if cfg!(feature = "hydrate") {
        PROJECT.with_borrow_mut(|known| project.clone_into(known));
    }
}

/// The token that goes back with every call.
pub fn set_csrf_token(token: &str) {
    if cfg!(feature = "hydrate") {
        CSRF_TOKEN.with_borrow_mut(|known| token.clone_into(known));
    }
}

/// The client of every server function here.
pub struct PanelClient;

type Plain = BrowserClient;

impl Client<UiError> for PanelClient {
    type Request = BrowserRequest;
    type Response = BrowserResponse;

    async fn send(request: BrowserRequest) -> Result<BrowserResponse, UiError> {
        let headers = request.headers();
        PROJECT.with_borrow(|project| headers.set("Portico-Project", project));
        CSRF_TOKEN.with_borrow(|token| headers.set("X-CSRF-Token", token));
        drop(headers);
        let response = <Plain as Client<UiError>>::send(request).await?;
        readable(response)
    }

    fn open_websocket(
        path: &str,
    ) -> impl Future<
        Output = Result<
            (
                impl futures::Stream<Item = Result<Bytes, Bytes>> + Send + 'static,
                impl futures::Sink<Bytes> + Send + 'static,
            ),
            UiError,
        >,
    > + Send {
        <Plain as Client<UiError>>::open_websocket(path)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        <Plain as Client<UiError>>::spawn(future);
    }
}

/// The gateway answers some calls itself, and not in JSON: those become errors of ours.
fn readable(response: BrowserResponse) -> Result<BrowserResponse, UiError> {
    let status = ClientRes::<UiError>::status(&response);
    if status < 400 {
        return Ok(response);
    }
    let headers = response.generate_headers();
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if status != 401 && text("content-type").is_some_and(|kind| kind.contains("json")) {
        return Ok(response);
    }
    let mut error = by_status(status);
    error.request_id = text("x-request-id").map(str::to_owned);
    Err(error)
}

fn by_status(status: u16) -> UiError {
    match status {
        401 => UiError::new(UiErrorKind::SignedOut, "Your session has ended.")
            .next_step("Sign in again; you come back to this page."),
        403 => UiError::new(UiErrorKind::NotPermitted, "The request was refused.")
            .next_step("Reload the page and try again."),
        404 => UiError::new(UiErrorKind::NotFound, "That does not exist (any more)."),
        413 => UiError::new(UiErrorKind::Invalid, "That was too much to send at once."),
        429 => UiError::new(UiErrorKind::Unavailable, "Too many requests in a short time.")
            .next_step("Wait a few seconds, then try again."),
        502..=504 => UiError::new(UiErrorKind::Unavailable, "Portico does not answer right now.")
            .next_step("Try again in a few seconds."),
        _ => UiError::new(UiErrorKind::Internal, "The server could not answer.")
            .next_step("Try again; if it happens again, tell your administrators."),
    }
}
