//! Changes that are carried through to their end, whether or not their client waits.
use axum::{
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use portico_assertion::audit_report;
use portico_runtime::{lifecycle::Lifecycle, request_id};
use std::panic::resume_unwind;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

/// Runs a request that may change something in a task of its own, for which a stop of the process waits: the
/// gateway ends its connection after the time limit of a response, and journal and log must have the outcome
/// nevertheless.
pub async fn complete_changes(
    State(lifecycle): State<Lifecycle>,
    request: Request,
    next: Next,
) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let client_left = CancellationToken::new();
    let _waiting = client_left.clone().drop_guard();
    let work = async move {
        let response = next.run(request).await;
        if client_left.is_cancelled() && response.headers().contains_key(audit_report::HEADER) {
            tracing::warn!(
                status = response.status().as_u16(),
                "a change was completed after its client had left: the gateway does not get its audit \
                 report, whose entries are in this log only"
            );
        }
        response
    };
    let work = request_id::in_current_request(work.in_current_span());
    match lifecycle.spawn_awaited(work).await {
        Ok(Some(response)) => response,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // the process is stopping
        Ok(None) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, body::Body, http::Method, middleware::from_fn_with_state, routing::any};
    use portico_runtime::request_id::{RequestIdLayer, Trust};
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        time::Duration,
    };
    use tower::ServiceExt as _;

    fn request(method: Method) -> Request {
        let request = Request::builder().method(method).uri("/");
        request.body(Body::empty()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_completed_after_its_client_has_left_and_a_read_is_not() {
        for (method, expected) in [(Method::POST, 1), (Method::GET, 0)] {
            let lifecycle = Lifecycle::new(Duration::from_secs(10));
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
                .layer(from_fn_with_state(lifecycle.clone(), complete_changes));
            let answer = router.oneshot(request(method));
            let waited = tokio::time::timeout(Duration::from_millis(10), answer);
            assert!(waited.await.is_err());
            // a stop of the process waits for it
            lifecycle.stop();
            lifecycle.drain().await;
            assert_eq!(completed.load(Ordering::SeqCst), expected);
        }
    }

    #[tokio::test]
    async fn a_change_has_the_id_of_its_request() {
        let handler = |request: Request| async move {
            let sent = request.headers()["x-request-id"].to_str().unwrap();
            let current = request_id::current().map(|id| id.to_string());
            assert_eq!(current.as_deref(), Some(sent));
        };
        let lifecycle = Lifecycle::new(Duration::from_secs(10));
        let router = Router::new()
            .route("/", any(handler))
            .layer(from_fn_with_state(lifecycle, complete_changes))
            .layer(RequestIdLayer::new(Trust::NoPeer));
        let response = router.oneshot(request(Method::POST)).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
    }
}
