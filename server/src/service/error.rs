//! Errors of the service, as sentences for users.
use crate::kube::KubeError;
use app::error::{UiError, UiErrorKind};
use portico_domain::panel::{Refusal, RightQuestion};
use portico_openstack::rest::Effect;

/// A failure, described for users.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ServiceError {
    pub kind: UiErrorKind,
    pub message: String,
    pub next_step: Option<String>,
    /// For the log only.
    pub cause: Option<String>,
    /// The permission that is missing, if that is the reason.
    pub missing: Option<Box<RightQuestion>>,
    /// Whether the request may have had its effect nonetheless, such as after a lost response.
    pub effect: Effect,
}

impl ServiceError {
    pub fn new(kind: UiErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            next_step: None,
            cause: None,
            missing: None,
            effect: Effect::None,
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(UiErrorKind::Invalid, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(UiErrorKind::Conflict, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(UiErrorKind::NotFound, message)
    }

    pub fn not_permitted(message: impl Into<String>) -> Self {
        Self::new(UiErrorKind::NotPermitted, message)
    }

    /// Returns the refusal of what needs a permission that the caller does not have.
    pub fn lacks(question: RightQuestion) -> Self {
        let refusal = Refusal::of(question);
        Self {
            missing: refusal.missing,
            ..Self::not_permitted(refusal.reason)
        }
    }

    /// Returns the refusal for a page that shows it in place of a part.
    pub fn into_refusal(self) -> Refusal {
        Refusal {
            reason: self.message,
            missing: self.missing,
        }
    }

    /// As [`Self::into_refusal`], but a missing permission is described in our words, without the API
    /// server's message.
    pub fn into_brief_refusal(self) -> Refusal {
        match self.missing {
            Some(missing) => Refusal::of(*missing),
            None => self.into_refusal(),
        }
    }

    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }

    /// Converts it for the page, with the ID under which the log has the cause.
    pub fn into_ui(self, request_id: &str) -> UiError {
        if let Some(cause) = &self.cause {
            tracing::warn!(
                request_id,
                cause,
                reason = self.message,
                "answered with an error"
            );
        }
        UiError {
            kind: self.kind,
            message: self.message,
            next_step: self.next_step,
            request_id: Some(request_id.to_owned()),
            missing: self.missing,
        }
    }
}

impl From<KubeError> for ServiceError {
    fn from(error: KubeError) -> Self {
        let kind = match &error {
            KubeError::Refused(_) | KubeError::NoToken => UiErrorKind::NotPermitted,
            KubeError::NotFound(_) => UiErrorKind::NotFound,
            KubeError::Conflict(_) => UiErrorKind::Conflict,
            KubeError::Invalid(_) | KubeError::TooMany => UiErrorKind::Invalid,
            _ => UiErrorKind::Unavailable,
        };
        let next_step = match &error {
            KubeError::Refused(_) => {
                Some("A user who may grant rights in this cluster can add them.")
            }
            KubeError::NoToken => Some("Choose another project, or ask for a role in this one."),
            KubeError::Conflict(_) => Some("Reload the page and look at what changed."),
            // the sentence of too many objects has its step
            KubeError::NotFound(_) | KubeError::Invalid(_) | KubeError::TooMany => None,
            _ => Some("Try again in a moment; nothing was changed and you stay signed in."),
        };
        Self {
            kind,
            message: error.sentence(),
            next_step: next_step.map(str::to_owned),
            cause: error.is_outage().then(|| error.to_string()),
            missing: match error {
                KubeError::Refused(forbidden) => forbidden.missing,
                _ => None,
            },
            effect: Effect::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kube::Forbidden;

    #[test]
    fn an_error_of_an_api_server_reaches_the_page_with_kind_and_step_and_without_its_cause() {
        let cause = || "10.0.0.7:6443".to_owned();
        let question = RightQuestion {
            verb: "list".to_owned(),
            group: String::new(),
            resource: "pods".to_owned(),
            subresource: String::new(),
            namespace: Some("shop".to_owned()),
            name: None,
        };
        let forbidden = Forbidden::lacks("pods is forbidden".to_owned(), question);
        let errors = [
            KubeError::Refused(forbidden),
            KubeError::Unauthenticated,
            KubeError::NotFound("pods \"web\" not found".to_owned()),
            KubeError::Conflict("the object has been modified".to_owned()),
            KubeError::Expired,
            KubeError::Invalid("spec.replicas: must not be negative".to_owned()),
            KubeError::Server {
                status: 500,
                message: "etcdserver: request timed out".to_owned(),
            },
            KubeError::Timeout(10),
            KubeError::Unreachable(cause()),
            KubeError::Protocol(cause()),
            KubeError::TooMany,
            KubeError::Unconfigured(cause()),
            KubeError::NoToken,
        ];
        let errors = errors.map(|error| ServiceError::from(error).into_ui("r-1"));
        let text = format!("{errors:?}");
        assert!(!text.contains(&cause()), "{text}");
        insta::assert_json_snapshot!("errors_for_pages", errors);
    }
}
