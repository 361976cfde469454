//! Parsing of kube-auth's token review metrics from Prometheus' text format.
use portico_domain::panel::{Quantile, ReviewFigures};
use prometheus_parse::{Sample as Line, Scrape, Value};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

const TOTAL: &str = "portico_token_reviews_total";
const SECONDS: &str = "portico_token_review_seconds";
const STARTED: &str = "portico_start_time_seconds";
const KEYSTONE_ANSWER: &str = "portico_kube_auth_keystone_last_answer_timestamp_seconds";
const KEYSTONE_FAILURE: &str = "portico_kube_auth_keystone_last_failure_timestamp_seconds";
/// The metrics that are read.
const WANTED: [&str; 5] = [TOTAL, SECONDS, STARTED, KEYSTONE_ANSWER, KEYSTONE_FAILURE];

/// One reading of a process's metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Unix seconds.
    pub read_at: i64,
    pub started_at: Option<i64>,
    pub keystone_answer: Option<i64>,
    pub keystone_failure: Option<i64>,
    clusters: HashMap<Uuid, Counts>,
}

/// Counters of one cluster, since the process started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    by_result: BTreeMap<String, f64>,
    cached: f64,
    /// Cumulative numbers of reviews up to a duration in seconds.
    buckets: Vec<(f64, f64)>,
}

impl Sample {
    /// Reads the text. Metrics that are not about token reviews, and invalid lines, are skipped.
    pub fn read(text: &str, read_at: i64) -> Self {
        let wanted = text
            .lines()
            .filter(|line| WANTED.iter().any(|name| line.contains(name)))
            .map(|line| Ok(line.to_owned()));
        let mut sample = Self {
            read_at,
            ..Self::default()
        };
        // reading lines from memory cannot fail
        let lines = Scrape::parse(wanted).map_or_else(|_| Vec::new(), |scrape| scrape.samples);
        for line in lines {
            sample.take(&line);
        }
        sample
    }

    fn take(&mut self, line: &Line) {
        match (line.metric.as_str(), &line.value) {
            (STARTED, Value::Gauge(value)) => self.started_at = seconds(*value),
            (KEYSTONE_ANSWER, Value::Gauge(value)) => self.keystone_answer = seconds(*value),
            (KEYSTONE_FAILURE, Value::Gauge(value)) => self.keystone_failure = seconds(*value),
            (TOTAL, Value::Counter(value)) => {
                let Some(counts) = self.counts_of(line) else {
                    return;
                };
                let result = line.labels.get("result").unwrap_or_default();
                *counts.by_result.entry(result.to_owned()).or_default() += value;
                if line.labels.get("cached") == Some("true") {
                    counts.cached += value;
                }
            }
            (SECONDS, Value::Histogram(buckets)) => {
                let Some(counts) = self.counts_of(line) else {
                    return;
                };
                for bucket in buckets {
                    match counts
                        .buckets
                        .iter_mut()
                        .find(|(bound, _)| bound.total_cmp(&bucket.less_than).is_eq())
                    {
                        Some((_, count)) => *count += bucket.count,
                        None => counts.buckets.push((bucket.less_than, bucket.count)),
                    }
                }
                counts.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            }
            _ => {}
        }
    }

    fn counts_of(&mut self, line: &Line) -> Option<&mut Counts> {
        let cluster = Uuid::parse_str(line.labels.get("cluster")?).ok()?;
        Some(self.clusters.entry(cluster).or_default())
    }

    /// Returns the counts of a cluster; all zero if there are none yet.
    pub fn of(&self, cluster: Uuid) -> Counts {
        self.clusters.get(&cluster).cloned().unwrap_or_default()
    }
}

impl Counts {
    /// Returns the increase since an earlier reading of the same process.
    pub fn since(&self, earlier: &Self) -> Self {
        let less = |now: f64, before: Option<f64>| (now - before.unwrap_or_default()).max(0.0);
        Self {
            by_result: self
                .by_result
                .iter()
                .map(|(result, count)| {
                    let before = earlier.by_result.get(result).copied();
                    (result.clone(), less(*count, before))
                })
                .collect(),
            cached: less(self.cached, Some(earlier.cached)),
            buckets: self
                .buckets
                .iter()
                .map(|(bound, count)| {
                    let before = earlier
                        .buckets
                        .iter()
                        .find(|(known, _)| known.total_cmp(bound).is_eq())
                        .map(|(_, count)| *count);
                    (*bound, less(*count, before))
                })
                .collect(),
        }
    }

    /// Returns the figures for users.
    pub fn figures(&self) -> ReviewFigures {
        let count = |result: &str| whole(self.by_result.get(result).copied().unwrap_or_default());
        ReviewFigures {
            authenticated: count("authenticated"),
            refused: count("refused"),
            undecided: count("undecided"),
            invalid: count("invalid"),
            cached: whole(self.cached),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
        }
    }

