//! One cluster that the webhook serves.
use crate::access::PolicySource;
use crate::binding::Binding;
use crate::metrics;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use portico_domain::cluster::ClusterRecord;
use std::num::NonZeroU32;

/// A cluster. A request uses the one that it found first, to its end.
pub(crate) struct Cluster {
    pub record: ClusterRecord,
    pub binding: Binding,
    pub policy: Option<PolicySource>,
    /// The rate limit of calls to Keystone.
    pub limit: DefaultDirectRateLimiter,
    pub label: metrics::Label,
}

impl Cluster {
    /// Returns a cluster without reviews so far.
    pub fn new(
        record: ClusterRecord,
        binding: Binding,
        policy: Option<PolicySource>,
        keystone_calls_per_second: NonZeroU32,
    ) -> Self {
        Self {
            label: metrics::Label::of(record.id),
            limit: RateLimiter::direct(Quota::per_second(keystone_calls_per_second)),
            record,
            binding,
            policy,
        }
    }
}
