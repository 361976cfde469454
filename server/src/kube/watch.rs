//! Table watches. Each ends after less than a minute, so that the API server checks the user's
//! rights again at least that often.
use super::{
    Api, KubeError,
    api::Call,
    listing::Selection,
    path,
    row_reader::RowReader,
    table::{self, Table, TableRow},
};
use bytes::{Buf, BytesMut};
use futures::{Stream, StreamExt};
use http::StatusCode;
use portico_domain::panel::{Column, ResourceRef};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The API server ends a watch after this many seconds.
const WATCH_SECONDS: &str = "45";
/// Maximum size of a single event, in bytes.
const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// A change in a watch.
#[derive(Debug)]
pub enum Change {
    Upsert(Vec<TableRow>),
    Remove(Vec<String>),
    /// A new position without a change.
    Position,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Opens a watch of one place from a position. Each item carries the position after it. The stream
/// ends when the API server ends the watch; the caller then opens the next one.
pub async fn watch(
    api: &Api,
    resource: &ResourceRef,
    namespace: Option<&str>,
    selection: &Selection,
    resource_version: &str,
    columns: Vec<Column>,
) -> Result<impl Stream<Item = Result<(Change, String), KubeError>> + Send + use<>, KubeError> {
    let reader = RowReader::new(api, resource).await?;
    let path = path::with_query(
        &path::collection(resource, namespace)?,
        &[
            ("watch", "1"),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", WATCH_SECONDS),
            ("resourceVersion", resource_version),
            ("labelSelector", &selection.labels),
            ("fieldSelector", &selection.fields),
            ("includeObject", reader.include_object()),
        ],
    );
    let body = api
        .stream(Call {
            accept: table::ACCEPT,
            ..Call::get(&path)
        })
        .await?;
    let lines = lines(body);
    Ok(lines.filter_map(move |line| {
        let event = line.and_then(|line| read(&line, &reader, &columns));
        futures::future::ready(event.transpose())
    }))
}

fn read(
    line: &[u8],
    reader: &RowReader,
    columns: &[Column],
) -> Result<Option<(Change, String)>, KubeError> {
    let protocol = |error: serde_json::Error| KubeError::Protocol(error.to_string());
    let event: Event<'_> = serde_json::from_slice(line).map_err(protocol)?;
    let object = event.object.get().as_bytes();
    if event.kind == "ERROR" {
        let code = serde_json::from_slice::<serde_json::Value>(object)
            .ok()
            .and_then(|status| status["code"].as_u64())
            .and_then(|code| u16::try_from(code).ok())
            .and_then(|code| StatusCode::from_u16(code).ok())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return Err(KubeError::from_response(code, object));
    }
    let table = Table::read(object)?;
    let Some(position) = table.bookmark() else {
        return Ok(None);
    };
    let change = match event.kind {
        "ADDED" | "MODIFIED" => Change::Upsert(reader.rows(table, columns)),
        "DELETED" => Change::Remove(
            reader
                .rows(table, columns)
                .into_iter()
                .map(|row| row.row.uid)
                .collect(),
        ),
        _ => Change::Position,
    };
    Ok(Some((change, position)))
}

/// Splits a body into lines, none longer than [`MAX_EVENT_BYTES`].
fn lines(
    body: futures::stream::BoxStream<'static, Result<bytes::Bytes, std::io::Error>>,
) -> impl Stream<Item = Result<BytesMut, KubeError>> + Send {
    futures::stream::unfold(
        (body, BytesMut::new()),
        |(mut body, mut buffer)| async move {
            loop {
                if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                    let line = buffer.split_to(end);
                    buffer.advance(1);
                    return Some((Ok(line), (body, buffer)));
                }
                if buffer.len() > MAX_EVENT_BYTES {
                    let error = KubeError::Protocol("an event larger than 8 MiB".to_owned());
                    buffer.clear();
                    return Some((Err(error), (body, buffer)));
                }
                match body.next().await? {
                    Ok(chunk) => buffer.extend_from_slice(&chunk),
                    Err(error) => {
                        let error = KubeError::Unreachable(error.to_string());
                        return Some((Err(error), (body, buffer)));
                    }
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> RowReader {
        RowReader::Plain {
            plural: "x".to_owned(),
        }
    }

    fn columns() -> Vec<Column> {
        vec![Column {
            name: "Name".to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        }]
    }

    #[test]
    fn added_deleted_and_bookmark_events_are_read() {
        let event = |kind: &str| {
            format!(
                r#"{{"type":"{kind}","object":{{"kind":"Table","metadata":{{}},"columnDefinitions":null,"rows":[{{"cells":["a"],"object":{{"metadata":{{"name":"a","uid":"u","resourceVersion":"9"}}}}}}]}}}}"#
            )
        };
        let (change, position) = read(event("ADDED").as_bytes(), &reader(), &columns())
            .unwrap()
            .unwrap();
        assert!(matches!(change, Change::Upsert(rows) if rows[0].row.uid == "u"));
        assert_eq!(position, "9");
        let (change, _) = read(event("DELETED").as_bytes(), &reader(), &columns())
            .unwrap()
            .unwrap();
        assert!(matches!(change, Change::Remove(uids) if uids == ["u"]));
        let (change, _) = read(event("BOOKMARK").as_bytes(), &reader(), &columns())
            .unwrap()
            .unwrap();
        assert!(matches!(change, Change::Position));
    }

    #[test]
    fn an_expired_position_is_reported_as_such() {
        let line = br#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}"#;
        assert!(matches!(
            read(line, &reader(), &columns()),
            Err(KubeError::Expired)
        ));
    }
}
