//! Refuses users who may open an app, but whose identity cannot be passed to it.
use http::StatusCode;
use portico_store::Outcome;

use super::UpstreamIdentity;
use crate::{
    audit::Event,
    config::Fact,
    hosts::App,
    http::{access_log, error_response::Problem},
    request_context::Context,
    sessions::live::Caller,
};

/// What cannot be passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "{entry:?} among your {} holds {separator:?}, which separates them for the app",
        fact.in_words()
    )]
    Separator {
        fact: Fact,
        entry: String,
        separator: char,
    },
    #[error("the header for your {} is too long", in_words(.0))]
    TooLong(Option<Fact>),
    #[error("it requires your {}, which Portico does not know", in_words(.0))]
    Unknown(Option<Fact>),
    #[error("your name holds a colon or a control character, which no Basic credentials can hold")]
    Colon,
    #[error("your identity cannot be written into a header")]
    Unwritable,
    #[error("you have none of its roles")]
    NoRole,
    #[error("it requires a Keystone account, and you have signed in without one")]
    NoKeystone,
    #[error("none of your projects is accepted by the cluster {0}")]
    NoProject(String),
    #[error("the cluster that it is for no longer exists")]
    NoCluster,
}

fn in_words(fact: &Option<Fact>) -> &'static str {
    fact.map_or("identity", Fact::in_words)
}

impl Refusal {
    fn step(&self) -> &'static str {
        match self {
            Self::NoRole | Self::NoProject(_) => {
                "Ask the people who manage your project or group for a role."
            }
            Self::NoKeystone => "Sign in with Keystone, or with a provider that has projects.",
            Self::Unknown(Some(Fact::Email)) => {
                "Verify your e-mail address with the provider that you sign in with, then sign in again."
            }
            _ => {
                "Tell your administrators: the app's `identity` in Portico's configuration decides it."
            }
        }
    }

    fn problem(&self, app: &App) -> Problem {
        let name = &app.config.name;
        Problem::downstream(
            StatusCode::FORBIDDEN,
            "identity_refused",
            format!("Your identity cannot be passed to {name}"),
            format!("You may open {name}, but {self}."),
        )
        .steps([self.step()])
    }
}

impl UpstreamIdentity {
    /// Records why the identity cannot be passed on, and returns the problem.
    pub(super) async fn refuse_identity(
        &self,
        app: &App,
        caller: &Caller,
        refusal: &Refusal,
    ) -> Problem {
        let reason = refusal.to_string();
        let event = Event::new("app.open", Outcome::Denied)
            .session(&caller.session)
            .project(Some(&app.config.project))
            .target(&app.config.id)
            .reason(&reason);
        self.audit.record(&of_session(caller), event).await;
        access_log::refused("identity_refused");
        refusal.problem(app)
    }
}

/// Returns the context of a session, for audit events.
pub(super) fn of_session(caller: &Caller) -> Context {
    Context::internal().of_session(&caller.session)
}
