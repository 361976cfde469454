//! What the sign-in page says: what failed, why somebody is there, and where it leads.
use http::StatusCode;

use super::attempt::Failed;
use crate::{
    access::return_path::ReturnPath, pages::sign_in::Notice, problem::Problem, state::Gateway,
};

impl Gateway {
    /// Where a return path leads, in words; `None` for home.
    pub(super) fn in_words(&self, path: &ReturnPath) -> Option<String> {
        match path.path() {
            "/oauth2/handover" => path
                .query("app")
                .and_then(|id| self.hosts.app(&id).map(|app| app.config.name.clone())),
            "/oauth2/authorize" | "/oauth2/device" => {
                Some("Portico for the command line".to_owned())
            }
            _ if path.leads_somewhere() => {
                let text = path.as_str();
                Some(match text.char_indices().nth(80) {
                    Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
                    None => text.to_owned(),
                })
            }
            _ => None,
        }
    }
}

/// What to say about an attempt that failed, and how to answer.
pub(super) fn failure(failed: Failed) -> Result<(String, StatusCode), Problem> {
    Ok(match failed {
        Failed::Refused => (
            "Keystone did not accept this name and password.".to_owned(),
            StatusCode::UNAUTHORIZED,
        ),
        Failed::Unfit(why) => (why.to_owned(), StatusCode::FORBIDDEN),
        Failed::Throttled(seconds) => (
            format!(
                "Too many attempts failed. Wait {}, then try again.",
                in_words(seconds)
            ),
            StatusCode::TOO_MANY_REQUESTS,
        ),
        Failed::KeystoneUnavailable(reason) => (
            format!(
                "Keystone {reason}, so sign-in does not work right now. This says nothing about \
                 what you typed. Try again in a moment."
            ),
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        Failed::Problem(problem) => return Err(*problem),
    })
}

/// A time to wait, rounded up.
fn in_words(seconds: i64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        ..=120 => format!("{seconds} seconds"),
        _ => format!("{} minutes", (seconds + 59) / 60),
    }
}

/// Why somebody is sent here, from a list of known words.
pub(super) fn notice(reason: &str) -> Option<Notice> {
    let text = match reason {
        "signed_out" => return Some(Notice::Info("You are signed out.".to_owned())),
        "replaced" => "You have signed in again in this browser since.",
        "expired" => {
            "Your session has ended: it was not used for a while, or its Keystone token has \
             expired. Sign in again to go on."
        }
        "revoked" => "Your session was ended from another place. Sign in again to go on.",
        "ended_by_administrator" => {
            "An administrator of your cloud has ended your session. You may sign in again; ask them \
             if you do not know why."
        }
        "form_kept" => {
            "Your session had expired before what you entered arrived. It is kept for 10 minutes: \
             sign in again as the same user, and you can send it."
        }
        "refused_by_keystone" => {
            "Keystone has ended your session: your account, password or roles have changed."
        }
        "ended_by_provider" => {
            "You were signed out by the provider that you had signed in with. Sign in again to go \
             on."
        }
        "refused_by_provider" => {
            "The provider that you signed in with has not prolonged your session. Sign in again to \
             go on."
        }
        "ended" | "parent_ended" | "token_reuse" => {
            "Your session has ended. Sign in again to go on."
        }
        _ => return None,
    };
    Some(Notice::Warning(text.to_owned()))
}
