//! Portico's own account, for the calls that a user's token cannot make.
//!
//! One token serves everybody who asks: it is made when first needed, renewed ahead of its end, and
//! made again when Keystone refuses it, each time once however many wait. A sign-in that failed is
//! not tried again at once: with a wrong password a hundred tries would lock the account.
mod config;
mod metrics;
mod sign_in;

pub(crate) use config::Credentials;
pub use config::{InvalidServiceAccount, ServiceAccountConfig};

use super::{Client, Error};
use crate::config::KeystoneConfig;
use metrics::Reason;
use portico_domain::identity::Named;
use secrecy::SecretString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long nobody signs in again after Keystone was away.
const AFTER_OUTAGE: Duration = Duration::from_secs(2);
/// How long after it refused: the secret, or the token just made.
const AFTER_REFUSAL: Duration = Duration::from_secs(30);
/// The part of a token's life after which it is renewed.
const RENEW_FROM: f64 = 0.8;
/// A token is not used in its last seconds: it would end on the way.
const LAST_SECONDS: Duration = Duration::from_secs(10);
/// The role with which an account may do everything in most clouds.
const ADMIN: &str = "admin";

/// Reads the file with the secret.
type ReadSecret = dyn Fn(&Path) -> Result<SecretString, String> + Send + Sync;

/// Why a call could not be made for the account. None of them says anything about a user's token.
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

/// What the account is at Keystone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub user: Named,
    pub roles: Vec<Named>,
}

impl Account {
    /// Whether it may do far more than Portico needs.
    pub fn is_admin(&self) -> bool {
        let admin = |role: &Named| role.name.eq_ignore_ascii_case(ADMIN);
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
    held: Mutex<Option<Held>>,
    /// Whoever has it signs in; it knows how the last try failed.
    turn: Arc<tokio::sync::Mutex<Option<Failure>>>,
}

struct Failure {
    error: ServiceAccountError,
    until: Instant,
}

#[derive(Clone)]
struct Held {
    token: SecretString,
    account: Account,
    /// Counts sign-ins, so that a refusal of an older token is known as such.
    number: u64,
    made: Instant,
    renew_from: Instant,
    good_until: Instant,
    /// It was made because Keystone refused the one before.
    after_refusal: bool,
}

/// Says what the account's metrics mean.
pub(super) fn describe_metrics() {
    metrics::describe();
}

impl ServiceAccount {
    /// The account of the section, or `None` without one. Nothing is sent yet.
    ///
    /// # Errors
    /// When the section is invalid.
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
                held: Mutex::new(None),
                turn: Arc::default(),
            }),
        }))
    }

    /// Signs in unless that has happened, and says as whom; warns about an account that may too
    /// much.
    ///
    /// # Errors
    /// When it cannot sign in.
    pub async fn check(&self) -> Result<Account, ServiceAccountError> {
        let account = self.held().await?.account;
        if account.is_admin() {
            tracing::warn!(
                user.id = account.user.id,
                user.name = account.user.name,
                "the service account has the role admin: whoever takes over Portico has the cloud; \
                 give it a user with the role reader alone"
            );
        } else {
            tracing::info!(user.id = account.user.id, "the service account can sign in");
        }
        Ok(account)
    }

    /// Makes a call with the account's token. When Keystone refuses the token, a new one is made
    /// and the call is made once more.
    ///
    /// # Errors
    /// With what went wrong; [`Error::InvalidToken`] of the call is taken for a refusal of the
    /// account's own token and never comes out of here.
    pub async fn call<T, F>(
        &self,
        call: impl Fn(Client, SecretString) -> F,
    ) -> Result<T, ServiceAccountError>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let client = || self.shared.client.clone();
        let held = self.held().await?;
        match call(client(), held.token.clone()).await {
            Err(Error::InvalidToken) => {}
            result => return result.map_err(ServiceAccountError::Call),
        }
        let renewed = self.replaced(&held).await?;
        match call(client(), renewed.token).await {
            Err(Error::InvalidToken) => Err(ServiceAccountError::TokenRefused),
            result => result.map_err(ServiceAccountError::Call),
        }
    }

    /// The token now. One that is about to end is renewed meanwhile.
    async fn held(&self) -> Result<Held, ServiceAccountError> {
        let now = Instant::now();
        match self.shared.current() {
            Some(held) if now < held.good_until => {
                if now >= held.renew_from
                    && let Ok(turn) = Arc::clone(&self.shared.turn).try_lock_owned()
                {
                    let number = held.number;
                    tokio::spawn(sign_in::unless_newer(
                        Arc::clone(&self.shared),
                        turn,
                        number,
                        Reason::Renewal,
                    ));
                }
                Ok(held)
            }
            Some(ended) => self.newer_than(ended.number, Reason::Renewal).await,
            None => self.newer_than(0, Reason::First).await,
        }
    }

    /// Another token than this one, which Keystone refused.
    async fn replaced(&self, refused: &Held) -> Result<Held, ServiceAccountError> {
        if refused.after_refusal && refused.made.elapsed() < AFTER_REFUSAL {
            // its predecessor was refused a moment ago: one more would be refused too
            return Err(ServiceAccountError::TokenRefused);
        }
        self.newer_than(refused.number, Reason::Refused).await
    }

    async fn newer_than(&self, number: u64, reason: Reason) -> Result<Held, ServiceAccountError> {
        let turn = Arc::clone(&self.shared.turn).lock_owned().await;
        let shared = Arc::clone(&self.shared);
        // in a task of its own: a caller that gives up must not leave the next one to start again
        let task = tokio::spawn(sign_in::unless_newer(shared, turn, number, reason));
        task.await
            .unwrap_or(Err(ServiceAccountError::SignIn(Error::Malformed(
                "the sign-in was interrupted",
            ))))
    }
}

impl Shared {
    fn current(&self) -> Option<Held> {
        let held = self.held.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hold(&self, held: Held) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    /// An account with a token of some age, at a Keystone that is away.
    fn account(age: Duration, life: Duration) -> ServiceAccount {
        let mut config = KeystoneConfig::new("http://127.0.0.1:9/v3".parse().unwrap());
        config.service_account = Some(ServiceAccountConfig {
            user: Some("u".to_owned()),
            password_file: Some("p".into()),
            system: true,
            ..ServiceAccountConfig::default()
        });
        let client = Client::new(&config).unwrap();
        let account = ServiceAccount::new(&config, client, |_| Ok("secret".into()));
        let account = account.unwrap().unwrap();
        let made = Instant::now().checked_sub(age).unwrap();
        account.shared.hold(Held {
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
            renew_from: made + life.mul_f64(RENEW_FROM),
            good_until: made + life.saturating_sub(LAST_SECONDS),
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
            // the renewal, where there is one, has the turn until it has failed
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
