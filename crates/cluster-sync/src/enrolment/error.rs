//! Why a cluster is not enrolled.
use crate::bootstrap::BootstrapError;
use portico_domain::enrolled_cluster::InvalidEnrolledCluster;
use portico_openstack::rest;

/// The reason why a run of an enrolment has failed.
#[derive(Debug, thiserror::Error)]
pub enum EnrolmentError {
    /// A call to Magnum has failed.
    #[error(transparent)]
    Magnum(Box<rest::Error>),
    #[error("the cluster belongs to another project")]
    OtherProject,
    #[error("the cluster is being deleted")]
    Deleting,
    #[error("the cluster has no address of an API server yet")]
    NoAddress,
    /// The operator does not permit connections to it.
    #[error("{0}")]
    Address(String),
    /// The container engine of the template.
    #[error("the cluster is one of {0}, not of Kubernetes")]
    Engine(String),
    #[error("Magnum's data about the cluster cannot be used: {0}")]
    Record(#[from] InvalidEnrolledCluster),
    #[error("the API server does not answer: {0}")]
    NoAnswer(Box<kube::Error>),
    #[error("a certificate request cannot be made: {0}")]
    Key(#[from] rcgen::Error),
    #[error("a client for the API server cannot be made: {0}")]
    Client(String),
    /// A pre-defined role of this program cannot be read.
    #[error("the pre-defined roles cannot be read: {0}")]
    Roles(String),
    /// 401 or 403: the API server does not know the authority, or the group.
    #[error("the API server refuses the certificate that Magnum has signed")]
    Refused,
    #[error("create ClusterRole {name}: {source}")]
    CreateRole {
        name: String,
        source: Box<kube::Error>,
    },
    #[error("bind the pre-defined roles: {0}")]
    Bind(#[from] BootstrapError),
    #[error("no result within {0} seconds")]
    Timeout(u64),
}

impl From<rest::Error> for EnrolmentError {
    fn from(error: rest::Error) -> Self {
        Self::Magnum(Box::new(error))
    }
}

impl EnrolmentError {
    /// Returns what to do about it, as one sentence for the user.
    pub fn next_step(&self) -> &'static str {
        match self {
            Self::Magnum(error) => magnum(error),
            Self::OtherProject => "Switch to the project of the cluster and try again.",
            Self::Deleting => "Choose another cluster.",
            Self::NoAddress => "Wait until the cluster is created, then try again.",
            Self::Address(_) => {
                "Ask Portico's operator to permit the network of the cluster's API server \
                 (enrolment.api_networks)."
            }
            Self::Engine(_) => "Only clusters of Kubernetes can be used with Portico.",
            Self::NoAnswer(_) => {
                "Wait until the API server runs. If it does, ask Portico's operator for a route to \
                 it."
            }
            Self::Refused => {
                "Try again after a rotation of the cluster's authority is complete; otherwise ask \
                 the cloud's operator."
            }
            Self::CreateRole { .. } | Self::Bind(_) | Self::Timeout(_) => {
                "Try again: what has been done already stays, and is not done twice."
            }
            Self::Record(_) | Self::Key(_) | Self::Client(_) | Self::Roles(_) => {
                "Report it to Portico's operator."
            }
        }
    }

    /// Returns the result in metrics.
    pub fn result(&self) -> &'static str {
        match self {
            Self::Magnum(_) => "magnum",
            Self::OtherProject | Self::Deleting | Self::NoAddress | Self::Engine(_) => "not_ready",
            Self::Address(_) => "address",
            Self::NoAnswer(_) => "no_answer",
            Self::Refused => "refused",
            Self::CreateRole { .. } | Self::Bind(_) => "bindings",
            Self::Timeout(_) => "timeout",
            Self::Record(_) | Self::Key(_) | Self::Client(_) | Self::Roles(_) => "invalid",
        }
    }

    /// Returns whether Magnum's policy, the operator or the state of the cluster does not permit
    /// it. With every other error, the same run may succeed later.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Magnum(error) => error.is_refusal(),
            Self::OtherProject | Self::Deleting | Self::Address(_) | Self::Engine(_) => true,
            _ => false,
        }
    }
}

fn magnum(error: &rest::Error) -> &'static str {
    match &error.kind {
        rest::ErrorKind::Forbidden(_) => {
            "Only the creator of the cluster may enrol it under Magnum's default policy: ask them, \
             or the cloud's operator."
        }
        rest::ErrorKind::NotFound(_) => "Check that the cluster belongs to this project.",
        rest::ErrorKind::InvalidToken => "Sign in again.",
        rest::ErrorKind::Unavailable(_) | rest::ErrorKind::Fault { .. } => {
            "Try again in a minute. If it continues, report the request ID to the cloud's operator."
        }
        _ => "Report it to Portico's operator.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_next_step_and_a_result() {
        for (error, refusal) in [
            (EnrolmentError::OtherProject, true),
            (EnrolmentError::Address("outside".to_owned()), true),
            (EnrolmentError::NoAddress, false),
            (EnrolmentError::Refused, false),
            (EnrolmentError::Timeout(120), false),
        ] {
            assert!(error.next_step().ends_with('.'), "{error}");
            assert!(!error.result().is_empty());
            assert_eq!(error.is_refusal(), refusal, "{error}");
        }
    }
}
