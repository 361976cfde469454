//! One sign-in, by the task that holds the lock.
use super::metrics::{self, Reason};
use super::{
    Account, Credentials, CurrentToken, EXPIRY_MARGIN, Failure, OUTAGE_RETRY_DELAY,
    REFUSAL_RETRY_DELAY, RENEW_AFTER, ServiceAccountError, Shared,
};
use crate::keystone::login::{ApplicationCredential, Login};
use crate::keystone::token::IssuedToken;
use crate::keystone::{Client, Error, wire};
use portico_domain::identity::Named;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// Returns the token that another task requested while this one waited for the lock, or a new one.
pub(super) async fn unless_newer(
    shared: Arc<Shared>,
    mut turn: OwnedMutexGuard<Option<Failure>>,
    than: u64,
    reason: Reason,
) -> Result<CurrentToken, ServiceAccountError> {
    if let Some(current) = shared.current().filter(|current| current.number > than) {
        return Ok(current);
    }
    if let Some(failure) = turn.as_ref().filter(|one| Instant::now() < one.until) {
        return Err(failure.error.clone());
    }
    let outcome = sign_in(&shared, than, reason).await;
    metrics::record(reason, &outcome);
    *turn = match &outcome {
        Ok(current) => {
            shared.store(current.clone());
            None
        }
        Err(error) => {
            let pause = match error {
                ServiceAccountError::SignIn(error) if !error.is_refusal() => OUTAGE_RETRY_DELAY,
                _ => REFUSAL_RETRY_DELAY,
            };
            tracing::error!(%error, "the service account has no token; tried again in {pause:?}");
            Some(Failure {
                error: error.clone(),
                until: Instant::now() + pause,
            })
        }
    };
    outcome
}

async fn sign_in(
    shared: &Shared,
    than: u64,
    reason: Reason,
) -> Result<CurrentToken, ServiceAccountError> {
    let path = shared.credentials.secret_file().to_owned();
    let secret = (shared.read_secret)(&path).map_err(ServiceAccountError::Secret)?;
    // the token is as old as the request
    let made = Instant::now();
    let (issued, roles) = shared
        .client
        .sign_in_account(&shared.credentials, secret)
        .await
        .map_err(ServiceAccountError::SignIn)?;
    let details = issued.details;
    // Keystone's clock on both sides: the local one may differ
    let life = details.expires_at.duration_since(details.issued_at);
    let life = Duration::try_from(life).unwrap_or_default();
    Ok(CurrentToken {
        token: issued.token,
        account: Account {
            user: Named {
                id: details.identity.user.id,
                name: details.identity.user.name,
            },
            roles,
        },
        number: than + 1,
        made,
        renew_from: made + life.mul_f64(RENEW_AFTER),
        good_until: made + life.saturating_sub(EXPIRY_MARGIN),
        after_refusal: reason == Reason::Refused,
    })
}

impl Client {
    /// Returns a token of the account, with its roles in any scope.
    async fn sign_in_account(
        &self,
        credentials: &Credentials,
        secret: SecretString,
    ) -> Result<(IssuedToken, Vec<Named>), Error> {
        let body = match credentials {
            Credentials::ApplicationCredential { id, .. } => {
                let id = id.clone();
                wire::application_credential(&ApplicationCredential::Id { id, secret })
            }
            Credentials::User { user, scope, .. } => {
                wire::login(&Login::with_password(user.clone(), secret, scope.clone()))
            }
        };
        let call = self.post_tokens("service_account", HeaderMap::new(), body);
        self.run(call, |answer| {
            let roles = answer.roles_in_any_scope();
            let issued = answer.issued(Error::InvalidCredentials)?;
            Ok((issued, roles))
        })
        .await
    }
}
