//! The API server as the checks before an upgrade and the course of an operation read it.
use super::client::{Authorized, RawAnswer};
use super::error::ApiError;
use portico_cluster_operations::inside::{ApiServer, ReadError};
use serde_json::Value;

impl ApiServer for Authorized<'_> {
    async fn json(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ReadError> {
        let bytes = body(self.get(path, query).await)?;
        serde_json::from_slice(&bytes)
            .map_err(|_| read_error(&ApiError::Malformed("it is not JSON")))
    }

    async fn text(&self, path: &str) -> Result<String, ReadError> {
        let bytes = body(self.get(path, &[]).await)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns the body of a successful answer.
fn body(answer: Result<RawAnswer, ApiError>) -> Result<Vec<u8>, ReadError> {
    let answer = answer.map_err(|error| read_error(&error))?;
    if (200..300).contains(&answer.status) {
        return Ok(answer.body);
    }
    let status = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    Err(read_error(&ApiError::of_answer(answer.status, &status)))
}

fn read_error(error: &ApiError) -> ReadError {
    let text = sentence(&error.to_string());
    match error {
        ApiError::NotFound(_) => ReadError::NotFound(text),
        ApiError::Unauthorized | ApiError::Forbidden(_) => ReadError::Refused(text),
        ApiError::Refused { status, .. } if *status < 500 => ReadError::Refused(text),
        _ => ReadError::Failed(text),
    }
}

/// Returns the clause of an error as a sentence.
pub fn sentence(clause: &str) -> String {
    let mut chars = clause.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let end = if clause.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_not_read_has_a_sentence() {
        let refused = ApiError::of_answer(403, &json!({"message": "nodes is forbidden"}));
        let ReadError::Refused(text) = read_error(&refused) else {
            panic!("it is a refusal");
        };
        assert_eq!(text, "Your roles do not permit it (nodes is forbidden).");
        let failed = ApiError::of_answer(503, &Value::Null);
        assert!(matches!(read_error(&failed), ReadError::Failed(_)));
        let missing = ApiError::of_answer(404, &Value::Null);
        assert!(matches!(read_error(&missing), ReadError::NotFound(_)));
    }
}
