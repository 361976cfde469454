//! Why somebody who may open an app is refused all the same: the app could not be told who they are.
use http::StatusCode;
use portico_store::Outcome;

use crate::{
    access::line,
    audit::Event,
    config::Fact,
    hosts::App,
    problem::Problem,
    session::live::Caller,
    state::{Context, Gateway},
};

/// What cannot be told.
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
    #[error("your {} are more than it can be told", in_words(.0))]
    TooLong(Option<Fact>),
    #[error("it must be told your {}, which Portico does not know", in_words(.0))]
    Unknown(Option<Fact>),
    #[error("your name holds a colon or a control character, which no Basic credentials can hold")]
    Colon,
    #[error("what it is to be told cannot be written into a header")]
    Unwritable,
    #[error("none of its roles is for you")]
    NoRole,
    #[error("it works with your Keystone account, and you have signed in without one")]
    NoKeystone,
    #[error("none of your projects is accepted by the cluster {0}")]
    NoProject(String),
    #[error("the cluster that it is for does not exist any more")]
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
            format!("{name} cannot be told who you are"),
            format!("You may open {name}, but {self}."),
        )
        .steps([self.step()])
    }
}

impl Gateway {
    /// Says and records why the app is not told.
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
        self.audit(&of_session(caller), event).await;
        line::refused("identity_refused");
        refusal.problem(app)
    }
}

/// Where a session comes from, for what is recorded about it.
pub(super) fn of_session(caller: &Caller) -> Context {
    Context::internal().of_session(&caller.session)
}
