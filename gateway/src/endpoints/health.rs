//! `GET /ping` and `GET /ready`: for load balancers.
use std::sync::atomic::Ordering;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;

use crate::{pages::layout::harden, state::Shared};

pub(crate) async fn ping() -> Response {
    said(StatusCode::OK, "OK\n")
}

/// Returns whether this replica should get requests: not while the store is unavailable or the
/// process is stopping.
pub(crate) async fn ready(State(gateway): State<Shared>) -> Response {
    if gateway.leaving.load(Ordering::Relaxed) || gateway.forwarder.draining.is_cancelled() {
        return said(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match gateway.store.ping().await {
        Ok(()) => said(StatusCode::OK, "ready\n"),
        Err(error) => {
            let next_step = error.next_step();
            tracing::warn!(%error, next_step, "not ready");
            said(
                StatusCode::SERVICE_UNAVAILABLE,
                "the store is unavailable\n",
            )
        }
    }
}

fn said(status: StatusCode, text: &'static str) -> Response {
    let mut response = (status, text).into_response();
    harden(response.headers_mut());
    response
}
