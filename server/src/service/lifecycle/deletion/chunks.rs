//! Lists of a cluster that are read to their end, in chunks.
use crate::kube::KubeError;
use serde_json::Value;
use std::future::Future;

/// Maximum number of chunks of a list: an API server may name a next one for ever.
const MAX_CHUNKS: usize = 20;

/// Returns all objects of a list. `chunk` reads the chunk at a position, which is empty for the first.
///
/// # Errors
/// Those of `chunk`; `Protocol` if the list has no end, since a part of it would be taken for all of it.
pub async fn all<F>(
    plural: &str,
    mut chunk: impl FnMut(String) -> F,
) -> Result<Vec<Value>, KubeError>
where
    F: Future<Output = Result<Value, KubeError>>,
{
    let mut items = Vec::new();
    let mut position = String::new();
    for _ in 0..MAX_CHUNKS {
        let mut list = chunk(position).await?;
        if let Some(Value::Array(found)) = list.get_mut("items").map(Value::take) {
            items.extend(found);
        }
        let next = list.pointer("/metadata/continue").and_then(Value::as_str);
        position = next.unwrap_or_default().to_owned();
        if position.is_empty() {
            return Ok(items);
        }
    }
    Err(KubeError::Protocol(format!(
        "the list of {plural} has no end"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Reads a list of so many objects, in chunks of one.
    async fn read(count: usize) -> Result<Vec<Value>, KubeError> {
        all("services", |position| async move {
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
        assert!(
            matches!(endless, Err(KubeError::Protocol(_))),
            "{endless:?}"
        );
    }
}
