//! The end of a log's time range. Kubernetes has no parameter for it: the lines are requested with their
//! timestamps, and the first later one ends the log.
use crate::kube::logs;
use app::error::UiErrorKind;
use jiff::Timestamp;
use portico_domain::stream::LogQuery;
use std::{sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of ranges that have ended and are read at once for one tab: each may be as long as
/// [`logs::MAX_RANGE_BYTES`].
const MAX_CONCURRENT_READS: usize = 2;
/// How long the last lines of a range may take to arrive.
const LATE_LINES_GRACE: Duration = Duration::from_secs(2);

/// The end of a range, and whether the lines are shown with their timestamps.
#[derive(Clone, Copy, Debug)]
pub struct LogRange {
    until: Option<Timestamp>,
    shows_timestamps: bool,
}

impl LogRange {
    pub fn of(query: &LogQuery) -> Self {
        Self {
            until: query
                .until
                .and_then(|until| Timestamp::from_second(until.into()).ok()),
            shows_timestamps: query.timestamps,
        }
    }

    /// Returns a line as it is shown; `None` if it is later than the range. A line without a timestamp is part
    /// of the one before.
    pub fn cut(&self, line: String) -> Option<String> {
        let Some(until) = self.until else {
            return Some(line);
        };
        let (timestamp, text) = line.split_once(' ').unwrap_or((&line, ""));
        let Ok(timestamp) = timestamp.parse::<Timestamp>() else {
            return Some(line);
        };
        if timestamp > until {
            None
        } else if self.shows_timestamps {
            Some(line)
        } else {
            Some(text.to_owned())
        }
    }
}

/// Returns a query as it is read at `now`, in Unix seconds: a range that has ended is not followed.
pub fn at(now: i64, query: LogQuery) -> LogQuery {
    LogQuery {
        follow: query.follow && !has_ended(now, &query),
        ..query
    }
}

/// Returns whether the end of a range has passed.
pub fn has_ended(now: i64, query: &LogQuery) -> bool {
    query.until.is_some_and(|until| i64::from(until) <= now)
}

/// Returns whether a log that ended with an error is requested again by the page. A range that has ended would be
/// read from its start each time, and its lines shown twice.
pub fn may_retry(kind: UiErrorKind, query: &LogQuery) -> bool {
    kind == UiErrorKind::Unavailable && !logs::reads_whole_range(query)
}

/// The places for the ranges that one tab reads at once.
#[derive(Clone, Debug)]
pub struct RangeReads(Arc<Semaphore>);

impl RangeReads {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_READS)))
    }

    /// Waits until a log may be read, which is until the permit is dropped. Only a range that has ended takes a place.
    pub async fn place(self, query: &LogQuery) -> Option<OwnedSemaphorePermit> {
        if logs::reads_whole_range(query) {
            // an error would mean that the semaphore was closed, which it never is
            self.0.acquire_owned().await.ok()
        } else {
            None
        }
    }
}

/// Is ready when a followed range has ended, although no later line ends it; never for other logs.
pub async fn over(now: i64, query: &LogQuery) {
    match query.until {
        Some(until) if query.follow => {
            let left = u64::try_from(i64::from(until) - now).unwrap_or(0);
            tokio::time::sleep(Duration::from_secs(left) + LATE_LINES_GRACE).await;
        }
        _ => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-09T14:05:07Z
    const UNTIL: u32 = 1_773_065_107;

    fn query(until: Option<u32>, timestamps: bool) -> LogQuery {
        LogQuery {
            namespace: "shop".to_owned(),
            pod: "web-0".to_owned(),
            container: "main".to_owned(),
            previous: false,
            follow: true,
            timestamps,
            tail: 20,
            since: None,
            until,
        }
    }

    fn shown(lines: &[&str], until: Option<u32>, timestamps: bool) -> Vec<String> {
        let range = LogRange::of(&query(until, timestamps));
        lines
            .iter()
            .map_while(|line| range.cut((*line).to_owned()))
            .collect()
    }

    #[test]
    fn a_range_ends_before_the_first_later_line() {
        let lines = [
            "2026-03-09T14:05:06.999999999Z one",
            "2026-03-09T14:05:07Z  two",
            "2026-03-09T14:05:07.000000001Z three",
            "2026-03-09T14:05:01Z four",
        ];
        assert_eq!(shown(&lines, Some(UNTIL), false), ["one", " two"]);
        assert_eq!(shown(&lines, Some(UNTIL), true), lines[..2]);
        // without an end the lines come without timestamps, and a time in them is text
        assert_eq!(shown(&lines, None, false), lines);
    }

    #[test]
    fn timestamps_of_another_time_zone_and_lines_without_one_are_read() {
        let lines = [
            "2026-03-09T15:05:07+01:00 local",
            "2026-03-09T14:05:07Z ",
            "2026-03-09T14:05:07Z",
            "the rest of a line",
            "",
            "2026-03-09T15:05:08+01:00 later",
        ];
        assert_eq!(
            shown(&lines, Some(UNTIL), false),
            ["local", "", "", "the rest of a line", ""]
        );
    }

    #[test]
    fn a_range_that_has_ended_is_not_followed() {
        let follows = |now: u32, until| at(now.into(), query(until, false)).follow;
        assert!(follows(UNTIL, None));
        assert!(follows(UNTIL - 1, Some(UNTIL)));
        assert!(!follows(UNTIL, Some(UNTIL)));
        let previous = LogQuery {
            follow: false,
            ..query(None, false)
        };
        assert!(!at(0, previous).follow);
    }

    #[test]
    fn a_range_that_has_ended_is_not_read_again_after_an_error() {
        let retries = |kind, until| {
            let query = at(UNTIL.into(), query(until, false));
            may_retry(kind, &query)
        };
        assert!(retries(UiErrorKind::Unavailable, None));
        assert!(retries(UiErrorKind::Unavailable, Some(UNTIL + 1)));
        assert!(!retries(UiErrorKind::Unavailable, Some(UNTIL)));
        assert!(!retries(UiErrorKind::NotPermitted, None));
    }

    #[tokio::test(start_paused = true)]
    async fn at_most_two_ended_ranges_are_read_at_once() {
        let reads = RangeReads::new();
        let ended = at(UNTIL.into(), query(Some(UNTIL), false));
        let minute = Duration::from_secs(60);
        let place = |query: LogQuery| {
            let reads = reads.clone();
            async move { tokio::time::timeout(minute, reads.place(&query)).await }
        };
        let first = place(ended.clone()).await.unwrap();
        let second = place(ended.clone()).await.unwrap();
        assert!(first.is_some() && second.is_some());
        assert!(place(ended.clone()).await.is_err());
        // a log that is followed takes no place
        assert!(place(query(None, false)).await.unwrap().is_none());
        drop(first);
        assert!(place(ended).await.unwrap().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_followed_range_is_over_without_a_later_line() {
        let start = tokio::time::Instant::now();
        over(i64::from(UNTIL) - 10, &query(Some(UNTIL), false)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(10) + LATE_LINES_GRACE);
        let endless = query(None, false);
        let hour = Duration::from_secs(3_600);
        assert!(tokio::time::timeout(hour, over(0, &endless)).await.is_err());
    }
}
