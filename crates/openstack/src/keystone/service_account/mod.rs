//! Portico's service account, for the calls that a user's token cannot make.
//!
//! One token serves all callers: it is requested when first needed, renewed before its expiry, and
//! replaced when Keystone refuses it, each time once however many callers wait. A failed sign-in is
//! not repeated at once: with a wrong password a hundred attempts would lock the account.
mod config;
mod metrics;
mod sign_in;

pub(crate) use config::Credentials;
pub use config::{InvalidServiceAccount, ServiceAccountConfig};

use super::{Client, Error};
use crate::keystone::config::KeystoneConfig;
use metrics::Reason;
use portico_domain::identity::Named;
use secrecy::SecretString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Delay before the next sign-in after an outage of Keystone.
const OUTAGE_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Delay before the next sign-in after Keystone refused the secret or the token just issued.
const REFUSAL_RETRY_DELAY: Duration = Duration::from_secs(30);
/// The fraction of a token's lifetime after which it is renewed.
const RENEW_AFTER: f64 = 0.8;
/// A token is not used within this time of its expiry: it could expire in flight.
const EXPIRY_MARGIN: Duration = Duration::from_secs(10);
/// The role that permits everything in most clouds.
const ADMIN_ROLE: &str = "admin";

/// Reads the file with the secret.
type ReadSecret = dyn Fn(&Path) -> Result<SecretString, String> + Send + Sync;

/// The reason why a call could not be made with the account. None of the variants is about a user's
/// token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceAccountError {
    #[error("keystone.service_account: {0}")]
    Secret(String),
    #[error("signing in the service account: {0}; check [keystone.service_account] and its secret")]
    SignIn(Error),
    #[error(
        "keystone refuses a token that it has just given the service account; check that its user \
         and project are enabled and that all Keystone servers share their token keys"
    )]
    TokenRefused,
    #[error("{0}")]
    Call(Error),
}

/// The account's identity and roles in Keystone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: Named,
    pub roles: Vec<Named>,
}

impl Account {
    /// Returns whether it has far more rights than Portico needs.
    pub fn is_admin(&self) -> bool {
        let admin = |role: &Named| role.name.eq_ignore_ascii_case(ADMIN_ROLE);
        self.roles.iter().any(admin)
    }
}

/// The account. Clones share its token.
#[derive(Clone)]
pub struct ServiceAccount {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    credentials: Credentials,
    read_secret: Box<ReadSecret>,
    current: Mutex<Option<CurrentToken>>,
    /// The task that holds the lock signs in; the value is the last failure.
    turn: Arc<tokio::sync::Mutex<Option<Failure>>>,
}

struct Failure {
    error: ServiceAccountError,
    until: Instant,
}

#[derive(Clone)]
struct CurrentToken {
    token: SecretString,
    account: Account,
    /// Counts sign-ins, so that a refusal of an older token is recognised.
    number: u64,
    made: Instant,
    renew_from: Instant,
    good_until: Instant,
    /// Whether it was requested because Keystone refused the previous one.
    after_refusal: bool,
}

/// Describes the account's metrics.
pub(super) fn describe_metrics() {
    metrics::describe();
}

impl ServiceAccount {
    /// Returns the account of the section, or `None` without one. Sends no request yet.
    ///
    /// # Errors
    /// If the section is invalid.
    pub fn new(
        config: &KeystoneConfig,
        client: Client,
        read_secret: impl Fn(&Path) -> Result<SecretString, String> + Send + Sync + 'static,
    ) -> Result<Option<Self>, InvalidServiceAccount> {
        let Some(section) = &config.service_account else {
            return Ok(None);
        };
        metrics::describe();
        Ok(Some(Self {
            shared: Arc::new(Shared {
                client,
                credentials: section.credentials(&config.default_domain)?,
                read_secret: Box::new(read_secret),
                current: Mutex::new(None),
                turn: Arc::default(),
            }),
        }))
    }

    /// Signs in unless that has happened, and returns the identity; warns about an account with too
    /// many rights.
    ///
    /// # Errors
    /// If it cannot sign in.
    pub async fn check(&self) -> Result<Account, ServiceAccountError> {
        let account = self.current().await?.account;
        if account.is_admin() {
            tracing::warn!(
                user_id = account.user.id,
                user_name = account.user.name,
                "the service account has the role admin: an attacker who takes over Portico \
                 controls the cloud; give it a user with the role reader alone"
            );
        } else {
            tracing::info!(user_id = account.user.id, "the service account can sign in");
        }
        Ok(account)
    }

