//! Metrics of reviews, for each configured cluster. The label `cluster` is empty for clients that
//! could not prove to belong to one: clients cannot choose its values.
use crate::audit::Decision;
use jiff::Timestamp;
use metrics::{Counter, Histogram};
use portico_openstack::keystone::{Error, TokenDetails};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

const TOTAL: &str = "portico_token_reviews_total";
const ACCESS: &str = "portico_access_reviews_total";
const SECONDS: &str = "portico_token_review_seconds";
const KEYSTONE_ANSWER: &str = "portico_kube_auth_keystone_last_answer_timestamp_seconds";
const KEYSTONE_FAILURE: &str = "portico_kube_auth_keystone_last_failure_timestamp_seconds";

const LIST_FETCHES: &str = "portico_cluster_list_fetches_total";
const LIST_SEQUENCE: &str = "portico_cluster_list_sequence";
const LIST_CLUSTERS: &str = "portico_cluster_list_clusters";
const LIST_EXPIRY: &str = "portico_cluster_list_expiry_timestamp_seconds";

/// The results of a review, in the order of [`Label`]'s handles.
const RESULTS: [&str; 3] = ["authenticated", "refused", "undecided"];

/// A configured cluster's ID as a label, with handles to the metrics of every review: looking them
/// up by name would cost more than counting.
#[derive(Clone)]
pub(crate) struct Label {
    cluster: Arc<str>,
    /// By result, not cached and cached.
    reviews: Arc<[[(Counter, Histogram); 2]; 3]>,
}

impl Label {
    /// Returns the label of a configured cluster.
    pub fn of(cluster: Uuid) -> Self {
        let cluster: Arc<str> = cluster.to_string().into();
        let handles = |result: &'static str| {
            ["false", "true"].map(|cached| {
                let cluster = || Arc::clone(&cluster);
                (
                    metrics::counter!(TOTAL, "cluster" => cluster(), "result" => result, "cached" => cached),
                    metrics::histogram!(SECONDS, "cluster" => cluster(), "result" => result, "cached" => cached),
                )
            })
        };
        Self {
            reviews: Arc::new(RESULTS.map(handles)),
            cluster,
        }
    }

    fn or_none(label: Option<&Self>) -> Arc<str> {
        label.map_or_else(|| Arc::from(""), |label| Arc::clone(&label.cluster))
    }
}

/// Counts a review with a response, or without one because of an outage.
pub(crate) fn record(cluster: &Label, decision: &Decision, cached: bool, took: Duration) {
    let result = match decision {
        Decision::Authenticated(_) => 0,
        Decision::Refused(..) => 1,
        Decision::Undecided(_) => 2,
    };
    let (counter, histogram) = &cluster.reviews[result][usize::from(cached)];
    counter.increment(1);
    histogram.record(took.as_secs_f64());
}

/// Counts a request that was not a review, or came from an unknown client.
pub(crate) fn record_rejected(cluster: Option<&Label>, result: &'static str) {
    let cluster = Label::or_none(cluster);
    metrics::counter!(TOTAL, "cluster" => cluster, "result" => result, "cached" => "false")
        .increment(1);
}

/// Counts an access review.
pub(crate) fn record_access(cluster: &Label, allowed: bool) {
    let result = if allowed { "allowed" } else { "no_opinion" };
    metrics::counter!(ACCESS, "cluster" => Arc::clone(&cluster.cluster), "result" => result)
        .increment(1);
}

/// Records whether Keystone responded about a token. A refusal of a token is a response.
pub(crate) fn record_keystone(answer: &Result<TokenDetails, Error>, now: Timestamp) {
    let name = match answer {
        Ok(_) | Err(Error::InvalidToken) => KEYSTONE_ANSWER,
        Err(_) => KEYSTONE_FAILURE,
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact until far beyond our days"
    )]
    metrics::gauge!(name).set(now.as_millisecond() as f64 / 1_000.0);
}

/// Counts an attempt to fetch the cluster list. `result` is `taken`, `unchanged`, `failed`, or the
/// reason of a refusal.
pub(crate) fn record_list_fetch(result: &'static str) {
    metrics::counter!(LIST_FETCHES, "result" => result).increment(1);
}

/// Records the cluster list in use.
#[expect(
    clippy::cast_precision_loss,
    reason = "exact for the numbers of changes, clusters and seconds that there are"
)]
pub(crate) fn record_list(sequence: u64, clusters: usize, expires_at: Timestamp) {
    metrics::gauge!(LIST_SEQUENCE).set(sequence as f64);
    metrics::gauge!(LIST_CLUSTERS).set(clusters as f64);
    metrics::gauge!(LIST_EXPIRY).set(expires_at.as_second() as f64);
}

/// Describes the metrics. Called once, when the service is built.
pub(crate) fn describe() {
    metrics::describe_counter!(
        TOTAL,
        "Token reviews by cluster and result, and whether Keystone was asked."
    );
    metrics::describe_counter!(ACCESS, "Access reviews by cluster and result.");
    metrics::describe_histogram!(
        SECONDS,
        metrics::Unit::Seconds,
        "Duration of token reviews by cluster."
    );
    metrics::describe_counter!(
        LIST_FETCHES,
        "Attempts to fetch the cluster list, by result."
    );
    metrics::describe_gauge!(LIST_SEQUENCE, "Sequence of the cluster list in use.");
    metrics::describe_gauge!(LIST_CLUSTERS, "Clusters of the cluster list in use.");
    metrics::describe_gauge!(
        LIST_EXPIRY,
        metrics::Unit::Seconds,
        "When the cluster list in use expires, in seconds since 1970."
    );
    metrics::describe_gauge!(
        KEYSTONE_ANSWER,
        metrics::Unit::Seconds,
        "When Keystone last answered about a token, in seconds since 1970."
    );
    metrics::describe_gauge!(
        KEYSTONE_FAILURE,
        metrics::Unit::Seconds,
        "When Keystone last gave no answer about a token, in seconds since 1970."
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Refusal;
    use portico_runtime::metrics::Metrics;

    #[test]
    fn reviews_carry_their_cluster_and_strangers_none() {
        let metrics = Metrics::install(Timestamp::UNIX_EPOCH).unwrap();
        let cluster = Uuid::from_u128(0x5eed);
        record(
            &Label::of(cluster),
            &Decision::Refused(Refusal::DeadToken, None),
            true,
            Duration::from_millis(2),
        );
        record_rejected(None, "stranger");
        record_access(&Label::of(cluster), true);
        record_keystone(&Err(Error::InvalidToken), Timestamp::UNIX_EPOCH);
        let text = metrics.render();
        for line in [
            format!(
                r#"portico_token_reviews_total{{cluster="{cluster}",result="refused",cached="true"}} 1"#
            ),
            format!(
                r#"portico_token_review_seconds_bucket{{cluster="{cluster}",result="refused",cached="true",le="0.0025"}} 1"#
            ),
            format!(r#"portico_access_reviews_total{{cluster="{cluster}",result="allowed"}} 1"#),
            r#"portico_token_reviews_total{cluster="",result="stranger",cached="false"} 1"#
                .to_owned(),
        ] {
            assert!(text.contains(&line), "{line}\n{text}");
        }
        // a refused token is a response of Keystone's
        assert!(text.contains(KEYSTONE_ANSWER) && !text.contains(KEYSTONE_FAILURE));
    }
}
