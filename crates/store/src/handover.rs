//! One-time codes that carry a session from the sign-in host to an app's host.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use uuid::Uuid;

pub(crate) const CODE_TTL: SignedDuration = SignedDuration::from_secs(30);
pub(crate) const CODE: &str = "handover code";
pub(crate) const NONCE: &str = "handover nonce";

/// The hand-over codes; see [`crate::Store::handovers`].
#[async_trait]
pub trait Handovers: Send + Sync {
    /// Issues a code that is valid once, for 30 seconds.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn create(&self, new: &NewHandover, now: Timestamp) -> Result<SecretString, StoreError>;

    /// Redeems a code on the host, for the browser that holds the nonce. The code is deleted in any
    /// case.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn redeem(
        &self,
        code: &str,
        host: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Option<Handover>, StoreError>;
}

/// The values that a code is bound to.
#[derive(Clone, Debug)]
pub struct NewHandover {
    /// The browser session that becomes the child's parent.
    pub session: Uuid,
    /// The app's host.
    pub host: String,
    /// The nonce that the app's host has set as a cookie.
    pub nonce: SecretString,
    /// The path on the app's host to continue at.
    pub return_path: String,
}

/// A redeemed code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub session: Uuid,
    pub return_path: String,
}
