//! Errors of the commands for users, with their remedies.
use super::direct_error::DirectError;
use crate::exit_code;
use portico_runtime::root_cause;
use std::path::PathBuf;

/// An error, written to standard error as one sentence and a next step.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("no session with {gateway}: run `portico login {gateway}`")]
    NoSession { gateway: String },
    #[error("this machine has not signed in: run `portico login URL`")]
    NoProfile,
    #[error("you have signed in at several gateways ({0}): name one with --gateway")]
    SeveralProfiles(String),
    #[error("the session with {gateway} has ended ({reason}): run `portico login {gateway}`")]
    SessionEnded { gateway: String, reason: String },
    #[error(
        "{0} is not a gateway's URL: it must be https://HOST[:PORT], or http:// on this machine only"
    )]
    GatewayUrl(String),
    #[error(
        "cannot reach {gateway}: {}; check the address, your network, and --ca-file if it uses a private authority",
        root_cause(source)
    )]
    Unreachable {
        gateway: String,
        source: reqwest::Error,
    },
    #[error("{gateway} refused: {message}")]
    Refused { gateway: String, message: String },
    #[error("{gateway} cannot answer just now (HTTP {status}): try again in a moment")]
    Unavailable { gateway: String, status: u16 },
    #[error("{gateway} gave an answer that is not understood ({detail}): is it a Portico gateway?")]
    Answer { gateway: String, detail: String },
    #[error("there is no cluster called {name}; you can reach: {known}")]
    UnknownCluster { name: String, known: String },
    #[error("there are several clusters: name one with --cluster ({known})")]
    WhichCluster { known: String },
    #[error("there is no context {0}; `portico kubeconfig list` shows those that Portico wrote")]
    NoContext(String),
    #[error("the sign-in was not finished in time; run the command again")]
    TimedOut,
    #[error("the sign-in was refused: {0}")]
    SignInRefused(String),
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}: {detail}", path.display())]
    Content { path: PathBuf, detail: String },
    #[error(
        "the context {context} in {} is not Portico's, so it was left as it is: choose another name with --context, or use `kubectl config`",
        path.display()
    )]
    ContextTaken { context: String, path: PathBuf },
    #[error(
        "another program is writing the kubeconfig ({} exists): remove that file if none is",
        path.display()
    )]
    Locked { path: PathBuf },
    #[error("neither HOME nor XDG_CONFIG_HOME is set, so there is no place for the profile")]
    NoHome,
    #[error("KUBERNETES_EXEC_INFO is not understood: {0}")]
    ExecInfo(String),
    #[error("{} {why}: nothing was read or sent; look at it, and remove it if it is not yours", path.display())]
    Unsafe { path: PathBuf, why: &'static str },
    #[error("interrupted; nothing was sent")]
    Interrupted,
    #[error(transparent)]
    Direct(#[from] DirectError),
}

impl CommandError {
    /// Returns the exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            error if error.is_outage() => exit_code::UNAVAILABLE,
            Self::NoSession { .. }
            | Self::NoProfile
            | Self::SessionEnded { .. }
            | Self::Refused { .. }
            | Self::SignInRefused(_) => exit_code::NOT_PERMITTED,
            _ => exit_code::FAILURE,
        }
    }

    /// Returns whether no server could decide, as opposed to a refusal: cached credentials may be
    /// used a while longer.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Unavailable { .. } | Self::Answer { .. } => true,
            Self::Direct(error) => error.is_outage(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
