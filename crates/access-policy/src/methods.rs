//! Matches the methods of a rule.
use std::fmt;

use http::Method;

use super::error::Fault;

/// The methods of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Methods(Vec<MethodPattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum MethodPattern {
    One(Method),
    Safe,
    Unsafe,
}

impl Methods {
    /// Parses `methods`.
    pub fn parse(texts: &[String]) -> Result<Self, Fault> {
        texts
            .iter()
            .map(|text| match text.as_str() {
                "safe" => Ok(MethodPattern::Safe),
                "unsafe" => Ok(MethodPattern::Unsafe),
                // methods are case-sensitive (RFC 9110 9.1)
                text if !text.is_empty()
                    && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-') =>
                {
                    let method = Method::from_bytes(text.as_bytes());
                    method
                        .map(MethodPattern::One)
                        .map_err(|_| Fault::Method(text.to_owned()))
                }
                text => Err(Fault::Method(text.to_owned())),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns whether the method matches exactly, for rules that permit.
    pub fn surely(&self, method: &Method) -> bool {
        self.0.is_empty() || self.0.iter().any(|one| one.is(method))
    }

    /// Returns whether the method matches without regard to case, for rules that refuse.
    pub fn perhaps(&self, method: &Method) -> bool {
        self.surely(method)
            || Method::from_bytes(method.as_str().to_ascii_uppercase().as_bytes())
                .is_ok_and(|upper| self.surely(&upper))
    }

    /// Returns whether the rule names this method explicitly; `safe` and `unsafe` name none.
    pub fn spell_out(&self, method: &Method) -> bool {
        let is_it = |one: &MethodPattern| matches!(one, MethodPattern::One(one) if one == method);
        self.0.iter().any(is_it)
    }

    pub fn is_every(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether everything that `other` matches is matched here too.
    pub fn cover(&self, other: &Self) -> bool {
        self.0.is_empty()
            || (!other.0.is_empty()
                && other
                    .0
                    .iter()
                    .all(|one| self.0.iter().any(|all| all.covers(one))))
    }

    /// Returns the methods that are not standard (RFC 9110 9.3, RFC 5789).
    pub fn unusual(&self) -> impl Iterator<Item = &Method> {
        self.0.iter().filter_map(|one| match one {
            MethodPattern::One(method)
                if !matches!(
                    method.as_str(),
                    "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"
                ) =>
            {
                Some(method)
            }
            _ => None,
        })
    }
}

/// Returns whether the method is one of RFC 9110, PATCH, QUERY, or one that the IANA registry has
/// for `WebDAV` and its extensions. `CONNECT` is for proxies and is never received here.
pub fn is_registered(method: &Method) -> bool {
    matches!(
        method.as_str(),
        "GET"
            | "HEAD"
            | "POST"
            | "PUT"
            | "PATCH"
            | "DELETE"
            | "OPTIONS"
            | "TRACE"
            | "QUERY"
            | "ACL"
            | "BASELINE-CONTROL"
            | "BIND"
            | "CHECKIN"
            | "CHECKOUT"
            | "COPY"
            | "LABEL"
            | "LINK"
            | "LOCK"
            | "MERGE"
            | "MKACTIVITY"
            | "MKCALENDAR"
            | "MKCOL"
            | "MKREDIRECTREF"
            | "MKWORKSPACE"
            | "MOVE"
            | "ORDERPATCH"
            | "PROPFIND"
            | "PROPPATCH"
            | "REBIND"
            | "REPORT"
            | "SEARCH"
            | "UNBIND"
            | "UNCHECKOUT"
            | "UNLINK"
            | "UNLOCK"
            | "UPDATE"
            | "UPDATEREDIRECTREF"
            | "VERSION-CONTROL"
    )
}

impl MethodPattern {
    fn is(&self, method: &Method) -> bool {
        match self {
            Self::One(one) => one == method || (one == Method::GET && method == Method::HEAD),
            Self::Safe => method.is_safe(),
            Self::Unsafe => !method.is_safe(),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match other {
            Self::One(method) => self.is(method),
            other => self == other,
        }
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("any method");
        }
        for (at, one) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            match one {
                MethodPattern::One(method) if method == Method::GET => {
                    f.write_str("GET and HEAD")?
                }
                MethodPattern::One(method) => f.write_str(method.as_str())?,
                MethodPattern::Safe => f.write_str("safe methods")?,
                MethodPattern::Unsafe => f.write_str("unsafe methods")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_what_they_are_called() {
        let methods = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            Methods::parse(&texts)
        };
        let custom = |name: &str| Method::from_bytes(name.as_bytes()).expect("method");
        let get = methods(&["GET"]).expect("methods");
        assert!(get.surely(&Method::GET) && get.surely(&Method::HEAD));
        assert!(!get.surely(&Method::POST) && !get.surely(&custom("get")));
        assert!(get.perhaps(&custom("get")) && get.perhaps(&custom("Head")));
        let writes = methods(&["unsafe"]).expect("methods");
        assert!(writes.surely(&Method::DELETE) && writes.surely(&custom("PURGE")));
        assert!(writes.surely(&custom("post")) && writes.surely(&custom("get")));
        assert!(!writes.perhaps(&Method::OPTIONS));
        let reads = methods(&["safe"]).expect("methods");
        assert!(!reads.surely(&custom("get")) && reads.perhaps(&custom("get")));
        for text in ["get", "", "GET,POST", "GET POST", "!GET", "any", "*"] {
            assert!(methods(&[text]).is_err(), "{text:?}");
        }
        assert!(methods(&[]).expect("none").surely(&custom("FOO")));
        assert!(writes.cover(&methods(&["POST", "PUT"]).expect("methods")));
        assert!(!writes.cover(&methods(&["POST", "GET"]).expect("methods")));
        assert!(!writes.cover(&Methods::default()));
    }

    #[test]
    fn finding_s13_a_method_is_registered_in_one_spelling() {
        let custom = |name: &str| Method::from_bytes(name.as_bytes()).expect("method");
        for name in ["GET", "PATCH", "PROPFIND", "REPORT", "QUERY"] {
            assert!(is_registered(&custom(name)), "{name}");
        }
        for name in ["get", "Get", "FOO", "PURGE", "CONNECT", "PRI", "GETS"] {
            assert!(!is_registered(&custom(name)), "{name}");
        }
        let texts = ["PURGE", "unsafe"].map(str::to_owned);
        let methods = Methods::parse(&texts).expect("methods");
        assert!(methods.spell_out(&custom("PURGE")));
        assert!(!methods.spell_out(&custom("FOO")) && !methods.spell_out(&Method::POST));
    }
}
