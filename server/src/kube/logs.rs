//! A container's log, as lines.
use super::{Api, KubeError, api::Call, path};
use bytes::{Buf, Bytes, BytesMut};
use futures::{Stream, StreamExt, stream::BoxStream};
use portico_domain::{
    panel::{ObjectRef, ResourceRef},
    stream::LogQuery,
};

/// Maximum length of a line, in bytes; longer ones are cut and marked.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// Maximum number of lines in a first request.
const MAX_TAIL_LINES: u32 = 10_000;
/// Maximum size of a log that is not followed, in bytes.
const MAX_BYTES: usize = 10 * 1024 * 1024;
/// Maximum size of a log that is read up to the end of a time range, in bytes: more than the kubelet stores of
/// a container by default.
pub const MAX_RANGE_BYTES: usize = 100 * 1024 * 1024;

/// Returns whether all lines of a log are read up to the end of a time range. Kubernetes counts the lines to
/// start with from the end of the log, where they may all be later.
pub fn reads_whole_range(query: &LogQuery) -> bool {
    query.until.is_some() && !query.follow
}

/// Opens a log. The stream ends with the container, or with the current end of the log. With the end of a time
/// range, which Kubernetes has no parameter for, every line begins with its timestamp.
pub async fn open(
    api: &Api,
    query: &LogQuery,
) -> Result<impl Stream<Item = Result<String, KubeError>> + Send + use<>, KubeError> {
    let pod = path::object(&ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(query.namespace.clone()),
        name: query.pod.clone(),
    })?;
    let flag = |on: bool| if on { "true" } else { "" };
    let (tail, limit) = bounds(query);
    let path = path::with_query(
        &format!("{pod}/log"),
        &[
            ("container", &query.container),
            ("follow", flag(query.follow)),
            ("previous", flag(query.previous)),
            (
                "timestamps",
                flag(query.timestamps || query.until.is_some()),
            ),
            (
                "sinceSeconds",
                &query.since.map_or(String::new(), |since| since.to_string()),
            ),
            ("tailLines", &tail),
            ("limitBytes", &limit),
        ],
    );
    let body = api
        .stream(Call {
            accept: "*/*",
            ..Call::get(&path)
        })
        .await?;
    Ok(lines(body))
}

/// Returns the number of lines to start with, and the maximum size in bytes; empty without a bound.
fn bounds(query: &LogQuery) -> (String, String) {
    let tail = query.tail.min(MAX_TAIL_LINES).to_string();
    if reads_whole_range(query) {
        (String::new(), MAX_RANGE_BYTES.to_string())
    } else if query.follow {
        (tail, String::new())
    } else {
        (tail, MAX_BYTES.to_string())
    }
}

/// Returns whether an error means that there is no log because the container has not started: 204
/// if the pod has no node yet, 400 with the kubelet's or API server's message if it has one.
pub fn has_not_started(error: &KubeError) -> bool {
    match error {
        KubeError::Server { status, .. } => *status == 204,
        KubeError::Invalid(message) => {
            message.contains("waiting to start")
                || (message.contains("is not available") && message.contains("container"))
        }
        _ => false,
    }
}

fn lines(
    body: BoxStream<'static, Result<Bytes, std::io::Error>>,
) -> impl Stream<Item = Result<String, KubeError>> + Send {
    let state = (body, Lines::default(), false);
    futures::stream::unfold(state, |(mut body, mut lines, mut ended)| async move {
        loop {
            if let Some(line) = lines.next() {
                return Some((Ok(line), (body, lines, ended)));
            }
            if ended {
                return None;
            }
            match body.next().await {
                Some(Ok(chunk)) => lines.push(&chunk),
                Some(Err(error)) => {
                    ended = true;
                    let error = KubeError::Unreachable(error.to_string());
                    return Some((Err(error), (body, lines, ended)));
                }
                None => {
                    ended = true;
                    lines.finish();
                }
            }
        }
    })
}

