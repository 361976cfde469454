//! Reading forms and queries: small, flat, and with no name twice.
use std::{collections::HashMap, time::Duration};

use axum::{body::Body, extract::FromRequest};
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use secrecy::SecretString;

use crate::{problem::Problem, proxy::forward::ForwardError};

const LARGEST: usize = 64 << 10;
/// How long a form may take to arrive, in however many pieces.
const LONGEST: Duration = Duration::from_secs(30);

/// The fields of a form (or JSON object) or the parameters of a query.
#[derive(Default)]
pub(crate) struct Fields(HashMap<String, String>);

impl Fields {
    /// The parameters of a request's query.
    pub fn of_query(uri: &Uri) -> Result<Self, Problem> {
        Self::of_text(uri.query().unwrap_or_default())
    }

    /// The parameters of a query, or of a part of one.
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

    /// The field's value; empty when it is absent.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// The field's value, unless it is absent or empty.
    pub fn optional(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// Takes a field that must not be seen.
    pub fn secret(&mut self, name: &str) -> SecretString {
        SecretString::from(self.0.remove(name).unwrap_or_default())
    }
}

impl<S: Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Problem> {
        let json = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with("application/json"));
        let body = Limited::new(request.into_body(), LARGEST).collect();
        let body = tokio::time::timeout(LONGEST, body)
            .await
            .map_err(|_| Problem::forwarding("", &ForwardError::ClientTimeout(LONGEST)))?
            .map_err(|error| {
                if error.downcast_ref::<LengthLimitError>().is_some() {
                    Problem::downstream(
                        StatusCode::PAYLOAD_TOO_LARGE,
                        "too_large",
                        "This is too large",
                        "What was sent is longer than any of these fields may be.",
                    )
                } else {
                    Problem::bad_request("The request broke off.")
                }
            })?
            .to_bytes();
        if json {
            let fields = serde_json::from_slice(&body).map_err(|_| {
                Problem::bad_request("The body must be a JSON object that holds only strings.")
            })?;
            return Ok(Self(fields));
        }
        Self::parse(&body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
