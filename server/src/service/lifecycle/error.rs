//! Errors of Keystone and of the cloud's services, as sentences with a next step.
use crate::service::error::ServiceError;
use app::error::UiErrorKind;
use portico_openstack::{
    keystone,
    rest::{Effect, EndpointError, Error, ErrorKind, Service},
};

/// Returns a failed read of the service catalogue, for users.
pub fn of_keystone(error: &keystone::Error) -> ServiceError {
    let described = if error.is_refusal() {
        ServiceError::not_permitted("Keystone does not accept your token any longer.")
            .next("Sign in again.")
    } else {
        ServiceError::new(
            UiErrorKind::Unavailable,
            "Keystone did not return the services of your cloud.",
        )
        .next("Try again in a minute. If it continues, sign in again.")
    };
    ServiceError {
        cause: Some(error.to_string()),
        ..described
    }
}

/// Returns a failed call to a service of the cloud, for users: what it answered, the request ID, and a
/// next step.
pub fn of_service(error: &Error) -> ServiceError {
    let kind = match &error.kind {
        ErrorKind::InvalidToken | ErrorKind::Forbidden(_) => UiErrorKind::NotPermitted,
        ErrorKind::NotFound(_) => UiErrorKind::NotFound,
        ErrorKind::Conflict(_) | ErrorKind::Ambiguous(_) => UiErrorKind::Conflict,
        ErrorKind::Invalid(_) | ErrorKind::QuotaExceeded(_) => UiErrorKind::Invalid,
        _ => UiErrorKind::Unavailable,
    };
    ServiceError {
        cause: (!error.is_refusal()).then(|| error.to_string()),
        effect: error.effect,
        ..ServiceError::new(kind, message(error)).next(next_step(error))
    }
}

/// Returns a failed change, for users: as [`of_service`], or that the response to `what` was lost, with
/// `if_lost` as the next step then. `what` has an article, such as "the step".
pub fn of_change(error: &Error, what: &str, if_lost: &str) -> ServiceError {
    let described = of_service(error);
    match error.effect {
        Effect::None => described,
        Effect::Unknown => {
            let message = format!("The response to {what} was lost. {}", described.message);
            ServiceError {
                message,
                ..described
            }
            .next(if_lost)
        }
    }
}

/// Returns what a service answered, as a sentence.
pub fn message(error: &Error) -> String {
    let is_missing = matches!(
        error.kind,
        ErrorKind::Endpoint(EndpointError::NotInCatalog | EndpointError::NotHere { .. })
    );
    if is_missing && error.service == Service::Magnum {
        return "This cloud makes no clusters for this project: its service catalogue has no endpoint of \
                Magnum (container-infra)."
            .to_owned();
    }
    sentence(&error.to_string())
}

/// Returns what to do about it, as a sentence.
pub fn next_step(error: &Error) -> String {
    match (&error.kind, error.next_step()) {
        (ErrorKind::Endpoint(EndpointError::NotInCatalog), _) => {
            "Ask the cloud's operator whether Magnum is offered to this project.".to_owned()
        }
        (ErrorKind::Endpoint(_), _) => {
            "Ask Portico's operator to check enrolment.region and enrolment.interface.".to_owned()
        }
        (_, Some(step)) => sentence(step),
        (ErrorKind::NotFound(_), None) => {
            "Reload the list: it may have been deleted, or belongs to another project.".to_owned()
        }
        (_, None) => "Reload the page and look at what changed.".to_owned(),
    }
}

/// Returns a text with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let end = if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{end}", first.to_uppercase(), chars.as_str())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use portico_openstack::keystone::error::Unavailable;

    /// Returns a failed read of a cluster.
    pub fn failed(kind: ErrorKind) -> Error {
        Error {
            service: Service::Magnum,
            operation: "cluster",
            request_id: Some("req-1".to_owned()),
            status: None,
            effect: Effect::None,
            kind,
        }
    }

    #[test]
    fn case_05_every_failure_is_a_sentence_with_a_next_step() {
        for kind in [
            ErrorKind::InvalidToken,
            ErrorKind::Forbidden("Policy doesn't allow cluster:get to be performed.".to_owned()),
            ErrorKind::NotFound("Cluster 1.2.3 could not be found.".to_owned()),
            ErrorKind::Malformed("no JSON"),
            ErrorKind::Endpoint(EndpointError::NotInCatalog),
            ErrorKind::Endpoint(EndpointError::PlainHttp),
        ] {
            let described = of_service(&failed(kind));
            assert!(described.message.ends_with('.'), "{}", described.message);
            let step = described.next_step.unwrap();
            assert!(step.ends_with('.'), "{step}");
        }
    }

    #[test]
    fn an_error_of_magnum_reaches_the_page_with_kind_step_and_request_id() {
        let kinds = [
            ErrorKind::InvalidToken,
            ErrorKind::Forbidden("Policy doesn't allow cluster:get to be performed.".to_owned()),
            ErrorKind::QuotaExceeded("3 of 3 clusters".to_owned()),
            ErrorKind::NotFound("Cluster 1.2.3 could not be found.".to_owned()),
            ErrorKind::Conflict("It is being updated.".to_owned()),
            ErrorKind::Invalid("node_count: -1".to_owned()),
            ErrorKind::Malformed("no JSON"),
            ErrorKind::Unavailable(Unavailable::Timeout),
            ErrorKind::Endpoint(EndpointError::NotInCatalog),
            ErrorKind::Endpoint(EndpointError::PlainHttp),
        ];
        let errors = kinds.map(|kind| of_service(&failed(kind)).into_ui("r-1"));
        insta::assert_json_snapshot!("errors_for_pages", errors);
    }

    #[test]
    fn a_lost_response_to_a_change_is_no_refusal() {
        let mut error = failed(ErrorKind::Unavailable(Unavailable::Timeout));
        let not_sent = of_change(&error, "the step", "Reload the page.");
        assert_eq!(not_sent.effect, Effect::None);
        assert!(!not_sent.message.contains("lost"), "{}", not_sent.message);
        error.effect = Effect::Unknown;
        let lost = of_change(&error, "the step", "Reload the page.");
        assert_eq!(lost.effect, Effect::Unknown);
        let begin = "The response to the step was lost. ";
        assert!(lost.message.starts_with(begin), "{}", lost.message);
        assert_eq!(lost.next_step.as_deref(), Some("Reload the page."));
        assert!(lost.cause.is_some());
    }

    #[test]
    fn a_cloud_without_magnum_is_named_as_such() {
        let error = failed(ErrorKind::Endpoint(EndpointError::NotInCatalog));
        insta::assert_snapshot!("cloud_without_magnum", message(&error));
    }
}
