//! Changes that are carried through to their end, whether or not their client waits.
use axum::{
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use std::panic::resume_unwind;
use tracing::Instrument as _;

/// Runs a request that may change something in a task of its own: the gateway ends its connection after the
/// time limit of a response, and journal and log must have the outcome nevertheless.
pub async fn complete_changes(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    #[allow(clippy::disallowed_methods, reason = "awaited")]
    let task = tokio::spawn(next.run(request).in_current_span());
    match task.await {
        Ok(response) => response,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // the process is stopping
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, body::Body, http::Method, middleware::from_fn, routing::any};
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };
    use tower::ServiceExt as _;

    #[tokio::test]
    async fn a_change_is_completed_after_its_client_has_left_and_a_read_is_not() {
        for (method, expected) in [(Method::POST, 1), (Method::GET, 0)] {
            let completed = Arc::new(AtomicUsize::new(0));
            let of_handler = Arc::clone(&completed);
            let handler = move || {
                let completed = Arc::clone(&of_handler);
                async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    completed.fetch_add(1, Ordering::SeqCst);
                }
            };
            let router = Router::new()
                .route("/", any(handler))
                .layer(from_fn(complete_changes));
            let request = Request::builder().method(method).uri("/");
            let request = request.body(Body::empty()).unwrap();
            let waited = tokio::time::timeout(Duration::from_millis(10), router.oneshot(request));
            assert!(waited.await.is_err());
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(completed.load(Ordering::SeqCst), expected);
        }
    }
}
