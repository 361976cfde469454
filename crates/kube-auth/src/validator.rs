//! Validation of tokens at Keystone, as the token itself or as an account of Portico's own.
use portico_openstack::keystone::{
    Client, Error, ServiceAccount, ServiceAccountError, TokenDetails,
};
use secrecy::SecretString;

/// Validates tokens at Keystone.
#[derive(Clone)]
pub struct Validator {
    client: Client,
    account: Option<ServiceAccount>,
}

impl From<Client> for Validator {
    /// Makes a validator in which each token validates itself, without a credential of Portico's.
    fn from(client: Client) -> Self {
        Self {
            client,
            account: None,
        }
    }
}

impl Validator {
    /// Makes a validator in which the account validates every token; it needs the role `service`.
    pub fn with_account(client: Client, account: ServiceAccount) -> Self {
        Self {
            client,
            account: Some(account),
        }
    }

    /// Returns the token's details.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] if Keystone does not accept it; a fault of the account never results
    /// in this error.
    pub(crate) async fn validate(&self, token: &SecretString) -> Result<TokenDetails, Error> {
        let Some(account) = &self.account else {
            return self.client.validate(token).await;
        };
        let asked =
            account.call(|client, own| async move { client.validate_as(&own, token).await });
        match asked.await {
            Ok(Some(details)) => Ok(details),
            Ok(None) => Err(Error::InvalidToken),
            Err(error) => {
                tracing::error!(%error, "the service account cannot validate tokens");
                Err(unable(error))
            }
        }
    }

    /// Returns the client for calls that need no account.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

/// Maps any fault of the account to an outage.
fn unable(error: ServiceAccountError) -> Error {
    match error {
        ServiceAccountError::Call(error) | ServiceAccountError::SignIn(error)
            if !error.is_refusal() =>
        {
            error
        }
        _ => Error::Forbidden,
    }
}