/// Splits bytes into lines of bounded length.
#[derive(Default)]
struct Lines {
    buffer: BytesMut,
    /// Whether the rest of a cut line is being discarded.
    skipping: bool,
    finished: bool,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    fn finish(&mut self) {
        self.finished = true;
    }

    fn next(&mut self) -> Option<String> {
        loop {
            let end = self.buffer.iter().position(|byte| *byte == b'\n');
            match end {
                Some(end) => {
                    let line = self.buffer.split_to(end);
                    self.buffer.advance(1);
                    if std::mem::take(&mut self.skipping) {
                        continue;
                    }
                    return Some(text(&line));
                }
                None if self.skipping => {
                    self.buffer.clear();
                    return None;
                }
                None if self.buffer.len() > MAX_LINE_BYTES => {
                    self.skipping = true;
                    let line = self.buffer.split();
                    return Some(text(&line));
                }
                None if self.finished && !self.buffer.is_empty() => {
                    let line = self.buffer.split();
                    return Some(text(&line));
                }
                None => return None,
            }
        }
    }
}

fn text(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > MAX_LINE_BYTES {
        format!(
            "{} … (line cut)",
            String::from_utf8_lossy(&line[..MAX_LINE_BYTES])
        )
    } else {
        String::from_utf8_lossy(line).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for chunk in chunks {
            lines.push(chunk);
            found.extend(std::iter::from_fn(|| lines.next()));
        }
        lines.finish();
        found.extend(std::iter::from_fn(|| lines.next()));
        found
    }

    #[test]
    fn finding_p3_a_container_that_has_not_started_is_distinguished_from_other_errors() {
        let answer = |status: u16, message: &str| {
            let status = http::StatusCode::from_u16(status).unwrap();
            let body = serde_json::json!({ "message": message }).to_string();
            has_not_started(&KubeError::from_response(status, body.as_bytes()))
        };
        assert!(answer(204, ""));
        assert!(answer(
            400,
            "container \"app\" in pod \"web\" is waiting to start: ContainerCreating"
        ));
        assert!(answer(
            400,
            "container \"app\" in pod \"web\" is not available"
        ));
        assert!(!answer(400, "container x is not valid for pod web"));
        assert!(!answer(
            400,
            "previous terminated container \"app\" in pod \"web\" not found"
        ));
        assert!(!answer(502, "no such host"));
    }

    #[test]
    fn the_lines_of_a_range_are_not_counted_from_the_end_of_the_log() {
        let query = |follow: bool, until: Option<u32>| LogQuery {
            namespace: "shop".to_owned(),
            pod: "web-0".to_owned(),
            container: "main".to_owned(),
            previous: false,
            follow,
            timestamps: false,
            tail: 200,
            since: None,
            until,
        };
        let of = |follow, until| bounds(&query(follow, until));
        let bound = |tail: &str, limit: &str| (tail.to_owned(), limit.to_owned());
        assert_eq!(of(true, None), bound("200", ""));
        assert_eq!(of(false, None), bound("200", "10485760"));
        assert_eq!(of(false, Some(1)), bound("", "104857600"));
        // no line that is there now is later than an end in the future
        assert_eq!(of(true, Some(u32::MAX)), bound("200", ""));
    }

    #[test]
    fn lines_are_joined_over_chunks_and_the_last_needs_no_end() {
        assert_eq!(
            cut(&[b"on", b"e\r\ntw", b"o\nthree"]),
            ["one", "two", "three"]
        );
    }

    #[test]
    fn an_endless_line_is_cut_and_its_rest_dropped() {
        let long = vec![b'x'; MAX_LINE_BYTES + 10];
        let found = cut(&[&long, b"still the same line", b"\nnext\n"]);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("(line cut)"));
        assert_eq!(found[1], "next");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_break_the_log() {
        assert_eq!(cut(&[b"\xff\xfe ok\n"]), ["\u{fffd}\u{fffd} ok"]);
    }
}
