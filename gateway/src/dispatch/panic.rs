//! A panic while a request is handled: the client gets an answer with the request ID, and the log
//! the cause. Without this the connection would be dropped, which looks like a client that went
//! away.
//!
//! `tower_http::catch_panic` does the same for a whole service, but knows neither the request ID
//! nor whether a page is wanted, and puts the body of every answer into another box.
use std::{any::Any, panic::AssertUnwindSafe};

use axum::response::Response;
use futures::FutureExt as _;

use crate::problem::Problem;

/// Longer messages are cut off in the log.
const MAX_MESSAGE_CHARS: usize = 1024;

/// Returns what `handler` returns; a panic becomes [`Problem::internal`], which the dispatcher
/// answers and counts like any other.
pub(super) async fn caught<F>(handler: F) -> Result<Response, Problem>
where
    F: Future<Output = Result<Response, Problem>>,
{
    // what a request shares with others is behind locks that a panic does not poison
    match AssertUnwindSafe(handler).catch_unwind().await {
        Ok(answer) => answer,
        Err(cause) => {
            tracing::error!(
                cause = message(&*cause),
                "a panic ended the handling of a request"
            );
            Err(Problem::internal())
        }
    }
}

/// The text that a panic was raised with; the standard library's hook has written where.
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
