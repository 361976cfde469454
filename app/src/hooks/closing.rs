//! What the server's closing of a WebSocket means.

/// The server's reason for closing the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The session has ended, with the reason.
    SessionEnded(&'static str),
    /// The client should reconnect.
    ComeBack,
    /// No reason: the connection was lost.
    Unsaid,
}

impl Closing {
    /// Returns the meaning of a close code. RFC 6455, 7.4: 1008 is a policy violation, 1001 a
    /// server that stops, 1012 a restart.
    pub fn of(code: u16, reason: &str) -> Self {
        match code {
            1008 => Self::SessionEnded(why_ended(reason)),
            1001 | 1012 => Self::ComeBack,
            _ => Self::Unsaid,
        }
    }
}

/// Returns the gateway's reason for the end of a session, in a sentence with the next step.
fn why_ended(reason: &str) -> &'static str {
    match reason {
        "signed_out" => "You have signed out in another tab. Sign in again to continue here.",
        "replaced" => "You have signed in again in this browser. Reload this page to continue.",
        "revoked" => {
            "This session was ended from another browser or device. Sign in again to continue; \
             Your sessions in the user menu shows where else you are signed in."
        }
        "ended_by_administrator" => {
            "An administrator of your cloud has ended this session. Sign in again, or ask them why."
        }
        "expired" => {
            "This session was not used for a while, or its Keystone token has ended. Sign in again \
             to continue."
        }
        "refused_by_keystone" => {
            "Keystone has ended this session: your account, password or roles have changed. Sign in \
             again; if that fails, ask the administrators of your cloud."
        }
        "refused_by_provider" => {
            "Your identity provider has ended this session: your account there has changed. Sign in \
             again; if that fails, ask its administrators."
        }
        "ended_by_provider" => {
            "You were signed out at your identity provider. Sign in again to continue."
        }
        _ => "This session has ended. Sign in again to continue.",
    }
}
