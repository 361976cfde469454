//! Limits on what one session may keep open in this process: event streams, terminals, watches at
//! API servers, the memory of live lists, and calls of the command line.
//!
//! A share is taken before a resource is opened and released when it is dropped. One session's
//! limits never affect another's.
use crate::config::panel::StreamLimits;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const OPEN: &str = "portico_panel_session_resources";
const REFUSED: &str = "portico_panel_session_limits_reached_total";

/// The resources that are counted for each session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Event streams, one for each browser tab.
    Streams,
    Terminals,
    /// Requests that stay open at API servers: one for each place of a live list, one for each
    /// object and log.
    Watches,
    /// Bytes of the rows that live lists hold.
    ListBytes,
    /// Calls of the command line that are being answered (ADR 0026).
    CloudCalls,
}

impl Resource {
    const ALL: [Self; 5] = [
        Self::Streams,
        Self::Terminals,
        Self::Watches,
        Self::ListBytes,
        Self::CloudCalls,
    ];

    /// Returns the label of the metrics.
    fn as_str(self) -> &'static str {
        match self {
            Self::Streams => "streams",
            Self::Terminals => "terminals",
            Self::Watches => "watches",
            Self::ListBytes => "list_bytes",
            Self::CloudCalls => "cloud_calls",
        }
    }

    fn limit(self, limits: &StreamLimits) -> usize {
        match self {
            Self::Streams => limits.max_streams,
            Self::Terminals => limits.max_terminals,
            Self::Watches => limits.max_watches,
            Self::ListBytes => limits.max_list_bytes,
            Self::CloudCalls => limits.max_cloud_calls,
        }
    }
}

/// A session has reached one of its limits; the text is for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitReached {
    #[error(
        "This session has {0} live tabs open, which is the limit. Close some of them, also in other \
         browsers of this session."
    )]
    Streams(usize),
    #[error(
        "This session has {0} terminals open, which is the limit. Close one and connect again."
    )]
    Terminals(usize),
    #[error(
        "The live lists of this session watch {0} places, which is the limit. Close other tabs, or \
         choose fewer namespaces."
    )]
    Watches(usize),
    #[error(
        "The live lists of this session need more than {} MiB, which is the limit. Close other \
         tabs, or choose fewer namespaces.",
        .0 / (1024 * 1024)
    )]
    ListBytes(usize),
    #[error(
        "The command line has {0} calls in progress with this session, which is the limit, so this one \
         was not passed on. Run fewer commands at the same time, and repeat this one in a second."
    )]
    CloudCalls(usize),
}

impl LimitReached {
    fn new(resource: Resource, limit: usize) -> Self {
        match resource {
            Resource::Streams => Self::Streams(limit),
            Resource::Terminals => Self::Terminals(limit),
            Resource::Watches => Self::Watches(limit),
            Resource::ListBytes => Self::ListBytes(limit),
            Resource::CloudCalls => Self::CloudCalls(limit),
        }
    }
}

/// The usage of all sessions in this process. `Clone` shares it.
#[derive(Clone, Debug)]
pub struct SessionBudgets {
    limits: StreamLimits,
    used: Arc<Mutex<HashMap<String, Usage>>>,
}

/// Amounts in use, by resource.
#[derive(Debug, Default, PartialEq, Eq)]
struct Usage([usize; Resource::ALL.len()]);

impl SessionBudgets {
    pub fn new(limits: StreamLimits) -> Self {
        Self {
            limits,
            used: Arc::default(),
        }
    }

    /// Takes a share for a session.
    ///
    /// # Errors
    /// The limit that would be exceeded, which is counted.
    pub fn take(
        &self,
        session: &str,
        resource: Resource,
        amount: usize,
    ) -> Result<Share, LimitReached> {
        let mut share = Share {
            budgets: self.clone(),
            session: session.to_owned(),
            resource,
            amount: 0,
        };
        share.resize(amount)?;
        Ok(share)
    }

