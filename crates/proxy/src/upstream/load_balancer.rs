//! Selects the backend of an upstream for a request.
use std::sync::atomic::Ordering;

use crate::metrics;
use crate::upstream::Upstream;
use crate::upstream::backend::{Backend, Eligibility};

/// The backends that a request has been tried with.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried(u32);

impl Tried {
    pub fn note(&mut self, at: usize) {
        self.0 |= 1 << at;
    }

    fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }
}

impl Upstream {
    /// Returns the next backend that was not tried yet, with its index.
    ///
    /// A backend that failed recently is used only when no other is left, as it may have recovered.
    /// One that fails its health checks is never used.
    pub(crate) fn select(&self, tried: Tried) -> Option<(usize, &Backend)> {
        let count = self.backends.len();
        let start = if count > 1 {
            self.next.fetch_add(1, Ordering::Relaxed)
        } else {
            0
        };
        let now = self.clock();
        let mut suspect = None;
        for offset in 0..count {
            let at = start.wrapping_add(offset) % count;
            let Some(backend) = self.backends.get(at).filter(|_| !tried.has(at)) else {
                continue;
            };
            match backend.eligibility(now) {
                Eligibility::Eligible => return Some((at, backend)),
                Eligibility::Suspect if suspect.is_none() => suspect = Some((at, backend)),
                Eligibility::Suspect | Eligibility::Down => {}
            }
        }
        suspect
    }

    /// Records that a backend responded.
    pub(crate) fn answered(&self, backend: &Backend) {
        if self.backends.len() > 1 && backend.answered() {
            tracing::info!(
                upstream = self.id,
                backend = backend.label,
                "a backend accepts connections again"
            );
            metrics::backend(&self.id, &backend.label, true);
        }
    }

    /// Records that a connection to a backend failed. A single backend is retried each time.
    pub(crate) fn failed(&self, backend: &Backend, error: &dyn std::error::Error) {
        if self.backends.len() < 2 {
            return;
        }
        if let Some(out_for) = backend.failed(self.clock()) {
            tracing::warn!(
                upstream = self.id,
                backend = backend.label,
                ?out_for,
                error = %super::send::Causes(error),
                "a backend accepts no connections; it gets no requests until it does"
            );
            metrics::backend(&self.id, &backend.label, false);
        }
    }

    /// Records the outcome of a backend's health checks.
    pub(crate) fn checked(&self, backend: &Backend, works: bool) {
        if !backend.set_down(!works) {
            return;
        }
        let (upstream, backend) = (&self.id, &backend.label);
        if works {
            tracing::info!(upstream, backend, "a backend is healthy again");
        } else {
            tracing::warn!(
                upstream,
                backend,
                "a backend is unhealthy; it gets no requests until it is healthy"
            );
        }
        metrics::backend(upstream, backend, works);
    }

    fn clock(&self) -> u64 {
        if self.backends.len() < 2 {
            return 0;
        }
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::config::{LimitsConfig, UpstreamConfig};

    fn upstream(backends: usize) -> Upstream {
        let urls: Vec<Url> = (0..backends)
            .map(|n| {
                format!("http://127.0.0.1:{}/p/", 9000 + n)
                    .parse()
                    .expect("url")
            })
            .collect();
        let urls: Vec<&Url> = urls.iter().collect();
        let (config, limits) = (UpstreamConfig::default(), LimitsConfig::default());
        Upstream::new("a", "A", &urls, "http://a.example:8080", &config, &limits).expect("upstream")
    }

    fn selected(upstream: &Upstream, tried: Tried) -> Option<usize> {
        upstream.select(tried).map(|(at, _)| at)
    }

    #[test]
    fn requests_go_round() {
        let upstream = upstream(3);
        let order: Vec<_> = (0..4)
            .map(|_| selected(&upstream, Tried::default()))
            .collect();
        assert_eq!(order, [Some(0), Some(1), Some(2), Some(0)]);
        let mut tried = Tried::default();
        tried.note(0);
        tried.note(2);
        assert_eq!(selected(&upstream, tried), Some(1));
        tried.note(1);
        assert_eq!(selected(&upstream, tried), None);
    }

    #[test]
    fn a_backend_that_failed_is_the_last_resort_and_one_that_is_down_is_none() {
        let upstream = upstream(2);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        for _ in 0..4 {
            assert_eq!(selected(&upstream, Tried::default()), Some(1));
        }
        upstream.checked(&upstream.backends[1], false);
        assert_eq!(selected(&upstream, Tried::default()), Some(0));
        upstream.checked(&upstream.backends[0], false);
        assert_eq!(selected(&upstream, Tried::default()), None);
    }

    #[test]
    fn a_single_server_is_always_tried() {
        let upstream = upstream(1);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        assert_eq!(selected(&upstream, Tried::default()), Some(0));
    }
}
