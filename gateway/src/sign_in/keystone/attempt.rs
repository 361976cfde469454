//! Tries credentials at Keystone, with a limit on failures; see [`crate::sign_in::attempts::limits`].
use http::HeaderMap;
use portico_openstack::keystone::{self, AuthOutcome, Login, Scope, UserRef};
use secrecy::SecretString;

use crate::{
    http::{access_log, error_response::Problem},
    metrics,
    request_context::Context,
    sign_in::{SignIn, attempts::limits::SignInMethod},
};

/// Why an attempt ended without a token.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Keystone refused the credentials.
    Refused,
    /// Too many failures: Keystone was not asked; the number of seconds to wait.
    Throttled(i64),
    /// Valid at Keystone, but not usable here, for this reason.
    Unfit(&'static str),
    /// The attempt could not be decided. With the reason, as the rest of a sentence about Keystone.
    KeystoneUnavailable(&'static str),
    Problem(Box<Problem>),
}

impl Failed {
    /// Returns after how many seconds to try again, where that is known.
    pub fn retry_after(&self) -> Option<i64> {
        match self {
            Failed::Throttled(seconds) => Some(*seconds),
            Failed::KeystoneUnavailable(_) => Some(5),
            Failed::Refused | Failed::Unfit(_) | Failed::Problem(_) => None,
        }
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Failed::Problem(Box::new(problem))
    }
}

/// The account that a user claims to own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub name: String,
    pub domain: String,
}

impl Claimed {
    /// Returns the possible readings of the entered name, the likelier first: with the preset
    /// domain, `user@domain` names a domain, unless the name itself contains an `@`.
    pub fn readings(name: &str, domain: &str, preset: &str) -> Vec<Self> {
        let claimed = |name: &str, domain: &str| Self {
            name: name.to_owned(),
            domain: domain.to_owned(),
        };
        let name = name.trim();
        let domain = domain.trim();
        let domain = if domain.is_empty() { preset } else { domain };
        let literal = claimed(name, domain);
        match name.rsplit_once('@') {
            Some((user, of)) if domain == preset && !user.is_empty() && !of.is_empty() => {
                vec![claimed(user, of), literal]
            }
            _ => vec![literal],
        }
    }

    pub(crate) fn user(&self) -> UserRef {
        UserRef::Name {
            name: self.name.clone(),
            domain: self.domain.clone(),
        }
    }
}

impl SignIn {
    /// Tries a password. The first reading that Keystone does not refuse counts.
    pub async fn try_password(
        &self,
        context: &Context,
        headers: &HeaderMap,
        readings: &[Claimed],
        password: &SecretString,
    ) -> Result<(Claimed, AuthOutcome), Failed> {
        let attempt = self
            .attempts
            .begin_attempt(context, headers, SignInMethod::Password, readings)
            .await?;
        for claimed in readings {
            let login = Login::with_password(claimed.user(), password.clone(), Scope::Unscoped);
            match self.ask_keystone(&login).await {
                Ok(outcome) => {
                    self.attempts.end_attempt(attempt, &outcome).await?;
                    return Ok((claimed.clone(), outcome));
                }
                Err(Failed::Refused) => {}
                Err(other) => {
                    self.attempts.undecided(attempt).await?;
                    return Err(other);
                }
            }
        }
        Err(self.attempts.refuse_attempt(context, attempt).await?)
    }

    /// Tries a one-time code with the receipt of a correct password.
    pub async fn try_passcode(
        &self,
        context: &Context,
        headers: &HeaderMap,
        claimed: &Claimed,
        passcode: SecretString,
        receipt: SecretString,
    ) -> Result<AuthOutcome, Failed> {
        let attempt = self
            .attempts
            .begin_attempt(
                context,
                headers,
                SignInMethod::OneTimeCode,
                std::slice::from_ref(claimed),
            )
            .await?;
        let login = Login::with_passcode(claimed.user(), passcode, receipt, Scope::Unscoped);
        match self.ask_keystone(&login).await {
            Ok(outcome) => {
                self.attempts.end_attempt(attempt, &outcome).await?;
                Ok(outcome)
            }
            Err(Failed::Refused) => Err(self.attempts.refuse_attempt(context, attempt).await?),
            Err(other) => {
                self.attempts.undecided(attempt).await?;
                Err(other)
            }
        }
    }

    async fn ask_keystone(&self, login: &Login) -> Result<AuthOutcome, Failed> {
        let answer = self.keystone.authenticate(login).await;
        answer.map_err(|error| self.not_asked_or_refused(&error))
    }

    /// Returns what Keystone's error means for an attempt.
    pub(crate) fn not_asked_or_refused(&self, error: &keystone::Error) -> Failed {
        if error.is_refusal() || *error == keystone::Error::Forbidden {
            return Failed::Refused;
        }
        if matches!(error, keystone::Error::Unavailable(_)) {
            self.sessions.set_keystone_answers(false);
        }
        metrics::sign_in(metrics::KEYSTONE, "unavailable");
        access_log::rule("keystone_unavailable");
        Failed::KeystoneUnavailable(error.for_users())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(name: &str, domain: &str) -> Vec<(String, String)> {
        Claimed::readings(name, domain, "Default")
            .into_iter()
            .map(|claimed| (claimed.name, claimed.domain))
            .collect()
    }

    fn pair(name: &str, domain: &str) -> (String, String) {
        (name.to_owned(), domain.to_owned())
    }

    #[test]
    fn user_at_domain_is_understood() {
        assert_eq!(readings(" ada ", ""), [pair("ada", "Default")]);
        assert_eq!(readings("ada", "acme"), [pair("ada", "acme")]);
        assert_eq!(
            readings("ada@acme", "Default"),
            [pair("ada", "acme"), pair("ada@acme", "Default")]
        );
        assert_eq!(
            readings("ada@acme.org@acme", ""),
            [
                pair("ada@acme.org", "acme"),
                pair("ada@acme.org@acme", "Default")
            ]
        );
        assert_eq!(readings("ada@acme", "other"), [pair("ada@acme", "other")]);
        assert_eq!(readings("@", ""), [pair("@", "Default")]);
    }
}
