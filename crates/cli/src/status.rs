//! `portico status`: lists every gateway and cloud at which this machine has signed in, with the
//! state of each session.
use super::{
    CommandError,
    direct::Pin,
    profile::{self, Profile},
    whoami,
};
use crate::output::{OutputFormat, TableRow};
use clap::Args;
use portico_clock::Clock;
use serde::Serialize;

/// Show where this machine is signed in
///
/// Asks each gateway whether the session is still valid. Clouds that were pinned by `portico login --cloud` are
/// listed too; they have no session, and Keystone is not asked.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  portico status\n  portico status -o json")]
pub struct StatusArgs {
    /// The output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub output: OutputFormat,
}

/// The state of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The gateway accepted the session just now.
    SignedIn,
    /// The gateway ended the session.
    Ended,
    /// The gateway did not respond, so the state is unknown.
    Unreachable,
    /// A pinned cloud: each command signs in at Keystone itself.
    Pinned,
}

/// One gateway or pinned cloud.
#[derive(Debug, Serialize)]
pub struct SignIn {
    pub gateway: String,
    pub state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_expires_at: Option<String>,
    /// The next step, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl TableRow for SignIn {
    const HEADINGS: &'static [&'static str] =
        &["GATEWAY", "STATE", "USER", "SESSION UNTIL", "NOTE"];

    fn cells(&self) -> Vec<String> {
        let state = match self.state {
            State::SignedIn => "signed in",
            State::Ended => "ended",
            State::Unreachable => "unreachable",
            State::Pinned => "pinned",
        };
        let note = match (&self.message, &self.cloud) {
            (Some(message), _) => message.clone(),
            (None, Some(cloud)) => format!("cloud {cloud}"),
            (None, None) => "-".to_owned(),
        };
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            self.gateway.clone(),
            state.to_owned(),
            or_dash(&self.user),
            or_dash(&self.session_expires_at),
            note,
        ]
    }
}

/// Returns every sign-in of this machine, with its current state.
///
/// # Errors
/// [`CommandError::NoProfile`] if there is none, or a profile cannot be read.
pub async fn status(clock: &Clock) -> Result<Vec<SignIn>, CommandError> {
    let mut all = Vec::new();
    for profile in Profile::all()? {
        all.push(of_gateway(profile, clock).await?);
    }
    for pin in Pin::all()? {
        all.push(SignIn {
            gateway: profile::display(&pin.gateway),
            state: State::Pinned,
            cloud: Some(pin.cloud),
            user: None,
            session_expires_at: None,
            message: None,
        });
    }
    if all.is_empty() {
        return Err(CommandError::NoProfile);
    }
    Ok(all)
}

async fn of_gateway(profile: Profile, clock: &Clock) -> Result<SignIn, CommandError> {
    let gateway = profile::display(&profile.gateway);
    let without_account = |gateway, state, error: &CommandError| SignIn {
        gateway,
        state,
        cloud: None,
        user: None,
        session_expires_at: None,
        message: Some(error.to_string()),
    };
    match whoami::account(profile, clock).await {
        Ok(account) => Ok(SignIn {
            gateway,
            state: State::SignedIn,
            cloud: None,
            user: Some(account.user),
            session_expires_at: Some(account.session_expires_at),
            message: None,
        }),
        Err(error) if error.is_outage() => Ok(without_account(gateway, State::Unreachable, &error)),
        Err(error @ (CommandError::SessionEnded { .. } | CommandError::NoSession { .. })) => {
            Ok(without_account(gateway, State::Ended, &error))
        }
        Err(error) => Err(error),
    }
}
