//! Whom Keystone is asked as: the token itself, or an account of Portico's own.
use portico_openstack::keystone::{
    Client, Error, ServiceAccount, ServiceAccountError, TokenDetails,
};
use secrecy::SecretString;

/// Asks Keystone about tokens.
#[derive(Clone)]
pub struct Validator {
    client: Client,
    account: Option<ServiceAccount>,
}

impl From<Client> for Validator {
    /// Each token asks about itself, which needs no credential of ours.
    fn from(client: Client) -> Self {
        Self {
            client,
            account: None,
        }
    }
}

impl Validator {
    /// The account asks about every token; it needs the role `service`.
    pub fn with_account(client: Client, account: ServiceAccount) -> Self {
        Self {
            client,
            account: Some(account),
        }
    }

    /// What the token is.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] when Keystone does not accept it; nothing that is wrong with the
    /// account is ever taken for that.
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
                tracing::error!(%error, "the service account cannot ask about tokens");
                Err(unable(error))
            }
        }
    }

    /// The client for what no account is needed for.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }
}

/// "Cannot say", whatever it was.
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
