//! Trying credentials at Keystone, with a limit on failures that never locks anybody out for good.
use jiff::{SignedDuration, Timestamp};
use portico_openstack::keystone::{self, AuthOutcome, Login, Scope, UserRef};
use portico_store::{Outcome, ThrottleLimit};
use secrecy::SecretString;

use crate::{
    audit::Event,
    problem::Problem,
    state::{Context, Gateway},
};

/// Failures of one account from one address.
const ACCOUNT: ThrottleLimit = ThrottleLimit {
    failures: 8,
    window: SignedDuration::from_secs(60),
};
/// Failures of one address, whatever the account.
const ADDRESS: ThrottleLimit = ThrottleLimit {
    failures: 60,
    window: SignedDuration::from_secs(60),
};

/// How an attempt ended without a token.
#[derive(Debug)]
pub(crate) enum Failed {
    /// Keystone says no.
    Refused,
    /// Too many failures: not even asked, for so many seconds.
    Throttled(i64),
    /// Nobody can say.
    KeystoneUnavailable,
    Problem(Box<Problem>),
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Failed::Problem(Box::new(problem))
    }
}

/// Who somebody says they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub name: String,
    pub domain: String,
}

impl Claimed {
    /// The possible readings of what was typed, the likelier first: with the preset domain,
    /// `user@domain` names a domain, unless the name itself holds an `@`.
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

    fn user(&self) -> UserRef {
        UserRef::Name {
            name: self.name.clone(),
            domain: self.domain.clone(),
        }
    }

    /// The account as counters know it: in one spelling, from one address.
    fn counter(&self, address: &str) -> String {
        format!(
            "account:{}@{}|{address}",
            self.name.to_lowercase(),
            self.domain.to_lowercase()
        )
    }
}

impl Gateway {
    /// Tries a password. The first reading that Keystone does not refuse counts.
    pub async fn try_password(
        &self,
        context: &Context,
        readings: &[Claimed],
        password: &SecretString,
    ) -> Result<(Claimed, AuthOutcome), Failed> {
        let Some(likeliest) = readings.first() else {
            return Err(Failed::Refused);
        };
        self.check_limits(context, likeliest).await?;
        for claimed in readings {
            let login = Login::with_password(claimed.user(), password.clone(), Scope::Unscoped);
            match self.ask_keystone(&login).await {
                Ok(outcome) => {
                    if matches!(outcome, AuthOutcome::Token(_)) {
                        self.succeeded(context, likeliest).await?;
                    }
                    return Ok((claimed.clone(), outcome));
                }
                Err(Failed::Refused) => {}
                Err(other) => return Err(other),
            }
        }
        self.failed(context, likeliest, "password").await?;
        Err(Failed::Refused)
    }

    /// Tries a one-time code on the receipt of a password that was right.
    pub async fn try_passcode(
        &self,
        context: &Context,
        claimed: &Claimed,
        passcode: SecretString,
        receipt: SecretString,
    ) -> Result<AuthOutcome, Failed> {
        self.check_limits(context, claimed).await?;
        let login = Login::with_passcode(claimed.user(), passcode, receipt, Scope::Unscoped);
        match self.ask_keystone(&login).await {
            Ok(outcome) => {
                self.succeeded(context, claimed).await?;
                Ok(outcome)
            }
            Err(Failed::Refused) => {
                self.failed(context, claimed, "passcode").await?;
                Err(Failed::Refused)
            }
            Err(other) => Err(other),
        }
    }

    async fn ask_keystone(&self, login: &Login) -> Result<AuthOutcome, Failed> {
        match self.keystone.authenticate(login).await {
            Ok(outcome) => Ok(outcome),
            Err(error) if error.is_refusal() || error == keystone::Error::Forbidden => {
                Err(Failed::Refused)
            }
            Err(error) => {
                if matches!(error, keystone::Error::Unavailable(_)) {
                    self.set_keystone_answers(false);
                }
                count_sign_in("unavailable");
                Err(Failed::KeystoneUnavailable)
            }
        }
    }

    async fn check_limits(&self, context: &Context, claimed: &Claimed) -> Result<(), Failed> {
        let now = Timestamp::now();
        let address = context.address_text();
        let throttle = self.store.throttle();
        let subjects = [
            (claimed.counter(&address), ACCOUNT),
            (format!("address:{address}"), ADDRESS),
        ];
        for (subject, limit) in subjects {
            let until = throttle
                .refused_until(&subject, limit, now)
                .await
                .map_err(Problem::from)?;
            if let Some(until) = until {
                count_sign_in("throttled");
                let event = Event::new("session.sign_in", Outcome::Denied)
                    .name(&claimed.name)
                    .reason("too many failures");
                self.audit(context, event).await;
                return Err(Failed::Throttled(
                    (until.as_second() - now.as_second()).max(1),
                ));
            }
        }
        Ok(())
    }

    async fn failed(
        &self,
        context: &Context,
        claimed: &Claimed,
        what: &'static str,
    ) -> Result<(), Problem> {
        let now = Timestamp::now();
        let address = context.address_text();
        let throttle = self.store.throttle();
        throttle
            .failed(&claimed.counter(&address), ACCOUNT, now)
            .await?;
        throttle
            .failed(&format!("address:{address}"), ADDRESS, now)
            .await?;
        count_sign_in("refused");
        let event = Event::new("session.sign_in", Outcome::Denied)
            .name(&claimed.name)
            .reason(what);
        self.audit(context, event).await;
        Ok(())
    }

    async fn succeeded(&self, context: &Context, claimed: &Claimed) -> Result<(), Problem> {
        let subject = claimed.counter(&context.address_text());
        Ok(self.store.throttle().succeeded(&subject).await?)
    }
}

pub(crate) fn count_sign_in(outcome: &'static str) {
    metrics::counter!("portico_gateway_sign_ins_total", "outcome" => outcome).increment(1);
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

    #[test]
    fn counters_fold_case() {
        let claimed = |name: &str| Claimed {
            name: name.to_owned(),
            domain: "Default".to_owned(),
        };
        assert_eq!(claimed("Ada").counter("::1"), claimed("aDA").counter("::1"));
    }
}
