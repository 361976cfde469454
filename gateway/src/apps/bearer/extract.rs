//! Extracts the bearer token of a request: `Authorization: Bearer` (RFC 6750) or Keystone's
//! `X-Auth-Token`.
use http::{HeaderMap, header};
use secrecy::SecretString;

const AUTH_TOKEN: &str = "x-auth-token";
/// Bounds a token, in bytes; tokens of Keystone and of providers are shorter.
const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// A bearer token as it was sent.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub secret: SecretString,
    /// Whether only Keystone can have issued it (`X-Auth-Token`).
    pub keystone_only: bool,
}

#[derive(Clone, Debug)]
pub(super) enum BearerTokens {
    None,
    One(Token),
    /// Two headers, or header lines that are ambiguous.
    Several,
}

/// Returns the request's bearer token. Other schemes of `Authorization` are ignored.
pub(super) fn bearer_token(headers: &HeaderMap) -> BearerTokens {
    let authorization: Vec<_> = headers.get_all(header::AUTHORIZATION).iter().collect();
    let auth_token: Vec<_> = headers.get_all(AUTH_TOKEN).iter().collect();
    let bearers: Vec<Option<&str>> = authorization
        .iter()
        .filter_map(|line| bearer(line.as_bytes()))
        .collect();
    let text = |value: Option<&str>, keystone_only| match value {
        Some(text) if (1..=MAX_TOKEN_BYTES).contains(&text.len()) => BearerTokens::One(Token {
            secret: SecretString::from(text.to_owned()),
            keystone_only,
        }),
        _ => BearerTokens::Several,
    };
    match (bearers.as_slice(), auth_token.as_slice()) {
        ([], []) => BearerTokens::None,
        ([one], []) if authorization.len() == 1 => text(*one, false),
        ([], [one]) => text(one.to_str().ok().filter(|text| is_plain(text)), true),
        _ => BearerTokens::Several,
    }
}

/// Returns whether a request presents a bearer token.
pub(crate) fn has_bearer_token(headers: &HeaderMap) -> bool {
    !matches!(bearer_token(headers), BearerTokens::None)
}

/// Returns the token of an `Authorization` line with the scheme `Bearer`; the inner `None` means
/// that its value cannot be a token.
fn bearer(line: &[u8]) -> Option<Option<&str>> {
    let (scheme, rest) = line.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"bearer") || !matches!(rest.first(), Some(b' ') | None) {
        return None;
    }
    let token = std::str::from_utf8(rest.trim_ascii()).ok();
    Some(token.filter(|text| is_plain(text)))
}

fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b',')
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use secrecy::ExposeSecret as _;

    fn read(lines: &[(&'static str, &'static str)]) -> Result<Option<(String, bool)>, ()> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        match bearer_token(&headers) {
            BearerTokens::None => Ok(None),
            BearerTokens::One(token) => Ok(Some((
                token.secret.expose_secret().to_owned(),
                token.keystone_only,
            ))),
            BearerTokens::Several => Err(()),
        }
    }

    #[test]
    fn one_bearer_in_either_header_counts() {
        let a = |keystone| Ok(Some(("gAAA".to_owned(), keystone)));
        assert_eq!(read(&[("authorization", "Bearer gAAA")]), a(false));
        assert_eq!(read(&[("authorization", "bearer  gAAA ")]), a(false));
        assert_eq!(read(&[("x-auth-token", "gAAA")]), a(true));
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("authorization", "Basic YTpi")]), Ok(None));
        assert_eq!(read(&[("authorization", "Bearerish x")]), Ok(None));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for lines in [
            &[("authorization", "Bearer a"), ("authorization", "Bearer b")][..],
            &[("authorization", "Bearer a"), ("authorization", "Basic b")],
            &[("authorization", "Bearer a"), ("x-auth-token", "a")],
            &[("x-auth-token", "a"), ("x-auth-token", "a")],
            &[("authorization", "Bearer a b")],
            &[("authorization", "Bearer a,b")],
            &[("authorization", "Bearer")],
            &[("x-auth-token", "")],
        ] {
            assert_eq!(read(lines), Err(()), "{lines:?}");
        }
    }
}
