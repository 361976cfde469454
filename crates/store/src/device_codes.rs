//! Device codes of the command line (RFC 8628).
use crate::error::StoreError;
use crate::random::{random_bytes, random_secret};
use crate::row::Columns;
use crate::store::Store;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use uuid::Uuid;

const TABLE: &str = "device_codes";
const DEVICE_CODE: &str = "device code";
const USER_CODE: &str = "user code";
const CODE_TTL: SignedDuration = SignedDuration::from_mins(5);
pub(crate) const POLL_INTERVAL_SECONDS: i64 = 5;
/// No vowels and no characters that can be confused (RFC 8628, section 6.1).
const USER_CODE_LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_LENGTH: usize = 8;

/// The device codes; see [`Store::device_codes`].
#[derive(Clone, Copy)]
pub struct DeviceCodes<'s>(pub(crate) &'s Store);

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

impl DeviceCodes<'_> {
    /// Starts a request.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn start(
        self,
        new: &NewDeviceCode,
        now: Timestamp,
    ) -> Result<StartedDevice, StoreError> {
        let device_code = random_secret()?;
        let user_code = random_user_code()?;
        let expires_at = now + CODE_TTL;
        if let Some(redis) = self.0.redis() {
            let hashes = (
                self.0.keys.hash(DEVICE_CODE, device_code.expose_secret()),
                self.0
                    .keys
                    .hash(USER_CODE, &letters_of(user_code.expose_secret())),
            );
            redis
                .start_device(new, (&hashes.0, &hashes.1), (now, expires_at))
                .await?;
            return Ok(StartedDevice {
                device_code,
                user_code,
                expires_at,
                interval: POLL_INTERVAL_SECONDS,
            });
        }
        sqlx::query(
            "INSERT INTO device_codes (
                 device_code_hash, user_code_hash, client, address, project, cluster, status,
                 poll_interval, created_at, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)",
        )
        .bind(self.0.keys.hash(DEVICE_CODE, device_code.expose_secret()))
        .bind(
            self.0
                .keys
                .hash(USER_CODE, &letters_of(user_code.expose_secret())),
        )
        .bind(new.client.as_str())
        .bind(new.address.as_str())
        .bind(new.project.as_deref())
        .bind(new.cluster.as_deref())
        .bind(POLL_INTERVAL_SECONDS)
        .bind(now.as_second())
        .bind(expires_at.as_second())
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("start a device request"))?;
        Ok(StartedDevice {
            device_code,
            user_code,
            expires_at,
            interval: POLL_INTERVAL_SECONDS,
        })
    }

    /// Returns the pending request of a user code, however the code was typed.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn find(
        self,
        user_code: &str,
        now: Timestamp,
    ) -> Result<Option<DeviceRequest>, StoreError> {
        for hash in self.hashes_of_user_code(user_code) {
            if let Some(redis) = self.0.redis() {
                match redis.find_device(&hash, now).await? {
                    Some(found) => return Ok(Some(found)),
                    None => continue,
                }
            }
            let row = sqlx::query(
                "SELECT client, address, project, cluster, created_at, expires_at
                 FROM device_codes
                 WHERE user_code_hash = $1 AND status = 'pending' AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.0.pool)
            .await
            .map_err(StoreError::database("find a device request"))?;
            if let Some(row) = row {
                return request(&row).map(Some);
            }
        }
        Ok(None)
    }

    /// Decides a request: approves it with the given session, or denies it with `None`. Returns
    /// whether the request was still pending.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn decide(
        self,
        user_code: &str,
        approver: Option<Uuid>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let status = if approver.is_some() {
            "approved"
        } else {
            "denied"
        };
        for hash in self.hashes_of_user_code(user_code) {
            if let Some(redis) = self.0.redis() {
                let decided = redis.decide_device(&self.0.keys, &hash, approver, now);
                if decided.await? {
                    return Ok(true);
                }
                continue;
            }
            let decided = sqlx::query(
                "UPDATE device_codes
                 SET status = $1, session_id = $2
                 WHERE user_code_hash = $3 AND status = 'pending' AND expires_at > $4",
            )
            .bind(status)
            .bind(approver.map(|session| session.to_string()))
            .bind(hash)
            .bind(now.as_second())
            .execute(&self.0.pool)
            .await
            .map_err(StoreError::database("decide a device request"))?;
            if decided.rows_affected() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Answers the client's poll.
    ///
    /// # Errors
    /// If the store cannot be reached or its answer cannot be read.
    pub async fn poll(self, device_code: &str, now: Timestamp) -> Result<DevicePoll, StoreError> {
        for hash in self.0.keys.hashes(DEVICE_CODE, device_code) {
            let polled = self.poll_hash(&hash, now).await?;
            if !matches!(polled, DevicePoll::Expired) {
                return Ok(polled);
            }
        }
        Ok(DevicePoll::Expired)
    }

    async fn poll_hash(self, hash: &str, now: Timestamp) -> Result<DevicePoll, StoreError> {
        if let Some(redis) = self.0.redis() {
            return redis.poll_device(&self.0.keys, hash, now).await;
        }
        if let Some(row) = self.take_decided(hash).await? {
            let columns = Columns::new(TABLE, &row);
            if now >= columns.time("expires_at")? {
                return Ok(DevicePoll::Expired);
            }
            return Ok(match columns.optional_uuid("session_id")? {
                Some(session) => DevicePoll::Approved {
                    session,
                    request: request(&row)?,
                },
                None => DevicePoll::Denied,
            });
        }
        let row = sqlx::query(
            "SELECT poll_interval, last_polled_at
             FROM device_codes
             WHERE device_code_hash = $1 AND expires_at > $2",
        )
        .bind(hash)
        .bind(now.as_second())
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("poll a device request"))?;
        let Some(row) = row else {
            return Ok(DevicePoll::Expired);
        };
        let columns = Columns::new(TABLE, &row);
        let interval = columns.integer("poll_interval")?;
        let hurried = columns
            .optional_time("last_polled_at")?
            .is_some_and(|last| now.as_second() - last.as_second() < interval);
        sqlx::query(
            "UPDATE device_codes
             SET last_polled_at = $1, poll_interval = $2
             WHERE device_code_hash = $3",
        )
        .bind(now.as_second())
        .bind(if hurried {
            interval + POLL_INTERVAL_SECONDS
        } else {
            interval
        })
        .bind(hash)
        .execute(&self.0.pool)
        .await
        .map_err(StoreError::database("poll a device request"))?;
        Ok(if hurried {
            DevicePoll::SlowDown
        } else {
            DevicePoll::Pending
        })
    }

    async fn take_decided(self, hash: &str) -> Result<Option<AnyRow>, StoreError> {
        sqlx::query(
            "DELETE FROM device_codes
             WHERE device_code_hash = $1 AND status <> 'pending'
             RETURNING client, address, project, cluster, session_id, created_at, expires_at",
        )
        .bind(hash)
        .fetch_optional(&self.0.pool)
        .await
        .map_err(StoreError::database("poll a device request"))
    }

    fn hashes_of_user_code(self, typed: &str) -> impl Iterator<Item = String> + use<> {
        self.0.keys.hashes(USER_CODE, &letters_of(typed))
    }
}

/// Returns a user code without the separators that users type.
fn letters_of(typed: &str) -> String {
    typed
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_uppercase())
        .collect()
}

fn request(row: &AnyRow) -> Result<DeviceRequest, StoreError> {
    let columns = Columns::new(TABLE, row);
    Ok(DeviceRequest {
        client: columns.text("client")?,
        address: columns.text("address")?,
        project: columns.optional_text("project")?,
        cluster: columns.optional_text("cluster")?,
        created_at: columns.time("created_at")?,
        expires_at: columns.time("expires_at")?,
    })
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
