//! Caches the metric handles that every request updates, once per thread.
use std::{cell::RefCell, time::Duration};

use foldhash::HashMap;
use metrics::{Counter, Histogram};

use super::{DECISIONS, REQUEST_SECONDS, REQUESTS, UPSTREAM_SECONDS};

thread_local! {
    /// The handles for every request: looking one up by its name and labels costs several times
    /// what counting does. There are as many as there are routes.
    pub(super) static KNOWN: RefCell<Known> = RefCell::default();
}

#[derive(Default)]
pub(super) struct Known {
    routes: HashMap<String, OfRoute>,
    upstreams: HashMap<String, Histogram>,
}

struct OfRoute {
    seconds: Histogram,
    by_status: Vec<(u16, Counter)>,
    by_decision: Vec<(&'static str, Counter)>,
}

/// Returns the value under a key, made if it is missing.
fn listed<K: PartialEq, V>(list: &mut Vec<(K, V)>, key: K, make: impl FnOnce() -> V) -> &V {
    let at = match list.iter().position(|(known, _)| *known == key) {
        Some(at) => at,
        None => {
            list.push((key, make()));
            list.len() - 1
        }
    };
    &list[at].1
}

impl Known {
    pub fn request(&mut self, route: &str, status: u16, decision: &'static str, took: Duration) {
        let Some(of_route) = self.routes.get_mut(route) else {
            let seconds = metrics::histogram!(REQUEST_SECONDS, "route" => route.to_owned());
            let of_route = OfRoute {
                seconds,
                by_status: Vec::new(),
                by_decision: Vec::new(),
            };
            self.routes.insert(route.to_owned(), of_route);
            return self.request(route, status, decision, took);
        };
        of_route.seconds.record(took.as_secs_f64());
        listed(&mut of_route.by_status, status, || {
            let status = status.to_string();
            metrics::counter!(REQUESTS, "route" => route.to_owned(), "status" => status)
        })
        .increment(1);
        listed(
            &mut of_route.by_decision,
            decision,
            || metrics::counter!(DECISIONS, "route" => route.to_owned(), "decision" => decision),
        )
        .increment(1);
    }

    pub fn upstream(&mut self, id: &str, took: Duration) {
        let took = took.as_secs_f64();
        if let Some(seconds) = self.upstreams.get(id) {
            return seconds.record(took);
        }
        let seconds = metrics::histogram!(UPSTREAM_SECONDS, "upstream" => id.to_owned());
        seconds.record(took);
        self.upstreams.insert(id.to_owned(), seconds);
    }
}
