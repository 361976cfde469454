//! The state of a browser before and beside its identity session: what it chose and where it was
//! going.
//!
//! A browser session grants no access, and nothing in it is single-use or counted: states, codes and
//! one-time passcodes are redeemed in tables of their own, in one statement. So the last of two
//! simultaneous changes may win.
use crate::error::StoreError;
use async_trait::async_trait;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

pub(crate) const TABLE: &str = "browser_sessions";
pub(crate) const PURPOSE: &str = "browser session";
/// Maximum size of the data of one browser session, in bytes.
pub const MAX_DATA_BYTES: usize = 4 * 1024;

/// The browser sessions; see [`crate::Store::browser_sessions`]. Each is found by its ID, a random
/// secret that its browser holds in a cookie.
#[async_trait]
pub trait BrowserSessions: Send + Sync {
    /// Stores a new browser session, unless there are `max_sessions` already.
    ///
    /// # Errors
    /// [`StoreError::BrowserSessionTooLarge`] for more than [`MAX_DATA_BYTES`]; or if the store
    /// cannot be reached or its answer cannot be read.
    async fn create(
        &self,
        id: &str,
        new: &BrowserSession,
        max_sessions: u32,
        now: Timestamp,
    ) -> Result<BrowserSessionCreation, StoreError>;

    /// Replaces data and expiry of a browser session; returns whether it exists. One that was
    /// deleted or has expired is not stored again.
    ///
    /// # Errors
    /// As [`BrowserSessions::create`].
    async fn save(
        &self,
        id: &str,
        changed: &BrowserSession,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the browser session of an ID, unless it has expired.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(&self, id: &str, now: Timestamp) -> Result<Option<BrowserSession>, StoreError>;

    /// Deletes a browser session; returns whether it existed.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn delete(&self, id: &str) -> Result<bool, StoreError>;
}

/// The stored part of a browser session.
#[derive(Clone, Debug)]
pub struct BrowserSession {
    /// Text of the caller's format, which is stored sealed.
    pub data: SecretString,
    pub expires_at: Timestamp,
}

/// The outcome of [`BrowserSessions::create`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserSessionCreation {
    Created,
    /// The ID belongs to another browser session: choose another.
    IdTaken,
    /// There are as many browser sessions as there may be.
    Full,
}

impl BrowserSession {
    /// Verifies the size of the data.
    pub(crate) fn check_size(&self) -> Result<(), StoreError> {
        let bytes = self.data.expose_secret().len();
        if bytes > MAX_DATA_BYTES {
            return Err(StoreError::BrowserSessionTooLarge {
                bytes,
                max: MAX_DATA_BYTES,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_beyond_the_limit_is_refused() {
        let of = |bytes: usize| BrowserSession {
            data: SecretString::from("x".repeat(bytes)),
            expires_at: Timestamp::UNIX_EPOCH,
        };
        assert!(of(MAX_DATA_BYTES).check_size().is_ok());
        let error = of(MAX_DATA_BYTES + 1).check_size().unwrap_err();
        assert!(error.to_string().contains("4097 bytes"), "{error}");
    }
}
