//! The messages of a tab's only event stream (`/projects/{project}/stream`, WebSocket, JSON text
//! frames). It is a WebSocket because a browser opens only six HTTP/1.1 connections to a host, which
//! eight tabs with an event source each would use up.
//!
//! A message is an object with its name as the only key: reading a tag beside the content would take
//! browsers more code.
use crate::panel::{
    Column, ListQuery, ListScope, ObjectRef, RightQuestion, Row, RowRange, RowWindow, StatusCount,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A message from the browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Starts a live list under an `id` that the browser chose.
    Watch {
        id: u32,
        cluster: Uuid,
        view: ListView,
    },
    /// Shows another view of a live list: another filter, order or window. A view of another kind is
    /// ignored.
    View { id: u32, view: ListView },
    /// Reports when one object changes (`Changed`) or is deleted (`Gone`).
    Object {
        id: u32,
        cluster: Uuid,
        object: ObjectRef,
        /// The version that the browser shows: an object that has changed since is reported at once.
        #[serde(default)]
        version: Option<String>,
    },
    /// Starts following a container's log.
    Logs {
        id: u32,
        cluster: Uuid,
        query: LogQuery,
    },
    /// Ends a subscription.
    Close { id: u32 },
}

/// What a browser shows of a live list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListView {
    /// Grows with each view of one list. Messages repeat it, so that the browser can drop what
    /// belongs to a view that it has left.
    pub turn: u32,
    pub query: ListQuery,
    pub range: RowRange,
    /// Keeps rows, their order and their cells as they are; changes are counted.
    pub is_paused: bool,
}

/// The container and the lines to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogQuery {
    pub namespace: String,
    pub pod: String,
    pub container: String,
    pub previous: bool,
    pub follow: bool,
    pub timestamps: bool,
    /// Lines from the end to start with.
    pub tail: u32,
    /// Leaves out lines that are older, in seconds.
    #[serde(default)]
    pub since: Option<u32>,
    /// Leaves out lines that are later, in Unix seconds. The log ends there.
    #[serde(default)]
    pub until: Option<u32>,
}

/// The reason why no line can be in the time range of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogRangeError {
    #[error("The time range ends before it begins. Choose a later end or a longer range.")]
    EndsBeforeStart,
}

/// Checks the time range of a [`LogQuery`] that is read at `now`, in Unix seconds.
///
/// # Errors
/// `EndsBeforeStart` if it is empty.
pub fn check_log_range(
    now: i64,
    since: Option<u32>,
    until: Option<u32>,
) -> Result<(), LogRangeError> {
    match (since, until) {
        (Some(since), Some(until)) if i64::from(until) <= now - i64::from(since) => {
            Err(LogRangeError::EndsBeforeStart)
        }
        _ => Ok(()),
    }
}

/// A message to the browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A whole window: at the start, for each new view, and after a gap.
    Snapshot {
        id: u32,
        turn: u32,
        columns: Vec<Column>,
        window: RowWindow,
        statuses: Vec<StatusCount>,
        scope: ListScope,
    },
    /// What changed in a window.
    Rows {
        id: u32,
        turn: u32,
        /// Rows that are new in the window or have changed.
        changed: Vec<Row>,
        /// The UIDs of the window's rows in their order; `None` if it is the same as before.
        order: Option<Vec<String>>,
        total: usize,
        unfiltered: usize,
        /// `None` if they are the same as before.
        statuses: Option<Vec<StatusCount>>,
        /// Number of objects that changed since the list was paused; 0 if it is not.
        pending: usize,
    },
    Changed {
        id: u32,
    },
    Gone {
        id: u32,
    },
    /// Lines of a log, in order; `skipped` were dropped because the browser was too slow.
    Lines {
        id: u32,
        lines: Vec<String>,
        skipped: u64,
    },
    /// The container of a log has not started: the reason, as a sentence. Its lines follow when it
    /// has.
    NotStarted {
        id: u32,
        reason: String,
    },
    /// The subscription ended; `retry` states whether another request makes sense. A live list that
    /// was refused, or whose filter is not valid, starts again with its next `View`.
    Ended {
        id: u32,
        reason: String,
        /// The permission that is missing, if that is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<Box<RightQuestion>>,
        retry: bool,
    },
    /// The list is not live for now (cluster or Keystone does not respond), but was correct at
    /// `since`.
    Stale {
        id: u32,
        reason: String,
        since: i64,
    },
    /// The whole stream is refused, with the reason for the user; it is closed next.
    Refused {
        reason: String,
    },
    /// Sent every 20 s, so that idle proxies keep the connection.
    Ping,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_31_the_end_of_a_subscription_names_the_missing_permission() {
        let plain = r#"{"ended":{"id":1,"reason":"over","retry":false}}"#;
        let ended: Message = serde_json::from_str(plain).unwrap();
        assert!(matches!(ended, Message::Ended { missing: None, .. }));
        assert_eq!(serde_json::to_string(&ended).unwrap(), plain);
        let refused = Message::Ended {
            id: 1,
            reason: "no".to_owned(),
            missing: Some(Box::new(RightQuestion {
                verb: "get".to_owned(),
                group: String::new(),
                resource: "pods".to_owned(),
                subresource: "log".to_owned(),
                namespace: Some("shop".to_owned()),
                name: None,
            })),
            retry: false,
        };
        let text = serde_json::to_string(&refused).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), refused);
    }

    #[test]
    fn a_log_range_ends_after_it_begins() {
        let now = 1_800_000_000;
        let until = |seconds_ago: u32| Some(1_800_000_000 - seconds_ago);
        assert_eq!(check_log_range(now, Some(300), until(299)), Ok(()));
        for empty in [300, 301] {
            assert_eq!(
                check_log_range(now, Some(300), until(empty)),
                Err(LogRangeError::EndsBeforeStart)
            );
        }
        // an end in the future, and ranges that are open at one side
        assert_eq!(check_log_range(now - 60, Some(300), until(0)), Ok(()));
        assert_eq!(check_log_range(now, None, until(86_400)), Ok(()));
        assert_eq!(check_log_range(now, Some(300), None), Ok(()));
    }

    #[test]
    fn a_log_query_of_an_older_browser_has_no_end() {
        let query: LogQuery = serde_json::from_str(
            r#"{"namespace":"shop","pod":"web-0","container":"main","previous":false,
                "follow":true,"timestamps":false,"tail":20}"#,
        )
        .unwrap();
        assert_eq!((query.since, query.until), (None, None));
    }
}
