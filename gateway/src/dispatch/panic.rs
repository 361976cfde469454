//! Catches panics in handlers: the client gets a response with the request ID, and the cause is
//! logged. Otherwise the connection would be dropped, which looks like a client that disconnected.
//!
//! `tower_http::catch_panic` does the same for a whole service, but knows neither the request ID
//! nor whether a page is wanted, and boxes the body of every response once more.
use std::{any::Any, panic::AssertUnwindSafe};

use axum::response::Response;
use futures::FutureExt as _;

use crate::http::error_response::Problem;

/// Bounds a panic's message in the log.
const MAX_MESSAGE_CHARS: usize = 1024;

/// Returns what `handler` returns; a panic becomes [`Problem::internal`], which the dispatcher
/// answers and counts like any other.
///
/// It is not an async function, whose future would have room for the handler twice.
pub(super) fn caught<F>(handler: F) -> impl Future<Output = Result<Response, Problem>>
where
    F: Future<Output = Result<Response, Problem>>,
{
    // state that requests share is behind locks that a panic does not poison
    AssertUnwindSafe(handler).catch_unwind().map(|ended| {
        ended.unwrap_or_else(|cause| {
            tracing::error!(
                cause = message(&*cause),
                "a panic ended the handling of a request"
            );
            Err(Problem::internal())
        })
    })
}

/// Returns the message of a panic; the standard library's hook has logged its location.
fn message(cause: &(dyn Any + Send)) -> String {
    let text = cause
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("not a text")
        .chars()
        .take(MAX_MESSAGE_CHARS)
        .collect()
}
