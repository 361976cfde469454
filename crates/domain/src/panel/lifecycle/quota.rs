//! Quotas of the project, now and after a change.
use serde::{Deserialize, Serialize};

/// The quota of one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUse {
    /// The resource with its unit, such as "cores" or "GiB of volumes".
    pub resource: String,
    /// `None`: it could not be read; it is not 0.
    pub usage: Option<QuotaUsage>,
}

/// What is used, and may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUsage {
    pub used: u64,
    /// `None`: unlimited.
    pub limit: Option<u64>,
}

/// A bar of the form: a quota now and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaProjection {
    /// As in [`QuotaUse::resource`].
    pub resource: String,
    /// `None`: it could not be read.
    pub usage: Option<QuotaUsage>,
    /// What is needed; negative: freed.
    pub change: i64,
    /// Used afterwards.
    pub after: Option<u64>,
    pub fit: QuotaFit,
    /// Such as "20 of 20 cores used; 4 more needed, 4 too many."
    pub sentence: String,
}

/// Whether a change fits into a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuotaFit {
    Fits,
    /// It fits, but not with one more node in each group, as a later upgrade needs.
    FitsWithoutSurge,
    /// It lacks this much.
    Exceeded(u64),
    /// The quota could not be read.
    Unknown,
}