    /// Returns whether a share of this size could be taken now.
    pub fn has_room(&self, session: &str, resource: Resource, amount: usize) -> bool {
        let used = self
            .lock()
            .get(session)
            .map_or(0, |usage| usage.of(resource));
        used.saturating_add(amount) <= resource.limit(&self.limits)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Usage>> {
        // the amounts are valid after a panic elsewhere: each change is one assignment
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Usage {
    fn of(&self, resource: Resource) -> usize {
        self.0[resource as usize]
    }
}

/// A part of a session's budget; released when dropped.
#[derive(Debug)]
pub struct Share {
    budgets: SessionBudgets,
    session: String,
    resource: Resource,
    amount: usize,
}

impl Share {
    /// Changes the size. On an error the share is unchanged.
    ///
    /// # Errors
    /// The limit that would be exceeded, which is counted.
    pub fn resize(&mut self, amount: usize) -> Result<(), LimitReached> {
        let limit = self.resource.limit(&self.budgets.limits);
        let mut used = self.budgets.lock();
        let usage = used.entry(self.session.clone()).or_default();
        let total = usage
            .of(self.resource)
            .saturating_sub(self.amount)
            .saturating_add(amount);
        if amount > self.amount && total > limit {
            if *usage == Usage::default() {
                used.remove(&self.session);
            }
            metrics::counter!(REFUSED, "resource" => self.resource.as_str()).increment(1);
            return Err(LimitReached::new(self.resource, limit));
        }
        usage.0[self.resource as usize] = total;
        if *usage == Usage::default() {
            used.remove(&self.session);
        }
        drop(used);
        self.count(amount);
        self.amount = amount;
        Ok(())
    }

    fn count(&self, amount: usize) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let change = amount as f64 - self.amount as f64;
        metrics::gauge!(OPEN, "resource" => self.resource.as_str()).increment(change);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // a release is never refused
        let _ = self.resize(0);
    }
}

/// Describes the metrics, and initialises them before anything is counted.
pub fn describe_metrics() {
    metrics::describe_gauge!(
        OPEN,
        "What the sessions of the panel keep open, by resource: streams, terminals, watches, list_bytes, or cloud_calls."
    );
    metrics::describe_counter!(
        REFUSED,
        "Requests that a session's limit refused (panel.streams), by resource."
    );
    for resource in Resource::ALL {
        metrics::counter!(REFUSED, "resource" => resource.as_str()).increment(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets() -> SessionBudgets {
        SessionBudgets::new(StreamLimits::default())
    }

    #[test]
    fn finding_s12_a_session_has_sixteen_streams_and_no_more() {
        let budgets = budgets();
        let take = || budgets.take("s1", Resource::Streams, 1);
        let mut open: Vec<_> = (0..16).map(|_| take().expect("room for sixteen")).collect();
        let refused = take().expect_err("the seventeenth");
        assert_eq!(refused, LimitReached::Streams(16));
        assert!(refused.to_string().contains("16 live tabs"), "{refused}");
        // another session, and another resource of the same session, are not limited
        let other = budgets.take("s2", Resource::Streams, 1);
        assert!(other.is_ok());
        assert!(budgets.take("s1", Resource::Terminals, 1).is_ok());
        open.pop();
        assert!(take().is_ok(), "a closed stream makes room");
    }

    #[test]
    fn finding_s12_merged_lists_over_forty_namespaces_fit() {
        let budgets = budgets();
        let lists: Vec<_> = (0..6)
            .map(|_| budgets.take("s", Resource::Watches, 40))
            .collect();
        assert!(lists.iter().all(Result::is_ok));
        assert!(!budgets.has_room("s", Resource::Watches, 40));
        assert!(budgets.take("s", Resource::Watches, 40).is_err());
    }

    #[test]
    fn finding_s12_a_share_that_cannot_grow_stays_as_it_was() {
        let budgets = budgets();
        let limit = StreamLimits::default().max_list_bytes;
        let mut first = budgets.take("s", Resource::ListBytes, limit).expect("all");
        let mut second = budgets.take("s", Resource::ListBytes, 0).expect("nothing");
        assert!(second.resize(1).is_err());
        first.resize(limit - 1).expect("less");
        second.resize(1).expect("the byte that is free");
        assert!(second.resize(2).is_err());
        second.resize(1).expect("the same");
        drop((first, second));
        assert!(
            budgets.lock().is_empty(),
            "sessions without shares are forgotten"
        );
    }
}
