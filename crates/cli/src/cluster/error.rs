//! Errors of `portico cluster`: one sentence, the next step, and an exit code.
use super::exit_code;
use crate::direct_error::DirectError;
use crate::error::CommandError;
use crate::output::OutputError;
use portico_cluster_operations::steps::StepError;
use portico_lifecycle::idempotency::LostResponse;
use portico_lifecycle::spec::{CommandLineError, SpecError};
use portico_openstack::rest::{self, EndpointError, ErrorKind};
use serde_json::{Value, json};

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The command line, or a file that it names, cannot be used.
    #[error("{0}")]
    Usage(String),
    /// Sign-in, or a file of this machine.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A service of the cloud.
    #[error("{0}")]
    Service(#[from] rest::Error),
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("a list of Magnum is incomplete ({0}), so nothing was concluded from it")]
    Incomplete(rest::Cut),
    /// Checks failed before anything was sent.
    #[error("{text}")]
    Blocked { exit: u8, text: String },
    #[error("{0}")]
    Lost(LostResponse),
    /// Magnum accepted the request for a cluster, and has no record of it.
    #[error("Magnum accepted the request but has no record of the cluster {uuid}: {reason}")]
    NotRecorded { uuid: String, reason: &'static str },
    /// The typed name is another one.
    #[error("{typed:?} is not the name of the cluster; nothing was deleted or changed")]
    NotConfirmed { typed: String },
    /// The operation ended in a state of failure.
    #[error("{0}")]
    Failed(String),
    #[error("the cluster {0} does not exist any longer")]
    Disappeared(String),
    #[error("{0}")]
    NotActedOn(String),
    #[error("not finished within {seconds} s{stalled}; the operation continues")]
    TimedOut {
        uuid: String,
        seconds: u64,
        /// Empty, or what it waits for.
        stalled: String,
    },
    /// The token ended while the command waited, and there is no other one.
    #[error("the token has ended, and cannot be renewed; the operation continues. {source}")]
    TokenEnded { uuid: String, source: Box<Self> },
    #[error("interrupted; the operation continues")]
    Interrupted { uuid: String },
    #[error("stopped after {done} of {all} steps, at \"{stage}\": {source}")]
    Partly {
        done: usize,
        all: usize,
        stage: String,
        source: Box<Self>,
    },
    /// A new node was added, and the one that it replaces was not removed.
    #[error("a node was added to {cluster}, and {node} was not removed: {source}")]
    NotReplaced {
        cluster: String,
        node: String,
        source: Box<Self>,
    },
    /// A node was removed, and no new one was added in its place.
    #[error("a node was removed from {group}, and none was added in its place: {source}")]
    NotAdded {
        cluster: String,
        group: String,
        source: Box<Self>,
    },
    /// It needs Portico's store, and Magnum is called directly.
    #[error(
        "a cluster's events are in Portico's journal, and this command calls Magnum directly: Magnum has none"
    )]
    NoJournal,
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("write the output: {0}")]
    Write(#[from] std::io::Error),
}

impl From<CommandLineError> for ClusterError {
    fn from(error: CommandLineError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<StepError> for ClusterError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Service(error) => Self::Service(*error),
            StepError::Request(_) => Self::Usage(error.to_string()),
            StepError::Resized { .. } => Self::Blocked {
                exit: exit_code::CONFLICT,
                text: format!(
                    "{error}; nothing was sent\n  Run the command again: it shows the change from the present \
                     size"
                ),
            },
        }
    }
}

impl From<DirectError> for ClusterError {
    fn from(error: DirectError) -> Self {
        Self::Command(error.into())
    }
}

