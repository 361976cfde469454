//! `GET /ping` and `GET /ready`: for load balancers.
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use portico_proxy::forward::Forwarder;
use portico_store::Store;

use crate::http::security_headers::harden;

/// Whether this replica should get requests.
#[derive(Debug)]
pub(crate) struct Readiness {
    store: Store,
    forwarder: Arc<Forwarder>,
    /// Whether the process is about to stop: no more requests should be sent here.
    leaving: AtomicBool,
}

impl Readiness {
    pub fn new(store: Store, forwarder: Arc<Forwarder>) -> Self {
        Self {
            store,
            forwarder,
            leaving: AtomicBool::new(false),
        }
    }

    /// Is not ready from now on.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    fn is_stopping(&self) -> bool {
        self.leaving.load(Ordering::Relaxed) || self.forwarder.draining.is_cancelled()
    }
}

pub(crate) async fn ping() -> Response {
    plain_text(StatusCode::OK, "OK\n")
}

/// Returns whether this replica should get requests: not while the store is unavailable or the
/// process is stopping.
pub(crate) async fn ready(State(readiness): State<Arc<Readiness>>) -> Response {
    if readiness.is_stopping() {
        return plain_text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    match readiness.store.ping().await {
        Ok(()) => plain_text(StatusCode::OK, "ready\n"),
        Err(error) => {
            let next_step = error.next_step();
            tracing::warn!(%error, next_step, "not ready");
            plain_text(
                StatusCode::SERVICE_UNAVAILABLE,
                "the store is unavailable\n",
            )
        }
    }
}

fn plain_text(status: StatusCode, text: &'static str) -> Response {
    let mut response = (status, text).into_response();
    harden(response.headers_mut());
    response
}
