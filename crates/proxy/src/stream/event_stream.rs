//! Ends event streams (`text/event-stream`) with an event that gives the reason, between two other
//! events. Clients that do not know the event ignore it.
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use crate::stream::connections::Closing;

const MEDIA_TYPE: &str = "text/event-stream";
/// The type of the event.
const EVENT: &str = "portico-closed";

/// Whether the last forwarded byte ended an event.
#[derive(Debug)]
pub struct EventStream {
    /// The last bytes; at its beginning, a stream is between events.
    tail: Vec<u8>,
}

impl EventStream {
    /// Follows a response's body, if it is an event stream that events can be added to. `kind` is its
    /// `Content-Type`.
    pub fn in_answer(kind: &HeaderValue, headers: &HeaderMap) -> Option<Self> {
        // most responses are something else
        let plain = is_event_stream(kind)
            && !headers.contains_key(header::CONTENT_ENCODING)
            && !headers.contains_key(header::CONTENT_LENGTH);
        plain.then(|| Self {
            tail: b"\n\n".to_vec(),
        })
    }

    /// Follows bytes that are forwarded.
    pub fn pass(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes.iter().rev().take(4).rev());
        let surplus = self.tail.len().saturating_sub(4);
        self.tail.drain(..surplus);
    }

    /// Returns the last event; `None` in the middle of another event, which must not look complete.
    pub fn last(&self, closing: Closing) -> Option<Bytes> {
        let between = [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"]
            .iter()
            .any(|end| self.tail.ends_with(end));
        between.then(|| Bytes::from(format!("event: {EVENT}\ndata: {}\n\n", closing.as_str())))
    }
}

/// Returns whether a `Content-Type` is that of event streams, in any case and with any parameters
/// (RFC 9110, 8.3.1).
pub fn is_event_stream(content_type: &HeaderValue) -> bool {
    let value = content_type.as_bytes().trim_ascii_start();
    let parts = value.split_at_checked(MEDIA_TYPE.len());
    parts.is_some_and(|(media_type, rest)| {
        media_type.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes())
            && matches!(rest.trim_ascii_start().first(), None | Some(b';'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> EventStream {
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, kind.clone());
        EventStream::in_answer(&kind, &headers).expect("an event stream")
    }

    #[test]
    fn the_last_event_is_sent_between_events_only() {
        for (pieces, between) in [
            (&[][..], true),
            (&["data: a\n\n"][..], true),
            (&["data: a\n", "\n"][..], true),
            (&["data: a\r\n\r", "\n"][..], true),
            (&["data: a\n"][..], false),
            (&["data: a\n\n", "data: b"][..], false),
            (&["data: a\n\n", ": comment\n"][..], false),
        ] {
            let mut events = stream();
            for piece in pieces {
                events.pass(piece.as_bytes());
            }
            let last = events.last(Closing::Renewed);
            assert_eq!(last.is_some(), between, "{pieces:?}");
        }
    }

    #[test]
    fn only_plain_event_streams_are_added_to() {
        for (name, value) in [("content-encoding", "gzip"), ("content-length", "12")] {
            let mut headers = HeaderMap::new();
            let kind = HeaderValue::from_static("text/event-stream");
            headers.insert(header::CONTENT_TYPE, kind.clone());
            headers.insert(name, HeaderValue::from_static(value));
            assert!(EventStream::in_answer(&kind, &headers).is_none(), "{name}");
        }
        for kind in [
            "text/html",
            "text/event",
            "text/event-stream2",
            "text/event-stream +x",
        ] {
            let kind = HeaderValue::from_static(kind);
            assert!(!is_event_stream(&kind), "{kind:?}");
            assert!(EventStream::in_answer(&kind, &HeaderMap::new()).is_none());
        }
        for kind in [
            "Text/Event-Stream",
            "text/event-stream;charset=utf-8",
            " text/event-stream ; charset=utf-8",
        ] {
            let kind = HeaderValue::from_static(kind);
            assert!(is_event_stream(&kind), "{kind:?}");
            assert!(EventStream::in_answer(&kind, &HeaderMap::new()).is_some());
        }
    }
}
