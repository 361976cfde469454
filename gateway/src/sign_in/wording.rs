//! Texts of the sign-in page: errors, notices, and the name of the destination.
use http::StatusCode;

use super::{SignIn, keystone::attempt::Failed};
use crate::{
    http::{error_response::Problem, return_path::ReturnPath},
    pages::sign_in::Notice,
};

impl SignIn {
    /// Returns a description of a return path; `None` for the home page.
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

/// Returns the message for a failed attempt, with a specific text for a refusal.
pub(super) fn failure_or_refused(
    failed: Failed,
    refused: &str,
) -> Result<(String, StatusCode), Problem> {
    match failed {
        Failed::Refused => Ok((refused.to_owned(), StatusCode::UNAUTHORIZED)),
        other => failure(other),
    }
}

/// Returns the message for a failed attempt, and the status of the response.
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
                "Keystone {reason}, so sign-in does not work right now. Your user name and \
                 password were not checked. Try again in a moment."
            ),
            StatusCode::SERVICE_UNAVAILABLE,
        ),
        Failed::Problem(problem) => return Err(*problem),
    })
}

/// Returns a waiting time as text, rounded up.
fn in_words(seconds: i64) -> String {
    match seconds {
        1 => "1 second".to_owned(),
        ..=120 => format!("{seconds} seconds"),
        _ => format!("{} minutes", (seconds + 59) / 60),
    }
}

/// Returns the notice for a reason, from a fixed list.
pub(super) fn notice(reason: &str) -> Option<Notice> {
    let text = match reason {
        "signed_out" => return Some(Notice::Info("You are signed out.".to_owned())),
        "replaced" => "You have signed in again in this browser since.",
        "expired" => {
            "Your session has ended: it was not used for a while, or its Keystone token has \
             expired. Sign in again to continue."
        }
        "revoked" => {
            "Your session was ended from another browser or device. Sign in again to \
                      continue."
        }
        "ended_by_administrator" => {
            "An administrator of your cloud has ended your session. You may sign in again; ask them \
             if you do not know why."
        }
        "form_saved" => {
            "Your session had expired before what you entered arrived. It is kept for 10 minutes: \
             sign in again as the same user, and you can send it."
        }
        "code_page_ended" => {
            "The page for your one-time code was open for too long, or the sign-in has ended. \
             Enter your password again."
        }
        "refused_by_keystone" => {
            "Keystone has ended your session: your account, password or roles have changed."
        }
        "ended_by_provider" => {
            "You were signed out by the provider that you had signed in with. Sign in again to \
             continue."
        }
        "refused_by_provider" => {
            "The provider that you signed in with did not renew your session. Sign in again to \
             continue."
        }
        "ended" | "parent_ended" | "token_reuse" => {
            "Your session has ended. Sign in again to continue."
        }
        _ => return None,
    };
    Some(Notice::Warning(text.to_owned()))
}
