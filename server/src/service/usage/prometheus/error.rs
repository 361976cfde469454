//! Errors of Prometheus, and their sentences for users.
use super::{MAX_BODY_BYTES, QUERY_TIMEOUT, answer::MAX_SERIES, query::QueryError};
use portico_runtime::secret_file::SecretFileError;
use std::path::PathBuf;

/// The reason why the section of the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PrometheusSetupError {
    #[error("panel.prometheus.ca_file: {}: {source}", path.display())]
    Authority {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("panel.prometheus: {0}")]
    Client(#[from] reqwest::Error),
}

/// A query that has no result.
#[derive(Debug, thiserror::Error)]
pub enum PrometheusError {
    #[error("no answer within {} seconds", QUERY_TIMEOUT.as_secs())]
    Timeout,
    #[error("no connection: {0}")]
    Unreachable(String),
    #[error("panel.prometheus.bearer_token_file: {0}")]
    Token(#[from] SecretFileError),
    /// The status of a response that is not one of Prometheus' API.
    #[error("status {0}")]
    Status(u16),
    /// Prometheus' own message.
    #[error("{0}")]
    Failed(String),
    #[error("the response is larger than {} bytes", MAX_BODY_BYTES)]
    TooLarge,
    #[error("the response has more than {} series", MAX_SERIES)]
    TooManySeries,
    #[error("unreadable response: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error("the cluster is not one of the configuration")]
    UnknownCluster,
    /// Prometheus has no series, or no recent value.
    #[error("no samples")]
    NoSamples,
}

impl PrometheusError {
    /// Returns whether the error is a part of normal operation, such as a container that is new, or an
    /// enrolled cluster, which only its own `metrics.k8s.io` measures.
    pub fn is_expected(&self) -> bool {
        matches!(self, Self::NoSamples | Self::UnknownCluster)
    }

    /// Returns one full sentence for users. Addresses and messages of Prometheus are for the log.
    pub fn sentence(&self) -> String {
        match self {
            Self::Timeout => format!(
                "Prometheus did not answer within {} seconds.",
                QUERY_TIMEOUT.as_secs()
            ),
            Self::Unreachable(_) => "Prometheus cannot be reached.".to_owned(),
            Self::UnknownCluster => {
                "Portico's Prometheus does not measure this cluster, which was enrolled by a user."
                    .to_owned()
            }
            Self::Token(_) | Self::Query(_) => {
                "Portico's configuration of Prometheus cannot be used; its administrators can see \
                 why in the log."
                    .to_owned()
            }
            Self::Status(status) => format!("Prometheus answered with an error ({status})."),
            Self::Failed(_) => "Prometheus could not evaluate the query.".to_owned(),
            Self::TooLarge | Self::TooManySeries => {
                "Prometheus has too many series here to be read at once.".to_owned()
            }
            Self::Unreadable(_) => "Prometheus' answer could not be read.".to_owned(),
            Self::NoSamples => {
                "Prometheus has no recent samples here. Those of a new container follow after two \
                 scrapes."
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_sees_neither_addresses_nor_messages_of_prometheus() {
        for error in [
            PrometheusError::Failed("http://10.0.0.5 is down".to_owned()),
            PrometheusError::Unreadable("http://10.0.0.5".to_owned()),
        ] {
            let sentence = error.sentence();
            assert!(!sentence.contains("10.0.0.5"), "{sentence}");
        }
    }
}