    /// Makes a call with the account's token. If Keystone refuses the token, a new one is requested
    /// and the call is repeated once.
    ///
    /// # Errors
    /// The failure; [`Error::InvalidToken`] of the call is taken as a refusal of the account's own
    /// token and is never returned.
    pub async fn call<T, F>(
        &self,
        call: impl Fn(Client, SecretString) -> F,
    ) -> Result<T, ServiceAccountError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let client = || self.shared.client.clone();
        let current = self.current().await?;
        match call(client(), current.token.clone()).await {
            Err(Error::InvalidToken) => {}
            result => return result.map_err(ServiceAccountError::Call),
        }
        let renewed = self.replaced(&current).await?;
        match call(client(), renewed.token).await {
            Err(Error::InvalidToken) => Err(ServiceAccountError::TokenRefused),
            result => result.map_err(ServiceAccountError::Call),
        }
    }

    /// Returns the current token. One that is about to expire is renewed in the background.
    async fn current(&self) -> Result<CurrentToken, ServiceAccountError> {
        let now = Instant::now();
        match self.shared.current() {
            Some(current) if now < current.good_until => {
                if now >= current.renew_from
                    && let Ok(turn) = Arc::clone(&self.shared.turn).try_lock_owned()
                {
                    let number = current.number;
                    #[allow(clippy::disallowed_methods, reason = "a stop loses the token as well")]
                    tokio::spawn(sign_in::unless_newer(
                        Arc::clone(&self.shared),
                        turn,
                        number,
                        Reason::Renewal,
                    ));
                }
                Ok(current)
            }
            Some(ended) => self.newer_than(ended.number, Reason::Renewal).await,
            None => self.newer_than(0, Reason::First).await,
        }
    }

    /// Returns another token than this one, which Keystone refused.
    async fn replaced(&self, refused: &CurrentToken) -> Result<CurrentToken, ServiceAccountError> {
        if refused.after_refusal && refused.made.elapsed() < REFUSAL_RETRY_DELAY {
            // its predecessor was refused a moment ago: another one would be refused too
            return Err(ServiceAccountError::TokenRefused);
        }
        self.newer_than(refused.number, Reason::Refused).await
    }

    async fn newer_than(
        &self,
        number: u64,
        reason: Reason,
    ) -> Result<CurrentToken, ServiceAccountError> {
        let turn = Arc::clone(&self.shared.turn).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        // in a separate task: if the caller is cancelled, the next one must not start again
        #[allow(
            clippy::disallowed_methods,
            reason = "awaited; it continues when the caller has ended"
        )]
        let task = tokio::spawn(sign_in::unless_newer(shared, turn, number, reason));
        task.await
            .unwrap_or(Err(ServiceAccountError::SignIn(Error::Malformed(
                "the sign-in was interrupted",
            ))))
    }
}

impl Shared {
    fn current(&self) -> Option<CurrentToken> {
        let current = self.current.lock();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn store(&self, token: CurrentToken) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_clock::Clock;
    use secrecy::ExposeSecret as _;

    /// Returns an account with a token of some age, at a Keystone that is unreachable.
    fn account(age: Duration, life: Duration) -> ServiceAccount {
        let mut config = KeystoneConfig::new("http://127.0.0.1:9/v3".parse().unwrap());
        config.service_account = Some(ServiceAccountConfig {
            user: Some("u".to_owned()),
            password_file: Some("p".into()),
            system: true,
            ..ServiceAccountConfig::default()
        });
        let client = Client::new(&config, Clock::system()).unwrap();
        let account = ServiceAccount::new(&config, client, |_| Ok("secret".into()));
        let account = account.unwrap().unwrap();
        let made = Instant::now().checked_sub(age).unwrap();
        account.shared.store(CurrentToken {
            token: "held".into(),
            account: Account {
                user: Named {
                    id: "u".to_owned(),
                    name: "u".to_owned(),
                },
                roles: Vec::new(),
            },
            number: 1,
            made,
            renew_from: made + life.mul_f64(RENEW_AFTER),
            good_until: made + life.saturating_sub(EXPIRY_MARGIN),
            after_refusal: false,
        });
        account
    }

    #[tokio::test]
    async fn a_token_that_is_about_to_end_still_serves_while_it_is_renewed() {
        let hour = Duration::from_secs(3600);
        for (age, tried) in [(0, false), (50 * 60, true)] {
            let account = account(Duration::from_secs(age), hour);
            for _ in 0..3 {
                let token = account.call(async |_, token| Ok(token)).await;
                assert_eq!(token.unwrap().expose_secret(), "held");
            }
            // the renewal, if there is one, holds the lock until it has failed
            tokio::task::yield_now().await;
            let failed = account.shared.turn.lock().await;
            assert_eq!(failed.is_some(), tried, "{age} s");
        }
    }

    #[tokio::test]
    async fn a_token_that_has_ended_is_not_used() {
        let minute = Duration::from_secs(60);
        let account = account(minute, minute);
        let error = account.call(async |_, _| Ok(())).await.unwrap_err();
        assert!(matches!(error, ServiceAccountError::SignIn(_)), "{error}");
    }
}
