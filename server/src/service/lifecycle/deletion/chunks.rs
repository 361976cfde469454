//! Lists of a cluster that are read to their end, in chunks.
use crate::kube::KubeError;
use serde_json::Value;
use std::future::Future;

/// Maximum number of chunks of a list: an API server may name a next one for ever.
const MAX_CHUNKS: usize = 20;
/// Maximum number of objects of a list: an API server may send more in a chunk than it was asked for.
const MAX_ITEMS: usize = 10_000;

/// Returns all objects of a list. `chunk` reads the chunk at a position, which is empty for the first.
///
/// # Errors
/// Those of `chunk`; `Protocol` if a chunk is not a list, and `TooMany` if the list has no end or too many objects: a
/// part of it, or nothing, would be taken for all of it.
pub async fn all<F>(mut chunk: impl FnMut(String) -> F) -> Result<Vec<Value>, KubeError>
where
    F: Future<Output = Result<Value, KubeError>>,
{
    let mut items = Vec::new();
    let mut position = String::new();
    for _ in 0..MAX_CHUNKS {
        let mut list = chunk(position).await?;
        match list.get_mut("items").map(Value::take) {
            Some(Value::Array(found)) => items.extend(found),
            // an empty list of Go
            Some(Value::Null) => {}
            _ => return Err(KubeError::Protocol("a list without items".to_owned())),
        }
        if items.len() > MAX_ITEMS {
            break;
        }
        let next = list.pointer("/metadata/continue").and_then(Value::as_str);
        position = next.unwrap_or_default().to_owned();
        if position.is_empty() {
            return Ok(items);
        }
    }
    Err(KubeError::TooMany)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::future::ready;

    /// Reads a list of so many objects, in chunks of one.
    async fn read(count: usize) -> Result<Vec<Value>, KubeError> {
        all(|position| async move {
            let number: usize = position.parse().unwrap_or_default();
            let next = Some(number + 1).filter(|next| *next < count);
            Ok(json!({
                "metadata": {"continue": next.map(|next| next.to_string())},
                "items": [number],
            }))
        })
        .await
    }

    #[tokio::test]
    async fn a_list_is_read_to_its_end_or_not_taken_for_the_whole() {
        assert_eq!(read(1).await.unwrap(), [json!(0)]);
        assert_eq!(read(3).await.unwrap(), [json!(0), json!(1), json!(2)]);
        let endless = read(usize::MAX).await;
        assert!(matches!(endless, Err(KubeError::TooMany)), "{endless:?}");
    }

    #[tokio::test]
    async fn a_chunk_with_more_objects_than_a_list_may_have_is_not_kept() {
        let read = async |count: usize| {
            let items = vec![json!({}); count];
            all(|_| ready(Ok(json!({"items": items.clone()})))).await
        };
        assert_eq!(read(MAX_ITEMS).await.unwrap().len(), MAX_ITEMS);
        let refused = read(MAX_ITEMS + 1).await;
        let is_refused = matches!(refused, Err(KubeError::TooMany));
        assert!(is_refused, "it is not refused");
    }

    #[tokio::test]
    async fn an_answer_that_is_not_a_list_is_not_an_empty_one() {
        let read = async |answer: Value| all(|_| ready(Ok(answer.clone()))).await;
        for other in [
            json!({"kind": "Status"}),
            json!({"items": "none"}),
            json!([]),
        ] {
            let refused = read(other).await;
            let is_protocol = matches!(refused, Err(KubeError::Protocol(_)));
            assert!(is_protocol, "{refused:?}");
        }
        // control case: empty lists
        for empty in [json!({"items": []}), json!({"items": null})] {
            assert!(read(empty).await.unwrap().is_empty());
        }
    }
}
