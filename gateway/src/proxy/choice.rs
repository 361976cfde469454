//! Which of an upstream's servers gets the next request.
use std::sync::atomic::Ordering;

use super::{
    backend::{Backend, Fitness},
    upstream::Upstream,
};
use crate::meters;

/// Which backends a request has been tried with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried(u32);

impl Tried {
    pub fn note(&mut self, at: usize) {
        self.0 |= 1 << at;
    }

    fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }
}

impl Upstream {
    /// The backend that is next, of those not tried yet; and where it stands.
    ///
    /// One that failed lately is taken only when no other is left, for it may have come back.
    /// One that the health checks call down is never taken: it answers them, and badly.
    pub(super) fn pick(&self, tried: Tried) -> Option<(usize, &Backend)> {
        let count = self.backends.len();
        let start = if count > 1 {
            self.next.fetch_add(1, Ordering::Relaxed)
        } else {
            0
        };
        let now = self.clock();
        let mut doubtful = None;
        for offset in 0..count {
            let at = start.wrapping_add(offset) % count;
            let Some(backend) = self.backends.get(at).filter(|_| !tried.has(at)) else {
                continue;
            };
            match backend.fitness(now) {
                Fitness::Fit => return Some((at, backend)),
                Fitness::Doubtful if doubtful.is_none() => doubtful = Some((at, backend)),
                Fitness::Doubtful | Fitness::Down => {}
            }
        }
        doubtful
    }

    /// Notes that a backend answered.
    pub(super) fn answered(&self, backend: &Backend) {
        if self.backends.len() > 1 && backend.answered() {
            tracing::info!(
                upstream = self.id,
                backend = backend.label,
                "a backend takes connections again"
            );
            meters::backend(&self.id, &backend.label, true);
        }
    }

    /// Notes that a backend took no connection. A single one is tried anew each time.
    pub(super) fn failed(&self, backend: &Backend, error: &dyn std::error::Error) {
        if self.backends.len() < 2 {
            return;
        }
        if let Some(out_for) = backend.failed(self.clock()) {
            tracing::warn!(
                upstream = self.id,
                backend = backend.label,
                ?out_for,
                error = %super::send::Causes(error),
                "a backend takes no connection, and is left out"
            );
            meters::backend(&self.id, &backend.label, false);
        }
    }

    /// Notes what the health checks of a backend come to.
    pub(super) fn checked(&self, backend: &Backend, works: bool) {
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
                "a backend is not healthy, and is left out"
            );
        }
        meters::backend(upstream, backend, works);
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
    use crate::config::{LimitsConfig, upstream::UpstreamConfig};

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

    fn picked(upstream: &Upstream, tried: Tried) -> Option<usize> {
        upstream.pick(tried).map(|(at, _)| at)
    }

    #[test]
    fn requests_go_round() {
        let upstream = upstream(3);
        let order: Vec<_> = (0..4)
            .map(|_| picked(&upstream, Tried::default()))
            .collect();
        assert_eq!(order, [Some(0), Some(1), Some(2), Some(0)]);
        let mut tried = Tried::default();
        tried.note(0);
        tried.note(2);
        assert_eq!(picked(&upstream, tried), Some(1));
        tried.note(1);
        assert_eq!(picked(&upstream, tried), None);
    }

    #[test]
    fn a_backend_that_failed_is_the_last_resort_and_one_that_is_down_is_none() {
        let upstream = upstream(2);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        for _ in 0..4 {
            assert_eq!(picked(&upstream, Tried::default()), Some(1));
        }
        upstream.checked(&upstream.backends[1], false);
        assert_eq!(picked(&upstream, Tried::default()), Some(0));
        upstream.checked(&upstream.backends[0], false);
        assert_eq!(picked(&upstream, Tried::default()), None);
    }

    #[test]
    fn a_single_server_is_always_tried() {
        let upstream = upstream(1);
        let error = std::io::Error::other("refused");
        upstream.failed(&upstream.backends[0], &error);
        assert_eq!(picked(&upstream, Tried::default()), Some(0));
    }
}
