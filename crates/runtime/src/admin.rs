//! The private admin port: `/live`, `/ready`, `/metrics`.
mod hosts;

pub use hosts::InvalidHost;

use crate::lifecycle::Lifecycle;
use crate::metrics::Metrics;
use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use futures::future::{BoxFuture, join_all};
use http::{StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// `[admin]`: health and metrics, for the operator only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdminConfig {
    /// The address of `/live`, `/ready` and `/metrics`; keep it off the public network.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Host names, without a port, by which Prometheus and probes ask for this port, such as
    /// `portico-1.example.org` or `portico`. IP addresses and `localhost` are always accepted; any
    /// other name is answered with 421, because a web page could make its own name resolve to this
    /// address (DNS rebinding). 64 at most.
    pub hosts: Vec<String>,
}

impl AdminConfig {
    /// Checks constraints that the types do not express.
    ///
    /// # Errors
    /// Returns the entry of `hosts` that is not a host name.
    pub fn validate(&self) -> Result<(), InvalidHost> {
        hosts::Hosts::new(&self.hosts).map(drop)
    }
}

impl Default for AdminConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 9180)),
            hosts: Vec::new(),
        }
    }
}

/// The effect of a failing check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The process cannot do its work: `/ready` answers 503.
    Required,
    /// A dependency is unavailable, but taking the process out of service would not help.
    Informs,
}

type CheckFn = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Clone)]
struct Check {
    name: &'static str,
    weight: Weight,
    run: CheckFn,
}

/// The named checks behind `/ready`. Clones share them.
#[derive(Clone)]
pub struct Readiness {
    checks: Arc<RwLock<Vec<Check>>>,
    timeout: Duration,
}

impl Default for Readiness {
    fn default() -> Self {
        Self {
            checks: Arc::default(),
            timeout: CHECK_TIMEOUT,
        }
    }
}

impl Readiness {
    /// Returns a set without checks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a check. It runs at each `/ready`, for three seconds at most; its error is shown
    /// there and must hold no secret.
    pub fn add<F, Fut>(&self, name: &'static str, weight: Weight, check: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.checks
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Check {
                name,
                weight,
                run: Arc::new(move || Box::pin(check())),
            });
    }

    /// Runs all checks at once.
    pub async fn report(&self) -> ReadyReport {
        let checks = self
            .checks
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let results = join_all(checks.iter().map(|check| async move {
            let result = tokio::time::timeout(self.timeout, (check.run)())
                .await
                .unwrap_or_else(|_| Err("no answer in time".to_owned()));
            (check, result)
        }))
        .await;
        let mut report = ReadyReport {
            ready: true,
            checks: BTreeMap::new(),
        };
        for (check, result) in results {
            report.ready &= result.is_ok() || check.weight == Weight::Informs;
            let state = result.map_or_else(|error| error, |()| "ok".to_owned());
            report.checks.insert(check.name, state);
        }
        report
    }
}

/// The body of `/ready`.
#[derive(Debug, Serialize)]
pub struct ReadyReport {
    /// Whether requests should be sent here.
    pub ready: bool,
    /// Each check's state: `ok`, or the error.
    pub checks: BTreeMap<&'static str, String>,
}

#[derive(Clone)]
struct AdminState {
    readiness: Readiness,
    metrics: Metrics,
    lifecycle: Lifecycle,
}

/// Returns the routes of the admin port, for requests to an IP address, `localhost` or one of
/// `hosts` (`admin.hosts`).
///
/// # Errors
/// Returns the entry of `hosts` that is not a host name.
pub fn router(
    hosts: &[String],
    readiness: Readiness,
    metrics: Metrics,
    lifecycle: Lifecycle,
) -> Result<Router, InvalidHost> {
    let hosts = Arc::new(hosts::Hosts::new(hosts)?);
    Ok(Router::new()
        .route("/live", get(|| async { "live\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(render_metrics))
        .layer(from_fn_with_state(hosts, hosts::admit))
        .with_state(AdminState {
            readiness,
            metrics,
            lifecycle,
        }))
}

async fn ready(State(state): State<AdminState>) -> impl IntoResponse {
    let mut report = state.readiness.report().await;
    if state.lifecycle.is_stopping() {
        report.ready = false;
        report.checks.insert("lifecycle", "stopping".to_owned());
    }
    let status = if report.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(report))
}

async fn render_metrics(State(state): State<AdminState>) -> impl IntoResponse {
    let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (content_type, state.metrics.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http::Request;
    use tower::ServiceExt as _;

    async fn status(readiness: &Readiness, lifecycle: &Lifecycle) -> StatusCode {
        let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).unwrap();
        router(&[], readiness.clone(), metrics, lifecycle.clone())
            .unwrap()
            .oneshot(Request::get("/ready").body(Body::empty()).unwrap())
            .await
            .unwrap()
            .status()
    }

    #[tokio::test]
    async fn a_failing_required_check_makes_it_unready() {
        let lifecycle = Lifecycle::new(Duration::from_secs(1));
        let readiness = Readiness::new();
        readiness.add("keystone", Weight::Informs, || async { Err("away".into()) });
        assert_eq!(status(&readiness, &lifecycle).await, StatusCode::OK);
        readiness.add("store", Weight::Required, || async { Err("away".into()) });
        assert_eq!(
            status(&readiness, &lifecycle).await,
            StatusCode::SERVICE_UNAVAILABLE
        );
    }

    #[tokio::test]
    async fn a_process_is_not_ready_from_the_announcement_of_its_stop_on() {
        let lifecycle = Lifecycle::new(Duration::from_secs(1));
        assert_eq!(status(&Readiness::new(), &lifecycle).await, StatusCode::OK);
        lifecycle.announced().cancel();
        assert_eq!(
            status(&Readiness::new(), &lifecycle).await,
            StatusCode::SERVICE_UNAVAILABLE
        );
    }

    #[tokio::test]
    async fn a_check_that_hangs_fails() {
        let readiness = Readiness {
            timeout: Duration::from_millis(10),
            ..Readiness::new()
        };
        readiness.add("slow", Weight::Required, std::future::pending);
        assert!(!readiness.report().await.ready);
    }
}
