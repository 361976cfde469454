//! Why a call to Keystone brought nothing.

/// Never holds a token or Keystone's own words: its 404 can quote the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// 401 to a sign-in: user, password, passcode, receipt or project; Keystone does not say which.
    #[error("keystone refused the credentials")]
    InvalidCredentials,
    /// The token is expired, revoked, garbage, or its user or project is disabled.
    #[error("keystone does not accept the token")]
    InvalidToken,
    #[error("keystone forbids this")]
    Forbidden,
    /// 400 or 413: Keystone finds the request itself unacceptable, for example a name too long.
    #[error("keystone finds the request invalid")]
    BadRequest,
    /// No connection, no answer in time, 429 or 5xx.
    #[error("keystone is unavailable: {0}")]
    Unavailable(Unavailable),
    /// An answer that Keystone does not give: something else may be listening there.
    #[error("keystone's answer cannot be understood: {0}")]
    Malformed(&'static str),
}

/// How Keystone fails to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("no connection")]
    Connect,
    #[error("no answer in time")]
    Timeout,
    #[error("the connection broke")]
    Broken,
    #[error("status {0}")]
    Status(u16),
    #[error("it did not answer just now, and is asked again in a moment")]
    NotAsked,
    #[error("more was asked at once than one asker may")]
    Limited,
}

impl Error {
    /// Whether this is Keystone's "no". Everything else means that nobody can say.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::InvalidCredentials | Self::InvalidToken | Self::BadRequest
        )
    }

    pub(super) fn from_transport(error: &reqwest::Error) -> Self {
        Self::Unavailable(if error.is_timeout() {
            Unavailable::Timeout
        } else if error.is_connect() {
            Unavailable::Connect
        } else {
            Unavailable::Broken
        })
    }
}
