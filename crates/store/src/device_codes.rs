//! Device codes of the command line (RFC 8628).
use crate::error::StoreError;
use crate::random::{random_bytes, random_secret};
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use uuid::Uuid;

pub(crate) const TABLE: &str = "device_codes";
const DEVICE_CODE: &str = "device code";
const USER_CODE: &str = "user code";
const CODE_TTL: SignedDuration = SignedDuration::from_mins(5);
pub(crate) const POLL_INTERVAL_SECONDS: i64 = 5;
/// No vowels and no characters that can be confused (RFC 8628, section 6.1).
const USER_CODE_LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH: usize = 8;

/// The device codes; see [`crate::Store::device_codes`].
#[async_trait]
pub trait DeviceCodes: Send + Sync {
    /// Starts a request.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn start(&self, new: &NewDeviceCode, now: Timestamp)
    -> Result<StartedDevice, StoreError>;

    /// Returns the pending request of a user code, however the code was typed.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn find(
        &self,
        user_code: &str,
        now: Timestamp,
    ) -> Result<Option<DeviceRequest>, StoreError>;

    /// Decides a request: approves it with the given session, or denies it with `None`. Returns
    /// whether the request was still pending.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn decide(
        &self,
        user_code: &str,
        approver: Option<Uuid>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Answers the client's poll.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    async fn poll(&self, device_code: &str, now: Timestamp) -> Result<DevicePoll, StoreError>;
}

/// The client that starts a request.
#[derive(Clone, Debug, Default)]
pub struct NewDeviceCode {
    /// The client's name, as it is shown to the user who approves.
    pub client: String,
    /// The client's address, as it is shown to the user who approves.
    pub address: String,
    pub project: Option<String>,
    pub cluster: Option<String>,
}

/// The response to the client.
#[derive(Clone, Debug)]
pub struct StartedDevice {
    pub device_code: SecretString,
    /// What the user types, such as `BCDF-GHJK`.
    pub user_code: SecretString,
    pub expires_at: Timestamp,
    /// Minimum number of seconds between two polls.
    pub interval: i64,
}

/// What is shown to the user who approves the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    pub client: String,
    pub address: String,
    pub project: Option<String>,
    pub cluster: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The answer to a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DevicePoll {
    /// The user has not decided yet.
    Pending,
    /// The user has not decided yet, and the client polls too often: the interval grows by five
    /// seconds.
    SlowDown,
    /// The user denied the request.
    Denied,
    /// The code is unknown, used or expired.
    Expired,
    /// The user approved the request in this session. The code is deleted now.
    Approved {
        session: Uuid,
        request: DeviceRequest,
    },
}

impl StartedDevice {
    /// Returns random codes that are not stored yet.
    pub(crate) fn new(now: Timestamp) -> Result<Self, StoreError> {
        Ok(Self {
            device_code: random_secret()?,
            user_code: random_user_code()?,
            expires_at: now + CODE_TTL,
            interval: POLL_INTERVAL_SECONDS,
        })
    }

    /// Returns the hashes under which the device code and the user code are stored.
    pub(crate) fn hashes(&self, keys: &KeyRing) -> (String, String) {
        let user_code = letters_of(self.user_code.expose_secret());
        (
            keys.hash(DEVICE_CODE, self.device_code.expose_secret()),
            keys.hash(USER_CODE, &user_code),
        )
    }
}

/// Returns the hashes under which a device code may be stored.
pub(crate) fn hashes_of_device_code(
    keys: &KeyRing,
    device_code: &str,
) -> impl Iterator<Item = String> + use<> {
    keys.hashes(DEVICE_CODE, device_code)
}

/// Returns the hashes under which a user code may be stored, however it was typed.
pub(crate) fn hashes_of_user_code(
    keys: &KeyRing,
    typed: &str,
) -> impl Iterator<Item = String> + use<> {
    keys.hashes(USER_CODE, &letters_of(typed))
}

/// Returns a user code without the separators that users type.
fn letters_of(typed: &str) -> String {
    typed
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_uppercase())
        .collect()
}

fn random_user_code() -> Result<SecretString, StoreError> {
    let mut code = String::with_capacity(USER_CODE_LENGTH + 1);
    while code.len() < USER_CODE_LENGTH {
        let [byte] = random_bytes::<1>()?;
        // 240 is the last multiple of 20: every letter is as likely as any other
        if byte < 240 {
            code.push(char::from(USER_CODE_LETTERS[usize::from(byte % 20)]));
        }
    }
    code.insert(USER_CODE_LENGTH / 2, '-');
    Ok(SecretString::from(code))
}
