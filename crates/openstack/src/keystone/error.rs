//! Errors of calls to Keystone.
use portico_transport::TransportFault;

/// An error. Never holds a token or Keystone's own message: its 404 can quote the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// 401 to a sign-in: user, password, passcode, receipt or project; Keystone does not say which.
    #[error("keystone refused the credentials")]
    InvalidCredentials,
    /// The token is expired, revoked or malformed, or its user or project is disabled.
    #[error("keystone does not accept the token")]
    InvalidToken,
    #[error("keystone forbids this")]
    Forbidden,
    /// 400 or 413: Keystone refuses the request itself, for example because a name is too long.
    #[error("keystone finds the request invalid")]
    BadRequest,
    /// No connection, no response in time, 429 or 5xx.
    #[error("keystone is unavailable: {0}")]
    Unavailable(Unavailable),
    /// A response that Keystone does not give: another service may be listening there.
    #[error("keystone's answer cannot be understood: {0}")]
    Malformed(&'static str),
}

/// How Keystone failed to respond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No connection, and why; `None` if the reason is not a known one.
    #[error("{}", connect_text(.0))]
    Connect(Option<TransportFault>),
    #[error("no answer in time")]
    Timeout,
    #[error("the connection broke")]
    Broken,
    #[error("{}", status_text(.0))]
    Status(u16),
    #[error("it did not answer just now, and is asked again in a moment")]
    NotAsked,
    #[error("too many concurrent requests of one caller")]
    Limited,
}

impl Error {
    /// Returns whether this is Keystone's refusal. With every other error the state is unknown.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::InvalidCredentials | Self::InvalidToken | Self::BadRequest
        )
    }

    /// Returns what an operator should do about it, as an imperative; `None` for a refusal.
    pub fn next_step(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unavailable(Unavailable::Connect(Some(TransportFault::UnknownAuthority))) => {
                "name the authority that signs Keystone's certificate in keystone.ca_file"
            }
            Self::Unavailable(Unavailable::Connect(Some(TransportFault::NotTls))) => {
                "Keystone does not speak TLS there: check the port of keystone.url, or use http:// \
                 with keystone.allow_plain_http"
            }
            Self::Unavailable(Unavailable::Connect(Some(fault))) => fault.next_step(),
            Self::Unavailable(Unavailable::Connect(None) | Unavailable::Broken) => {
                "check keystone.url, and look at Keystone's log"
            }
            Self::Unavailable(Unavailable::Timeout) => TransportFault::Timeout.next_step(),
            Self::Unavailable(Unavailable::Status(_)) => {
                "look at the log of Keystone, or of the proxy in front of it"
            }
            Self::Unavailable(Unavailable::NotAsked | Unavailable::Limited) => {
                "the log names the failure before this one"
            }
            Self::Malformed(_) => {
                "check that keystone.url is the identity API v3 (`curl URL` shows its version)"
            }
            Self::Forbidden => "give the account the role that the guide names",
            Self::InvalidCredentials | Self::InvalidToken | Self::BadRequest => return None,
        })
    }

    /// Returns the failure in words for users, as the end of a sentence about Keystone. Names no
    /// host or file.
    pub fn for_users(&self) -> &'static str {
        match self {
            Self::Unavailable(Unavailable::Connect(Some(fault))) => fault.for_users(),
            Self::Unavailable(Unavailable::Connect(None)) => "cannot be reached",
            Self::Unavailable(Unavailable::Timeout) => TransportFault::Timeout.for_users(),
            Self::Unavailable(Unavailable::Broken) => TransportFault::Closed.for_users(),
            Self::Unavailable(Unavailable::Status(_)) => "reports an error of its own",
            Self::Unavailable(Unavailable::NotAsked | Unavailable::Limited) => {
                "has not answered for a while"
            }
            Self::Malformed(_) => "gives an answer that Portico does not understand",
            Self::Forbidden | Self::InvalidCredentials | Self::InvalidToken | Self::BadRequest => {
                "refuses the request"
            }
        }
    }

    pub(super) fn from_transport(error: &reqwest::Error) -> Self {
        Self::Unavailable(if error.is_timeout() {
            Unavailable::Timeout
        } else if error.is_connect() {
            Unavailable::Connect(TransportFault::of(error))
        } else {
            Unavailable::Broken
        })
    }
}

fn status_text(status: &u16) -> String {
    match status {
        429 => "status 429, too many requests at the same time".to_owned(),
        other => format!("status {other}"),
    }
}

fn connect_text(fault: &Option<TransportFault>) -> String {
    fault.map_or_else(|| "no connection".to_owned(), |fault| fault.to_string())
}
