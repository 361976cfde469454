//! Errors for users: one clear sentence, the next step, and a request ID.
#[cfg(feature = "ssr")]
pub(crate) mod status;

use crate::codec::JsonText;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use portico_domain::panel::RightQuestion;
use serde::{Deserialize, Serialize};

/// The kind of an error, in a form that a page can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UiErrorKind {
    /// The session has ended: sign in again.
    SignedOut,
    /// The viewer's rights do not permit it.
    NotPermitted,
    NotFound,
    /// Another client changed it first.
    Conflict,
    /// The request is invalid.
    Invalid,
    /// A cluster, Keystone or an app does not respond; a retry makes sense.
    Unavailable,
    /// An internal error; the log has the cause under the request ID.
    Internal,
}

impl UiErrorKind {
    const ALL: [Self; 7] = [
        Self::SignedOut,
        Self::NotPermitted,
        Self::NotFound,
        Self::Conflict,
        Self::Invalid,
        Self::Unavailable,
        Self::Internal,
    ];

    /// Returns the kind's name in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SignedOut => "signed-out",
            Self::NotPermitted => "not-permitted",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::Invalid => "invalid",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// Returns the kind that [`Self::as_str`] wrote; `None` for any other text.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// An error that reached a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct UiError {
    pub kind: UiErrorKind,
    /// A full sentence.
    pub message: String,
    /// What the user can do now.
    pub next_step: Option<String>,
    pub request_id: Option<String>,
    /// The permission that is missing, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Box<RightQuestion>>,
}

impl UiError {
    pub fn new(kind: UiErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            next_step: None,
            request_id: None,
            missing: None,
        }
    }

    #[must_use]
    pub fn next_step(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }
}

impl FromServerFnError for UiError {
    type Encoder = JsonText;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let error = match error {
            ServerFnErrorErr::Request(_) => {
                Self::new(UiErrorKind::Unavailable, "Portico could not be reached.")
                    .next_step("Check your connection and try again.")
            }
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => not_understood(),
            // on the server this is a request that could not be read, in the browser a response
            #[cfg(feature = "ssr")]
            ServerFnErrorErr::Deserialization(_) => not_understood(),
            _ => Self::new(UiErrorKind::Internal, "The answer could not be read.")
                .next_step("Reload the page; if it happens again, tell your administrators."),
        };
        #[cfg(feature = "ssr")]
        status::set_status(&error);
        error
    }
}

fn not_understood() -> UiError {
    UiError::new(UiErrorKind::Invalid, "The request was not understood.")
        .next_step("Reload the page: it may be older than the server.")
}
