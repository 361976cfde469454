//! kube-auth's live figures, read from the admin port of its process, whether it is this process or
//! another.
use super::scrape::Sample;
use portico_cache::Cache;
use portico_clock::Clock;
use portico_domain::panel::{Figures, FiguresView, KeystoneFigures};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use url::Url;
use uuid::Uuid;

/// How long figures are cached, for all readers together.
const CACHE_TTL: Duration = Duration::from_secs(5);
const CALL_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum size of a response body, in bytes; thousands of series of one process fit.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;
/// The interval that counts as recent.
const RECENT_SECONDS: i64 = 300;

/// Reads the metrics of one kube-auth process. Every user who may see a cluster may see its
/// figures: they are counts of the whole cluster and identify no user.
pub struct KubeAuthMetrics {
    url: Option<Url>,
    http: reqwest::Client,
    kept: Cache<(), Arc<Sample>, String>,
    history: Mutex<VecDeque<Arc<Sample>>>,
    clock: Clock,
}

impl KubeAuthMetrics {
    pub fn new(url: Option<Url>, clock: Clock) -> Result<Self, reqwest::Error> {
        Ok(Self {
            url,
            http: reqwest::Client::builder()
                .connect_timeout(CALL_TIMEOUT)
                .timeout(CALL_TIMEOUT)
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .build()?,
            kept: Cache::builder()
                .max_capacity(1)
                .time_to_live(CACHE_TTL)
                .build(),
            history: Mutex::default(),
            clock,
        })
    }

    /// Returns a cluster's figures, at most a few seconds old.
    pub async fn of(&self, cluster: Uuid) -> FiguresView {
        let Some(url) = &self.url else {
            return FiguresView::NotConfigured;
        };
        match self.kept.try_get_with((), self.read(url)).await {
            Ok(sample) => FiguresView::Known(self.figures(&sample, cluster)),
            Err(reason) => FiguresView::Unavailable((*reason).clone()),
        }
    }

    /// Returns the same, read now.
    pub async fn now(&self, cluster: Uuid) -> FiguresView {
        self.kept.invalidate(&()).await;
        self.of(cluster).await
    }

    async fn read(&self, url: &Url) -> Result<Arc<Sample>, String> {
        let text = self.fetch(url).await.map_err(|reason| {
            tracing::warn!(%url, reason, "kube-auth's metrics cannot be read");
            reason
        })?;
        let sample = Arc::new(Sample::read(&text, self.clock.now().as_second()));
        self.remember(&sample);
        Ok(sample)
    }

    async fn fetch(&self, url: &Url) -> Result<String, String> {
        let failed = |error: reqwest::Error| {
            if error.is_timeout() {
                "kube-auth's admin port did not answer in time.".to_owned()
            } else if let Some(status) = error.status() {
                format!("kube-auth's admin port answered with {status}.")
            } else {
                "kube-auth's admin port cannot be reached.".to_owned()
            }
        };
        let mut answer = self
            .http
            .get(url.clone())
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BODY_BYTES {
                return Err("kube-auth's metrics are too large to be read.".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| "kube-auth's metrics are not text.".to_owned())
    }

    /// Stores readings of the same process within the last minutes; a restart discards them.
    fn remember(&self, sample: &Arc<Sample>) {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.retain(|known| {
            known.started_at == sample.started_at
                && sample.read_at - known.read_at <= RECENT_SECONDS
        });
        history.push_back(Arc::clone(sample));
    }

    fn figures(&self, sample: &Sample, cluster: Uuid) -> Figures {
        let oldest = self
            .history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .front()
            .cloned();
        let counts = sample.of(cluster);
        let recent = oldest.and_then(|oldest| {
            let passed = u64::try_from(sample.read_at - oldest.read_at).ok()?;
            (passed > 0 && oldest.started_at == sample.started_at)
                .then(|| (passed, counts.since(&oldest.of(cluster)).figures()))
        });
        Figures {
            read_at: sample.read_at,
            started_at: sample.started_at,
            since_start: counts.figures(),
            recent,
            keystone: KeystoneFigures {
                last_answer: sample.keystone_answer,
                last_failure: sample.keystone_failure,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, routing::get};
    use std::sync::atomic::{AtomicU64, Ordering};

    const CLUSTER: &str = "bff6fbd5-4b48-4ecc-8e10-687444ebba16";

    /// Returns a process whose counter grows by one with each reading.
    async fn process() -> (Url, Arc<AtomicU64>) {
        let asked = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&asked);
        let router = Router::new()
            .route(
                "/metrics",
                get(move || async move {
                    let count = counter.fetch_add(1, Ordering::Relaxed) + 1;
                    format!(
                        "# TYPE portico_token_reviews_total counter\nportico_token_reviews_total\
                         {{cluster=\"{CLUSTER}\",result=\"authenticated\",cached=\"true\"}} {count}\n"
                    )
                }),
            )
            .route("/large", get(|| async { "x".repeat(MAX_BODY_BYTES + 1) }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url.parse().unwrap(), asked)
    }

    fn cluster() -> Uuid {
        CLUSTER.parse().unwrap()
    }

    fn metrics(url: Option<Url>) -> KubeAuthMetrics {
        let _ = rustls::crypto::ring::default_provider().install_default();
        KubeAuthMetrics::new(url, Clock::system()).unwrap()
    }

    #[tokio::test]
    async fn many_viewers_cost_one_reading() {
        let (url, asked) = process().await;
        let metrics = metrics(Some(url));
        let views = futures::future::join_all((0..50).map(|_| metrics.of(cluster()))).await;
        for view in views {
            let FiguresView::Known(figures) = view else {
                panic!("{view:?}")
            };
            assert_eq!(figures.since_start.authenticated, 1);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        let FiguresView::Known(again) = metrics.now(cluster()).await else {
            panic!("no figures")
        };
        assert_eq!(again.since_start.authenticated, 2);
    }

    #[tokio::test]
    async fn what_is_missing_or_too_large_is_reported() {
        assert_eq!(
            metrics(None).of(cluster()).await,
            FiguresView::NotConfigured
        );
        let (url, _) = process().await;
        for path in ["/nowhere", "/large"] {
            let view = metrics(Some(url.join(path).unwrap())).of(cluster()).await;
            assert!(matches!(view, FiguresView::Unavailable(_)), "{view:?}");
        }
        let gone: Url = "http://127.0.0.1:9/metrics".parse().unwrap();
        let view = metrics(Some(gone)).of(cluster()).await;
        assert!(matches!(view, FiguresView::Unavailable(_)), "{view:?}");
    }

    #[test]
    fn a_restart_begins_anew() {
        let metrics = metrics(None);
        let reading = |started, at| {
            let text = format!(
                "# TYPE portico_start_time_seconds gauge\nportico_start_time_seconds {started}\n"
            );
            Arc::new(Sample::read(&text, at))
        };
        metrics.remember(&reading(1, 100));
        metrics.remember(&reading(1, 110));
        let recent = |sample: &Sample| {
            metrics
                .figures(sample, cluster())
                .recent
                .map(|(passed, _)| passed)
        };
        assert_eq!(recent(&reading(1, 110)), Some(10));
        metrics.remember(&reading(2, 120));
        assert_eq!(recent(&reading(2, 120)), None);
    }
}
