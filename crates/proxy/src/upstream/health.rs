//! Runs the configured health checks of backends.
//!
//! The requests carry no user's identity, and the bodies of their responses are discarded.
use axum::body::Body;
use futures::future::join_all;
use http::{HeaderMap, HeaderValue, Method, header, uri::PathAndQuery};

use crate::config::HealthConfig;
use crate::upstream::Upstream;
use crate::upstream::backend::Backend;
use crate::upstream::send::Head;

/// Checks every backend of these upstreams, for as long as it is polled.
pub async fn watch(upstreams: impl Iterator<Item = &Upstream>) {
    let watched = upstreams.filter_map(|upstream| Some((upstream, upstream.health.as_ref()?)));
    let servers = watched.flat_map(|(upstream, health)| {
        let backends = upstream.backends.iter();
        backends.map(move |backend| follow(upstream, backend, health))
    });
    join_all(servers).await;
}

async fn follow(upstream: &Upstream, backend: &Backend, health: &HealthConfig) {
    let mut count = Count::default();
    loop {
        let good = upstream.is_good(backend, health).await;
        if let Some(works) = count.add(good, health) {
            upstream.checked(backend, works);
        }
        tokio::time::sleep(health.every).await;
    }
}

impl Upstream {
    async fn is_good(&self, backend: &Backend, health: &HealthConfig) -> bool {
        let Ok(target) = health.path.parse::<PathAndQuery>() else {
            return false;
        };
        let mut headers = HeaderMap::new();
        let agent = HeaderValue::from_static("portico-health");
        headers.insert(header::USER_AGENT, agent);
        let head = Head {
            method: Method::GET,
            target,
            headers,
        };
        let Ok(request) = self.addressed(backend, head, Body::empty()) else {
            return false;
        };
        let sent = backend.request(request, false);
        match tokio::time::timeout(health.timeout, sent).await {
            // a longer body is not read: its connection is closed
            Ok(Some(Ok(answer))) => {
                answer.status().is_success() || answer.status().is_redirection()
            }
            Ok(Some(Err(_)) | None) | Err(_) => false,
        }
    }
}

/// Consecutive results of one kind.
#[derive(Debug, Default)]
struct Count {
    good: bool,
    in_a_row: u32,
}

impl Count {
    /// Adds a result; returns the new state when there are enough of its kind.
    fn add(&mut self, good: bool, health: &HealthConfig) -> Option<bool> {
        if self.good != good {
            self.in_a_row = 0;
        }
        self.good = good;
        self.in_a_row = self.in_a_row.saturating_add(1);
        let enough = if good {
            health.healthy
        } else {
            health.unhealthy
        };
        (self.in_a_row >= enough).then_some(good)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_several_answers_of_one_kind_in_a_row() {
        let health = HealthConfig {
            healthy: 2,
            unhealthy: 3,
            ..HealthConfig::default()
        };
        let mut count = Count::default();
        let known: Vec<_> = [
            true, true, false, false, true, false, false, false, true, true,
        ]
        .into_iter()
        .map(|good| count.add(good, &health))
        .collect();
        let mut expected = vec![None; 10];
        (expected[1], expected[7], expected[9]) = (Some(true), Some(false), Some(true));
        assert_eq!(known, expected);
    }
}
