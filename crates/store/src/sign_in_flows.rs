//! Sign-ins in progress: where to go afterwards, and Keystone's receipt between password and TOTP.
use crate::error::StoreError;
use crate::random::random_secret;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const TABLE: &str = "sign_in_flows";
pub(crate) const PURPOSE: &str = "sign-in flow";

/// The sign-in flows; see [`crate::Store::sign_in_flows`].
#[async_trait]
pub trait SignInFlows: Send + Sync {
    /// Starts a flow.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn start(
        &self,
        return_path: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Started, StoreError>;

    /// Returns the flow of a pre-session cookie.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(&self, secret: &str, now: Timestamp) -> Result<Option<SignInFlow>, StoreError>;

    /// Stores Keystone's receipt while a further factor is required.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn set_receipt(
        &self,
        id: Uuid,
        user_name: &str,
        domain: &str,
        receipt: &SecretString,
    ) -> Result<(), StoreError>;

    /// Counts a tried code; returns the number of tried codes, or `None` if the flow does not exist
    /// any more.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn count_attempt(&self, id: Uuid) -> Result<Option<i64>, StoreError>;

    /// Ends a flow; returns whether it existed, so that only one request can finish it.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn finish(&self, id: Uuid) -> Result<bool, StoreError>;
}

/// A sign-in in progress.
#[derive(Clone, Debug)]
pub struct SignInFlow {
    pub id: Uuid,
    /// Where to go after the sign-in; the caller that stores it has checked it.
    pub return_path: String,
    /// The user name that was entered, if any.
    pub user_name: Option<String>,
    pub domain: Option<String>,
    /// Keystone's auth receipt, while a further factor is required.
    pub receipt: Option<SecretString>,
    /// The number of codes tried with this receipt.
    pub attempts: i64,
    pub expires_at: Timestamp,
}

/// A new flow, and the secret for the browser's pre-session cookie.
#[derive(Clone, Debug)]
pub struct Started {
    pub secret: SecretString,
    pub flow: SignInFlow,
}

impl Started {
    /// Returns a flow that is not stored yet, with a random secret.
    pub(crate) fn new(return_path: &str, expires_at: Timestamp) -> Result<Self, StoreError> {
        Ok(Self {
            secret: random_secret()?,
            flow: SignInFlow {
                id: Uuid::new_v4(),
                return_path: return_path.to_owned(),
                user_name: None,
                domain: None,
                receipt: None,
                attempts: 0,
                expires_at,
            },
        })
    }
}