    /// Estimates a quantile as Prometheus' `histogram_quantile` does: uniformly within each bucket.
    fn quantile(&self, q: f64) -> Option<Quantile> {
        let total = self.buckets.last().map(|(_, count)| *count)?;
        if total <= 0.0 {
            return None;
        }
        let rank = q * total;
        let (mut lower, mut below) = (0.0, 0.0);
        for (bound, count) in &self.buckets {
            if *count >= rank {
                let or_more = bound.is_infinite();
                let share = if *count > below {
                    (rank - below) / (count - below)
                } else {
                    1.0
                };
                let seconds = if or_more {
                    lower
                } else {
                    lower + (bound - lower) * share
                };
                return Some(Quantile {
                    microseconds: whole(seconds * 1_000_000.0),
                    or_more,
                });
            }
            (lower, below) = (*bound, *count);
        }
        None
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and durations that are read from text; what is too large or negative is cut off"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn seconds(value: f64) -> Option<i64> {
    i64::try_from(whole(value.floor()))
        .ok()
        .filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "bff6fbd5-4b48-4ecc-8e10-687444ebba16";

    fn text(yes: u32, cached: u32) -> String {
        let all = yes + cached;
        format!(
            r#"# TYPE portico_token_reviews_total counter
portico_token_reviews_total{{cluster="{CLUSTER}",result="authenticated",cached="false"}} {yes}
portico_token_reviews_total{{cluster="{CLUSTER}",result="authenticated",cached="true"}} {cached}
portico_token_reviews_total{{cluster="{CLUSTER}",result="refused",cached="false"}} 3
portico_token_reviews_total{{cluster="",result="stranger",cached="false"}} 9
# TYPE portico_start_time_seconds gauge
portico_start_time_seconds 1700000000.25
# TYPE portico_kube_auth_keystone_last_answer_timestamp_seconds gauge
portico_kube_auth_keystone_last_answer_timestamp_seconds 1700000100.9
# TYPE portico_token_review_seconds histogram
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="true",le="0.001"}} {cached}
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="true",le="0.01"}} {cached}
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="true",le="+Inf"}} {cached}
portico_token_review_seconds_sum{{cluster="{CLUSTER}",result="authenticated",cached="true"}} 0.1
portico_token_review_seconds_count{{cluster="{CLUSTER}",result="authenticated",cached="true"}} {cached}
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="false",le="0.001"}} 0
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="false",le="0.01"}} {yes}
portico_token_review_seconds_bucket{{cluster="{CLUSTER}",result="authenticated",cached="false",le="+Inf"}} {yes}
some_other_metric{{all="{all}"}} nonsense
"#
        )
    }

    fn cluster() -> Uuid {
        CLUSTER.parse().unwrap()
    }

    #[test]
    fn reviews_are_counted_by_cluster_and_result() {
        let sample = Sample::read(&text(10, 90), 1_700_000_200);
        let figures = sample.of(cluster()).figures();
        assert_eq!(
            (
                figures.authenticated,
                figures.refused,
                figures.undecided,
                figures.cached
            ),
            (100, 3, 0, 90)
        );
        assert_eq!(sample.started_at, Some(1_700_000_000));
        assert_eq!(sample.keystone_answer, Some(1_700_000_100));
        assert_eq!(sample.keystone_failure, None);
        assert_eq!(sample.of(Uuid::nil()).figures(), ReviewFigures::default());
    }

    #[test]
    fn quantiles_are_estimated_over_all_results() {
        let figures = Sample::read(&text(10, 90), 0).of(cluster()).figures();
        // half of 100 reviews: 50 of the 90 in the first bucket of 1 ms
        assert_eq!(figures.p50.unwrap().microseconds, 556);
        // 99: nine of ten in the bucket from 1 to 10 ms
        assert_eq!(figures.p99.unwrap().microseconds, 9_100);
        assert!(!figures.p99.unwrap().or_more);
    }

    #[test]
    fn what_is_slower_than_the_last_bound_is_that_or_more() {
        let slow = Counts {
            buckets: vec![(1.0, 0.0), (f64::INFINITY, 5.0)],
            ..Counts::default()
        };
        assert_eq!(
            slow.figures().p50,
            Some(Quantile {
                microseconds: 1_000_000,
                or_more: true
            })
        );
    }

    #[test]
    fn recent_figures_are_what_came_on_top() {
        let (before, now) = (
            Sample::read(&text(10, 90), 0),
            Sample::read(&text(12, 98), 5),
        );
        let recent = now.of(cluster()).since(&before.of(cluster())).figures();
        assert_eq!(
            (recent.authenticated, recent.cached, recent.refused),
            (10, 8, 0)
        );
        assert_eq!(recent.p50.unwrap().microseconds, 625);
    }

    #[test]
    fn text_that_is_not_metrics_gives_nothing() {
        let sample = Sample::read("<html>portico_token_reviews_total</html>", 1);
        assert_eq!(
            sample,
            Sample {
                read_at: 1,
                ..Sample::default()
            }
        );
    }
}