impl ClusterError {
    /// Returns the exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => exit_code::USAGE,
            Self::Command(error) if error.is_outage() => exit_code::UNAVAILABLE,
            Self::Command(
                CommandError::Direct(_)
                | CommandError::NoSession { .. }
                | CommandError::NoProfile
                | CommandError::SessionEnded { .. },
            ) => exit_code::SIGN_IN,
            Self::Command(CommandError::Refused { .. }) => exit_code::FORBIDDEN,
            Self::Command(_) => exit_code::USAGE,
            Self::Service(error) => of_kind(&error.kind),
            Self::Spec(SpecError::Document(_)) => exit_code::USAGE,
            Self::Spec(_) => exit_code::INVALID,
            Self::Incomplete(_) => exit_code::UNAVAILABLE,
            Self::Blocked { exit, .. } => *exit,
            Self::Lost(LostResponse::NothingFound)
            | Self::NotRecorded { .. }
            | Self::NotActedOn(_) => exit_code::NOT_ACTED_ON,
            Self::Lost(_) => exit_code::CONFLICT,
            Self::NotConfirmed { .. } | Self::Output(_) | Self::Write(_) => exit_code::NEGATIVE,
            Self::NoJournal => exit_code::UNSUPPORTED,
            Self::Failed(_) => exit_code::FAILED,
            Self::Disappeared(_) => exit_code::NOT_FOUND,
            Self::TimedOut { .. } => exit_code::TIMED_OUT,
            Self::TokenEnded { .. } => exit_code::SIGN_IN,
            Self::Interrupted { .. } => exit_code::INTERRUPTED,
            Self::Partly { .. } | Self::NotReplaced { .. } | Self::NotAdded { .. } => {
                exit_code::PARTLY
            }
        }
    }

    /// Returns whether a service did not answer, as opposed to a refusal.
    pub fn is_outage(&self) -> bool {
        self.exit_code() == exit_code::UNAVAILABLE
    }

    /// Returns the next step; `None` if the message has it, or none is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Service(error) => match &error.kind {
                ErrorKind::NotFound(_) if error.operation.starts_with("template") => {
                    Some("see `portico cluster templates`".to_owned())
                }
                ErrorKind::NotFound(_) => Some("see `portico cluster list`".to_owned()),
                _ => error.next_step().map(str::to_owned),
            },
            Self::TimedOut { uuid, .. } | Self::Interrupted { uuid } => {
                Some(format!("continue with `portico cluster watch {uuid}`"))
            }
            Self::TokenEnded { uuid, .. } => Some(format!(
                "sign in again, or set a new token; then continue with `portico cluster watch {uuid}`"
            )),
            Self::Lost(LostResponse::NothingFound) => Some(
                "see `portico cluster list`; --new-attempt forgets the lost request and sends another one"
                    .to_owned(),
            ),
            Self::Partly { .. } => {
                Some("remedy the cause, then apply the file again: done steps are not repeated".to_owned())
            }
            Self::NotReplaced { cluster, node, .. } => Some(format!(
                "continue with `portico cluster nodes remove {cluster} {node}`"
            )),
            Self::NotAdded { cluster, group, .. } => Some(format!(
                "continue with `portico cluster nodes add {cluster} -g {group}`"
            )),
            Self::Blocked { exit, .. } if *exit == exit_code::QUOTA => Some(
                "choose a smaller cluster, delete what is not needed, or ask the cloud's operator for more"
                    .to_owned(),
            ),
            Self::NotRecorded { .. } => Some(
                "run the command again, which looks for the cluster and does not request it twice; \
                 --new-attempt forgets this request"
                    .to_owned(),
            ),
            Self::NoJournal => Some(
                "run `portico login URL`, and use the command without --cloud and OS_*, or with --gateway URL"
                    .to_owned(),
            ),
            Self::Incomplete(_) => Some("try again in a minute".to_owned()),
            _ => None,
        }
    }

    fn request_id(&self) -> Option<&str> {
        match self {
            Self::Service(error) => error.request_id.as_deref(),
            Self::Partly { source, .. }
            | Self::NotReplaced { source, .. }
            | Self::NotAdded { source, .. }
            | Self::TokenEnded { source, .. } => source.request_id(),
            _ => None,
        }
    }

    /// Returns the message with the next step, for users. The message has the request ID.
    pub fn sentence(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self}\nNext: {hint}"),
            None => self.to_string(),
        }
    }

    /// Returns `{"error": {"class", "message", "hint", "request_id", "exit"}}`, for programs.
    pub fn to_json(&self) -> Value {
        let exit = self.exit_code();
        json!({"error": {
            "class": class(exit),
            "message": self.to_string(),
            "hint": self.hint(),
            "request_id": self.request_id(),
            "exit": exit,
        }})
    }
}

fn of_kind(kind: &ErrorKind) -> u8 {
    match kind {
        ErrorKind::Endpoint(EndpointError::PlainHttp | EndpointError::SeveralRegions(_)) => {
            exit_code::USAGE
        }
        ErrorKind::Endpoint(_) | ErrorKind::NotAvailable(_) | ErrorKind::Incompatible(_) => {
            exit_code::UNSUPPORTED
        }
        ErrorKind::InvalidToken => exit_code::SIGN_IN,
        ErrorKind::Forbidden(_) => exit_code::FORBIDDEN,
        ErrorKind::QuotaExceeded(_) => exit_code::QUOTA,
        ErrorKind::NotFound(_) => exit_code::NOT_FOUND,
        ErrorKind::Ambiguous(_) | ErrorKind::Conflict(_) => exit_code::CONFLICT,
        ErrorKind::Invalid(_) => exit_code::INVALID,
        ErrorKind::Fault { .. } | ErrorKind::Unavailable(_) | ErrorKind::Malformed(_) => {
            exit_code::UNAVAILABLE
        }
    }
}

fn class(exit: u8) -> &'static str {
    match exit {
        exit_code::USAGE => "usage",
        exit_code::NOT_FOUND => "not_found",
        exit_code::CONFLICT => "conflict",
        exit_code::FORBIDDEN => "forbidden",
        exit_code::QUOTA => "quota",
        exit_code::INVALID => "invalid",
        exit_code::FAILED => "failed",
        exit_code::TIMED_OUT => "timed_out",
        exit_code::SIGN_IN => "sign_in",
        exit_code::UNAVAILABLE => "unavailable",
        exit_code::NOT_ACTED_ON => "not_acted_on",
        exit_code::UNSUPPORTED => "unsupported",
        exit_code::PARTLY => "partly",
        exit_code::INTERRUPTED => "interrupted",
        _ => "negative",
    }
}

#[cfg(test)]
mod tests;
