//! Errors of Portico itself, of the services that it depends on, and of upstreams.
use http::StatusCode;
use portico_openstack::keystone;
use portico_proxy::forward::ForwardError;
use portico_request::rewrite::RewriteFault;
use portico_store::StoreError;

use super::{Problem, Source};

impl Problem {
    /// Returns the problem for any failure of the store. It signs no user out.
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
            "Workloads in your clusters keep running, and kubectl keeps working for users who are \
             signed in.",
            "Nothing that you had entered was changed. Reload this page to try again.",
        ])
        .leads_to("Try again", "")
    }

    /// Returns the problem for a step that needs the state of the browser, which could not be read
    /// or saved.
    pub fn state_unavailable() -> Self {
        Self {
            retry_after: Some(2),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "state_unavailable",
                Source::Internal,
                "Portico cannot reach its database",
                "This step needs what it remembers of your browser. Try again in a moment; if it \
                 lasts, tell your cloud's administrators.",
            )
        }
        .steps(["Begin again from the sign-in page."])
        .leads_to("Sign in", "/oauth2/sign_in")
    }

    /// Returns the problem for a failure of Keystone.
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
            "Workloads in your clusters keep running. Sessions continue for some minutes with the \
             roles that Keystone returned last; new sign-ins are not possible.",
            "If it lasts, tell your cloud's administrators: it is Keystone that does not answer.",
        ])
        .leads_to("Try again", "")
    }

    /// Returns the problem for an OIDC provider that does not respond, or responds with an error.
    pub fn provider_unavailable(name: &str, outage: bool) -> Self {
        let detail = if outage {
            format!(
                "Sign-in with {name} is not possible right now. Users who are signed in stay \
                 signed in."
            )
        } else {
            format!(
                "Portico cannot use the answers of {name}. Portico's administrators find the \
                 reason in its log. Users who are signed in stay signed in."
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
            "Other ways to sign in still work.".to_owned(),
        ])
        .leads_to("Sign in another way", "/oauth2/sign_in")
    }

    /// Returns the problem for too many requests that wait for a response.
    pub fn busy() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "busy",
                Source::Internal,
                "Portico is overloaded",
                "Too many requests are waiting for a response. Try again in a moment; you are \
                 still signed in.",
            )
        }
        .leads_to("Try again", "")
    }

    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            Source::Internal,
            "Internal error",
            "The administrators find the cause under the request ID below.",
        )
    }

    /// Returns the problem for a request that `name` did not answer.
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
                "Request headers too large",
                "The request's headers exceed the limit. Deleting this site's cookies often helps.",
            ),
            ForwardError::BadUpgrade | ForwardError::Target(_) => {
                Self::bad_request(format!("It was refused: {error}."))
            }
            ForwardError::Rewrite(RewriteFault::OtherPrefix) => Self::not_found(),
            ForwardError::Rewrite(RewriteFault::Path(fault)) => Self::bad_path(*fault),
            ForwardError::Rewrite(fault @ RewriteFault::Unfit) => {
                Self::bad_request(format!("It was refused: {fault}."))
            }
            ForwardError::ClientTimeout(_) => Self::downstream(
                StatusCode::REQUEST_TIMEOUT,
                "request_timeout",
                "The upload timed out",
                "No more data of the request arrived in time. Send it again.",
            ),
            ForwardError::NoSockets => Self::downstream(
                StatusCode::NOT_IMPLEMENTED,
                "no_websockets",
                "WebSockets are not supported here",
                format!(
                    "Portico connects to {name} over HTTP/2 only, without support for WebSockets."
                ),
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
                format!("{name} closed the connection early. You are still signed in."),
            ),
            ForwardError::Timeout(after) => upstream(
                StatusCode::GATEWAY_TIMEOUT,
                "upstream_timeout",
                format!(
                    "{name} has sent nothing for {} seconds. You are still signed in.",
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
            problem.detail.contains("is empty after a restart"),
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
