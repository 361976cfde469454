//! Why a cluster is not enrolled, or its record not removed, as sentences for users.
use crate::{kube::KubeError, service::error::ServiceError};
use app::error::UiErrorKind;
use portico_cluster_sync::enrolment::EnrolmentError;
use portico_openstack::{keystone, rest};
use portico_store::StoreError;

/// Maximum length of a text that an API server may have written, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// Why a cluster is not enrolled.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    #[error("the user has no token for the project")]
    NoToken,
    #[error("the operator permits no enrolment")]
    NotOffered,
    #[error("the cluster was not made through Portico, and enrolment.sources is empty")]
    MadeOutside,
    #[error("the cluster is in the operator's configuration already")]
    Configured,
    /// Its record is the operator's to change and to remove.
    #[error("the operator has imported the cluster")]
    Imported,
    #[error("the cluster is being enrolled already")]
    Running,
    #[error("too many clusters are being enrolled")]
    Busy,
    #[error("the project has too many enrolled clusters")]
    TooMany,
    /// A record is removed only after the cluster.
    #[error("Magnum still has the cluster")]
    Exists,
    #[error("the project has not enrolled such a cluster")]
    NotEnrolled,
    /// A call to Magnum, outside of a run, has failed.
    #[error(transparent)]
    Magnum(Box<rest::Error>),
    #[error("the catalogue of the cloud cannot be read: {0}")]
    Catalog(#[from] keystone::Error),
    #[error(transparent)]
    Run(#[from] EnrolmentError),
    #[error("the record cannot be stored: {0}")]
    Store(#[from] StoreError),
}

impl EnrolError {
    /// Returns the result in metrics.
    pub(super) fn result(&self) -> &'static str {
        match self {
            Self::NoToken
            | Self::NotOffered
            | Self::MadeOutside
            | Self::Configured
            | Self::Imported
            | Self::NotEnrolled => "not_permitted",
            Self::Running | Self::Busy => "busy",
            Self::TooMany => "too_many",
            Self::Exists => "exists",
            Self::Catalog(_) => "keystone",
            Self::Magnum(_) => "magnum",
            Self::Run(error) => error.result(),
            Self::Store(_) => "store",
        }
    }

    pub(super) fn is_refusal(&self) -> bool {
        match self {
            Self::NoToken | Self::NotOffered | Self::MadeOutside | Self::Configured => true,
            Self::Imported | Self::TooMany | Self::Exists | Self::NotEnrolled => true,
            Self::Magnum(error) => error.is_refusal(),
            Self::Run(error) => error.is_refusal(),
            _ => false,
        }
    }
}

/// Returns the beginning of a text on one line. The API server belongs to a tenant, and its messages
/// may have many MiB: they must fill neither the log nor a page.
pub(super) fn excerpt(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(MAX_TEXT_CHARS).map(plain).collect()
}

impl From<EnrolError> for ServiceError {
    fn from(error: EnrolError) -> Self {
        let cause = excerpt(&error.to_string());
        let described = match &error {
            EnrolError::NoToken => return KubeError::NoToken.into(),
            EnrolError::NotOffered => Self::not_permitted(
                "Clusters cannot be enrolled here: the operator of Portico has not permitted it.",
            )
            .next("Ask the operator to add the cluster, or to permit enrolment."),
            EnrolError::MadeOutside => Self::not_permitted(
                "Portico has no record that it made this cluster, and its operator permits only \
                 clusters made through Portico.",
            )
            .next("Ask the operator to add \"magnum\" to enrolment.sources."),
            EnrolError::Configured => {
                Self::conflict("The operator of Portico has added this cluster already.")
                    .next("Open it from the list of clusters, or ask the operator for access.")
            }
            EnrolError::Imported => {
                Self::not_permitted("The operator of Portico has imported this cluster.")
                    .next("Ask the operator to change or remove its record.")
            }
            EnrolError::Running => Self::conflict("This cluster is being enrolled already.")
                .next("Wait for up to two minutes, then reload the page."),
            EnrolError::Busy => Self::new(
                UiErrorKind::Unavailable,
                "Many clusters are being enrolled at the moment.",
            )
            .next("Try again in a minute."),
            EnrolError::TooMany => {
                Self::conflict("This project has as many enrolled clusters as it can have.")
                    .next("Remove the records of clusters that no longer exist, and try again.")
            }
            EnrolError::Exists => {
                Self::conflict("Magnum still has this cluster, so its record stays.")
                    .next("Delete the cluster first, and wait until it is gone.")
            }
            EnrolError::NotEnrolled => {
                Self::not_found("This project has not enrolled such a cluster.")
                    .next("Switch to the project of the cluster and try again.")
            }
            EnrolError::Magnum(_) => {
                Self::new(UiErrorKind::Unavailable, "Magnum could not be asked.")
                    .next("Try again in a minute.")
            }
            EnrolError::Catalog(_) => Self::new(
                UiErrorKind::Unavailable,
                "Keystone did not return the services of your cloud.",
            )
            .next("Try again in a minute. If it continues, sign in again."),
            EnrolError::Run(run) => {
                let reason = excerpt(&run.to_string());
                let message = format!("The cluster was not enrolled: {reason}.");
                Self::new(kind(run), message).next(run.next_step())
            }
            EnrolError::Store(StoreError::TooManyClusters) => Self::new(
                UiErrorKind::Unavailable,
                "Portico has as many enrolled clusters as it can have.",
            )
            .next("Ask the operator of Portico to remove clusters that no longer exist."),
            EnrolError::Store(_) => Self::new(
                UiErrorKind::Unavailable,
                "The cluster was prepared, and its record could not be stored.",
            )
            .next("Try again in a minute: what has been done already is not done twice."),
        };
        Self {
            cause: Some(cause),
            ..described
        }
    }
}

/// Returns the kind of a failed run, for the page.
fn kind(error: &EnrolmentError) -> UiErrorKind {
    match error {
        EnrolmentError::Magnum(error) => match error.kind {
            rest::ErrorKind::NotFound(_) => UiErrorKind::NotFound,
            rest::ErrorKind::Forbidden(_) => UiErrorKind::NotPermitted,
            rest::ErrorKind::Conflict(_) => UiErrorKind::Conflict,
            _ => UiErrorKind::Unavailable,
        },
        EnrolmentError::OtherProject | EnrolmentError::Address(_) => UiErrorKind::NotPermitted,
        EnrolmentError::Deleting | EnrolmentError::NoAddress => UiErrorKind::Conflict,
        EnrolmentError::Engine(_) => UiErrorKind::Invalid,
        _ => UiErrorKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_an_api_server_are_short_and_on_one_line() {
        let long = format!("a\nb\u{1b}{}", "x".repeat(1_000_000));
        let described = ServiceError::from(EnrolError::Run(EnrolmentError::Client(long)));
        let cause = described.cause.unwrap();
        for text in [described.message, cause] {
            assert!(text.contains("a b x"), "{text}");
            assert!(text.chars().count() < MAX_TEXT_CHARS + 100);
            assert!(!text.contains(char::is_control));
        }
    }

    #[test]
    fn every_failure_is_a_sentence_with_a_next_step() {
        for error in [
            EnrolError::NoToken,
            EnrolError::NotOffered,
            EnrolError::MadeOutside,
            EnrolError::Configured,
            EnrolError::Imported,
            EnrolError::Running,
            EnrolError::Busy,
            EnrolError::TooMany,
            EnrolError::Exists,
            EnrolError::NotEnrolled,
            EnrolError::Run(EnrolmentError::NoAddress),
            EnrolError::Run(EnrolmentError::Address("outside".to_owned())),
            EnrolError::Store(StoreError::TooManyClusters),
        ] {
            let described = ServiceError::from(error);
            assert!(described.message.ends_with('.'), "{}", described.message);
            assert!(described.next_step.is_some_and(|step| step.ends_with('.')));
        }
    }
}
