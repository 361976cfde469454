//! Failures of Portico itself, of what it depends on, and of the upstreams behind it.
use http::StatusCode;
use portico_openstack::keystone;
use portico_store::StoreError;

use super::{Problem, Source};
use crate::proxy::{forward::ForwardError, rewrite::RewriteFault};

impl Problem {
    /// Any failure of the store: no user is signed out by it.
    pub fn store_unavailable(error: &StoreError) -> Self {
        Self {
            retry_after: Some(2),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store_unavailable",
                Source::Internal,
                "Portico cannot reach its database",
                format!(
                    "It {}. Your session has not ended. Try again in a moment; if it lasts, tell \
                     your cloud's administrators.",
                    error.cause().for_users()
                ),
            )
        }
        .steps([
            "What your clusters run goes on, and so does kubectl for people who are signed in.",
            "Nothing that you had entered was changed. Reload this page to try again.",
        ])
        .leads_to("Try again", "")
    }

    /// A failure of Keystone's that is known.
    pub fn keystone_unavailable_by(error: &keystone::Error) -> Self {
        let mut problem = Self::keystone_unavailable();
        problem.detail = format!("Keystone {}. {}", error.for_users(), problem.detail);
        problem
    }

    pub fn keystone_unavailable() -> Self {
        Self {
            retry_after: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "keystone_unavailable",
                Source::Upstream,
                "Keystone does not answer",
                "Portico cannot check who may do what right now. You have not been signed out. Try again in a moment.",
            )
        }
        .steps([
            "What your clusters run goes on. Sessions go on for some minutes with the roles that \
             Keystone named last; nobody can sign in anew.",
            "If it lasts, tell your cloud's administrators: it is Keystone that does not answer.",
        ])
        .leads_to("Try again", "")
    }

    /// A provider that people sign in with does not answer, or not as it should.
    pub fn provider_unavailable(name: &str, outage: bool) -> Self {
        let detail = if outage {
            format!("Nobody can sign in with {name} right now. Nobody is signed out by it.")
        } else {
            format!(
                "Portico and {name} do not understand each other. Portico's administrators find \
                 the reason in its log. Nobody is signed out by it."
            )
        };
        Self {
            retry_after: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "provider_unavailable",
                Source::Upstream,
                format!("{name} does not answer"),
                detail,
            )
        }
        .steps([
            format!("If it lasts, tell your administrators that {name} cannot be used."),
            "Other ways to sign in go on working.".to_owned(),
        ])
        .leads_to("Sign in another way", "/oauth2/sign_in")
    }

    /// More requests wait for an answer than may.
    pub fn busy() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                Source::Internal,
                "Portico has too much to do",
                "Too many requests wait for an answer. Try again in a moment; you are still signed in.",
            )
        }
        .leads_to("Try again", "")
    }

    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            Source::Internal,
            "Portico made a mistake",
            "The administrators find the cause under the request ID below.",
        )
    }

    /// A request that did not come back from `name`.
    pub fn forwarding(name: &str, error: &ForwardError) -> Self {
        let upstream = |status, code, detail: String| {
            Self::new(
                status,
                code,
                Source::Upstream,
                format!("{name} does not answer"),
                detail,
            )
        };
        match error {
            ForwardError::TooLarge => Self::downstream(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "This is too large",
                format!("The request is larger than what may be sent to {name}."),
            ),
            ForwardError::HeadersTooLarge => Self::downstream(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "headers_too_large",
                "This request carries too much",
                "Its headers are larger than accepted. Deleting this site's cookies often helps.",
            ),
            ForwardError::BadUpgrade | ForwardError::Target(_) => {
                Self::bad_request(format!("It was refused: {error}."))
            }
            ForwardError::Rewrite(RewriteFault::Elsewhere) => Self::not_found(),
            ForwardError::Rewrite(RewriteFault::Path(fault)) => Self::bad_path(*fault),
            ForwardError::Rewrite(fault @ RewriteFault::Unfit) => {
                Self::bad_request(format!("It was refused: {fault}."))
            }
            ForwardError::ClientTimeout(_) => Self::downstream(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "This request came to a halt",
                "Nothing more of it has arrived for too long. Send it again.",
            ),
            ForwardError::NoSockets => Self::downstream(
                StatusCode::NOT_IMPLEMENTED,
                "no_websockets",
                "There are no WebSockets here",
                format!("{name} is spoken to in HTTP/2 only, which carries none here."),
            ),
            ForwardError::NoneHealthy => Self {
                retry_after: Some(5),
                ..upstream(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "upstream_unhealthy",
                    format!("No server of {name} works right now. You are still signed in."),
                )
            },
            ForwardError::SessionEnded => Self::signed_out(),
            ForwardError::Connect(_) => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_unreachable",
                format!("No connection to {name} can be made. You are still signed in."),
            ),
            ForwardError::AnswerTooLarge => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_broken",
                format!("{name} answered in a way that is not accepted. You are still signed in."),
            ),
            ForwardError::Broken(_) | ForwardError::UnaskedSwitch => upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_broken",
                format!("{name} broke off in the middle. You are still signed in."),
            ),
            ForwardError::Timeout(after) => upstream(
                StatusCode::GATEWAY_TIMEOUT,
                "upstream_timeout",
                format!(
                    "{name} has said nothing for {} seconds. You are still signed in.",
                    after.as_secs()
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_openstack::keystone::error::Unavailable;

    #[test]
    fn finding_o3_an_outage_page_names_the_cause_in_words_for_users() {
        let error = StoreError::Uninitialised;
        let problem = Problem::store_unavailable(&error);
        assert!(
            problem.detail.contains("has come back empty"),
            "{}",
            problem.detail
        );
        assert!(problem.detail.contains("Your session has not ended"));
        let error = keystone::Error::Unavailable(Unavailable::Timeout);
        let problem = Problem::keystone_unavailable_by(&error);
        let detail = &problem.detail;
        assert!(
            detail.starts_with("Keystone did not answer in time."),
            "{detail}"
        );
        assert!(!detail.contains("keystone.url"), "{detail}");
    }
}
