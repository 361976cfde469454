//! Reads forms and queries: flat, bounded in size, and without duplicate names.
use std::{collections::HashMap, time::Duration};

use axum::body::{Body, Bytes};
use http::{HeaderMap, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use portico_proxy::forward::ForwardError;
use secrecy::SecretString;

use super::error_response::Problem;

/// Bounds the body of a form, in bytes.
const MAX_FORM_BYTES: usize = 64 << 10;
/// Bounds how long the whole body of a form may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The fields of a form (or JSON object) or the parameters of a query.
#[derive(Default)]
pub(crate) struct Fields(HashMap<String, String>);

impl Fields {
    /// Reads the parameters of a request's query.
    pub fn of_query(uri: &Uri) -> Result<Self, Problem> {
        Self::of_text(uri.query().unwrap_or_default())
    }

    /// Reads the parameters of a query, or of a part of one.
    pub fn of_text(query: &str) -> Result<Self, Problem> {
        Self::parse(query.as_bytes())
    }

    fn parse(encoded: &[u8]) -> Result<Self, Problem> {
        let mut fields = HashMap::new();
        for (name, value) in url::form_urlencoded::parse(encoded) {
            if fields
                .insert(name.clone().into_owned(), value.into_owned())
                .is_some()
            {
                let name: String = name.chars().take(32).collect();
                return Err(Problem::bad_request(format!("{name} is given twice.")));
            }
        }
        Ok(Self(fields))
    }

    /// Returns the field's value; empty when it is absent.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns the field's value, unless it is absent or empty.
    pub fn optional(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// Takes a field whose value is secret.
    pub fn secret(&mut self, name: &str) -> SecretString {
        SecretString::from(self.0.remove(name).unwrap_or_default())
    }

    /// Reads the fields of a request's body: a form, or a JSON object of strings.
    ///
    /// # Errors
    /// A problem for a body that is too large, too slow, incomplete or not such a form.
    pub async fn of_body(headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        let json = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with("application/json"));
        let body = read(body, MAX_FORM_BYTES).await?;
        if json {
            let fields = serde_json::from_slice(&body).map_err(|_| {
                Problem::bad_request("The body must be a JSON object that holds only strings.")
            })?;
            return Ok(Self(fields));
        }
        Self::parse(&body)
    }
}

/// Reads a whole body of at most `max_bytes` into memory.
///
/// # Errors
/// A problem for a body that is too large, too slow or incomplete.
pub(crate) async fn read(body: Body, max_bytes: usize) -> Result<Bytes, Problem> {
    let body = Limited::new(body, max_bytes).collect();
    let body = tokio::time::timeout(BODY_TIMEOUT, body)
        .await
        .map_err(|_| Problem::forwarding("", &ForwardError::ClientTimeout(BODY_TIMEOUT)))?
        .map_err(|error| {
            if error.downcast_ref::<LengthLimitError>().is_some() {
                Problem::downstream(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "too_large",
                    "This is too large",
                    "What was sent is longer than any of these fields may be.",
                )
            } else {
                Problem::bad_request("The connection closed before the request was complete.")
            }
        })?;
    Ok(body.to_bytes())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_has_a_limit_of_size_and_one_of_time() {
        let within = read(Body::from("abc"), 3).await.expect("a body");
        assert_eq!(within, "abc");
        let refused = read(Body::from("abcd"), 3).await.expect_err("a problem");
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        // a byte every ten seconds: idle for a short time only
        let bytes = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Some((Ok::<_, Infallible>("x"), ()))
        });
        let refused = read(Body::from_stream(bytes), 64).await;
        let refused = refused.expect_err("a problem");
        assert_eq!(refused.status, StatusCode::REQUEST_TIMEOUT);
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        let uri: Uri = "/x?state=a&state=b".parse().expect("uri");
        assert!(Fields::of_query(&uri).is_err());
    }

    #[test]
    fn absent_and_empty_are_alike() {
        let uri: Uri = "/x?a=&b=c%20d".parse().expect("uri");
        let fields = Fields::of_query(&uri).unwrap_or_default();
        assert_eq!(fields.optional("a"), None);
        assert_eq!(fields.optional("z"), None);
        assert_eq!(fields.optional("b"), Some("c d"));
    }
}
