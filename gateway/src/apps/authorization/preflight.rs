//! CORS preflights (Fetch standard, 4.8): the request that a browser sends ahead of a call from
//! another origin. It has no credentials and no body, so it cannot prove who sends it.
use http::{HeaderMap, HeaderValue, Method, header};
use portico_access_policy::{RequestContext, RuleSet};

use super::decide::Asked;

/// Returns whether a request is a preflight that may be forwarded. Any other `OPTIONS` request is
/// handled like every method.
pub(super) fn passes(rules: &RuleSet, asked: &Asked<'_>, request: &RequestContext<'_>) -> bool {
    // the cheap check first: few apps permit preflights
    if asked.method != Method::OPTIONS
        || !(rules.preflight || rules.rules.iter().any(|rule| rule.preflight))
    {
        return false;
    }
    let Some(method) = asks_for(asked.headers) else {
        return false;
    };
    let wanted = RequestContext {
        method: &method,
        ..request.clone()
    };
    rules.passes_preflight(&wanted) && !rules.refuses_every_client(request)
}

/// Returns the method that a preflight asks for; `None` if the request is not a preflight.
fn asks_for(headers: &HeaderMap) -> Option<Method> {
    one(headers, header::ORIGIN)?;
    let method = one(headers, header::ACCESS_CONTROL_REQUEST_METHOD)?;
    let bodiless = !headers.contains_key(header::TRANSFER_ENCODING)
        && headers
            .get_all(header::CONTENT_LENGTH)
            .iter()
            .all(|length| length == "0");
    let anonymous = ![header::COOKIE, header::AUTHORIZATION]
        .iter()
        .any(|name| headers.contains_key(name));
    if !(bodiless && anonymous) {
        return None;
    }
    Method::from_bytes(method.as_bytes()).ok()
}

fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&HeaderValue> {
    let mut lines = headers.get_all(name).iter();
    let line = lines.next()?;
    lines.next().is_none().then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&'static str, &'static str)]) -> Option<Method> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        asks_for(&headers)
    }

    #[test]
    fn attack_37_only_a_real_preflight_is_one() {
        let origin = ("origin", "https://ui.example.org");
        let method = ("access-control-request-method", "DELETE");
        assert_eq!(asked(&[origin, method]), Some(Method::DELETE));
        assert_eq!(
            asked(&[origin, method, ("content-length", "0")]),
            Some(Method::DELETE)
        );
        for not in [
            &[origin][..],
            &[method],
            &[],
            &[origin, origin, method],
            &[origin, method, method],
            &[origin, ("access-control-request-method", "GET, POST")],
            &[origin, method, ("content-length", "5")],
            &[origin, method, ("transfer-encoding", "chunked")],
            &[origin, method, ("cookie", "portico=x")],
            &[origin, method, ("authorization", "Bearer x")],
        ] {
            assert_eq!(asked(not), None, "{not:?}");
        }
    }
}
