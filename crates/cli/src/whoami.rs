//! `portico whoami`: the account of this machine's session.
use super::{
    CommandError,
    api::WhoAmI,
    profile::{self, Profile},
    session::Session,
    terminal::one_line,
};
use crate::output::{OutputFormat, TableRow};
use clap::Args;
use portico_clock::Clock;
use portico_domain::identity::Project;
use serde::Serialize;

/// Print who you are signed in as
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  portico whoami\n  portico whoami -o json | jq -r .[].user_id")]
pub struct WhoAmIArgs {
    /// The gateway that this machine signed in at, if several
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The output format
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t)]
    pub output: OutputFormat,
}

/// The account behind a session.
#[derive(Debug, Serialize)]
pub struct Account {
    pub gateway: String,
    pub user: String,
    pub user_id: String,
    pub domain: String,
    pub projects: Vec<Project>,
    /// RFC 3339.
    pub session_expires_at: String,
}

impl TableRow for Account {
    const HEADINGS: &'static [&'static str] = &[
        "USER",
        "DOMAIN",
        "USER ID",
        "PROJECTS",
        "SESSION UNTIL",
        "GATEWAY",
    ];

    fn cells(&self) -> Vec<String> {
        let projects: Vec<&str> = self.projects.iter().map(|p| p.name.as_str()).collect();
        vec![
            self.user.clone(),
            self.domain.clone(),
            self.user_id.clone(),
            projects.join(","),
            self.session_expires_at.clone(),
            self.gateway.clone(),
        ]
    }
}

impl Account {
    fn new(gateway: String, answer: WhoAmI) -> Self {
        Self {
            gateway,
            user: one_line(&answer.user.name),
            user_id: one_line(&answer.user.id),
            domain: one_line(&answer.user.domain.name),
            projects: answer.projects,
            session_expires_at: answer.session.expires_at.to_string(),
        }
    }
}

/// Returns the account that this machine is signed in as, from the gateway.
///
/// # Errors
/// If this machine has no session, or the gateway ended it or does not respond.
pub async fn whoami(args: &WhoAmIArgs, clock: &Clock) -> Result<Account, CommandError> {
    let profile = Profile::choose(args.gateway.as_deref())?;
    account(profile, clock).await
}

/// Asks the gateway of a profile for the session's account.
pub(super) async fn account(profile: Profile, clock: &Clock) -> Result<Account, CommandError> {
    let gateway = profile::display(&profile.gateway);
    let answer = Session::new(profile, clock)?.whoami().await?;
    Ok(Account::new(gateway, answer))
}
