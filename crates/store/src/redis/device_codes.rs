//! Device codes of the command line.
use super::binding::{self, FIELD};
use super::entry::{Entry, Fields, Found, or_empty};
use super::scripts::DEVICES;
use super::{Redis, RedisStore};
use crate::device_codes::{
    DeviceCodes, DevicePoll, DeviceRequest, NewDeviceCode, POLL_INTERVAL_SECONDS, StartedDevice,
    TABLE, hashes_of_device_code, hashes_of_user_code,
};
use crate::error::StoreError;
use crate::sealing::KeyRing;
use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;

#[async_trait]
impl DeviceCodes for RedisStore {
    async fn start(
        &self,
        new: &NewDeviceCode,
        now: Timestamp,
    ) -> Result<StartedDevice, StoreError> {
        let started = StartedDevice::new(now)?;
        let expires_at = started.expires_at;
        let (device_hash, user_hash) = started.hashes(&self.shared.keys);
        let fields = Fields::default()
            .with("user_code_hash", &user_hash)
            .with("client", &new.client)
            .with("address", &new.address)
            .optional("project", new.project.as_ref())
            .optional("cluster", new.cluster.as_ref())
            .with("status", "pending")
            .with("poll_interval", POLL_INTERVAL_SECONDS)
            .time("created_at", now)
            .time("expires_at", expires_at);
        let mut call = self.redis.call(&DEVICES, "start");
        call.arg(&device_hash)
            .arg(&user_hash)
            .arg(expires_at.as_second());
        fields.append_to(&mut call);
        let stored: bool = self.redis.script("start a device request", &call).await?;
        if stored {
            return Ok(started);
        }
        // a collision, one in 25 thousand million; the client asks again
        Err(StoreError::Corrupt {
            table: TABLE,
            column: "user_code_hash",
            reason: "the code is in use".to_owned(),
        })
    }

    async fn find(
        &self,
        user_code: &str,
        now: Timestamp,
    ) -> Result<Option<DeviceRequest>, StoreError> {
        for hash in hashes_of_user_code(&self.shared.keys, user_code) {
            if let Some((_, entry)) = self.redis.undecided(&hash, now).await? {
                return request(&entry).map(Some);
            }
        }
        Ok(None)
    }

    async fn decide(
        &self,
        user_code: &str,
        approver: Option<Uuid>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let keys = &self.shared.keys;
        for hash in hashes_of_user_code(keys, user_code) {
            if self.redis.decide_device(keys, &hash, approver, now).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn poll(&self, device_code: &str, now: Timestamp) -> Result<DevicePoll, StoreError> {
        let keys = &self.shared.keys;
        for hash in hashes_of_device_code(keys, device_code) {
            let polled = self.redis.poll_device(keys, &hash, now).await?;
            if !matches!(polled, DevicePoll::Expired) {
                return Ok(polled);
            }
        }
        Ok(DevicePoll::Expired)
    }
}

impl Redis {
    /// Decides a request; returns whether it was still pending.
    async fn decide_device(
        &self,
        keys: &KeyRing,
        user_hash: &str,
        approver: Option<Uuid>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some((device_hash, _)) = self.undecided(user_hash, now).await? else {
            return Ok(false);
        };
        let status = match approver {
            Some(_) => "approved",
            None => "denied",
        };
        let session = or_empty(approver);
        let bound = binding::of(keys, TABLE, &[&device_hash, status, &session]);
        let fields = Fields::default()
            .with("status", status)
            .optional("session_id", approver)
            .with(FIELD, bound);
        let mut call = self.call(&DEVICES, "decide");
        call.arg(&device_hash).arg(now.as_second()).arg(&session);
        fields.append_to(&mut call);
        self.script("decide a device request", &call).await
    }

    /// Answers the client's poll.
    async fn poll_device(
        &self,
        keys: &KeyRing,
        device_hash: &str,
        now: Timestamp,
    ) -> Result<DevicePoll, StoreError> {
        let mut call = self.call(&DEVICES, "poll");
        call.arg(device_hash)
            .arg(now.as_second())
            .arg(POLL_INTERVAL_SECONDS);
        let (word, found): (String, Found) = self.script("poll a device request", &call).await?;
        let Some(entry) = Entry::of(TABLE, found) else {
            return Ok(match word.as_str() {
                "pending" => DevicePoll::Pending,
                "slow_down" => DevicePoll::SlowDown,
                _ => DevicePoll::Expired,
            });
        };
        if now >= entry.time("expires_at")? {
            return Ok(DevicePoll::Expired);
        }
        let session: Option<Uuid> = entry.optional("session_id")?;
        let (status, of) = (entry.text("status")?, or_empty(session));
        binding::check_entry(keys, TABLE, &[device_hash, status, &of], &entry)?;
        Ok(match session {
            Some(session) => DevicePoll::Approved {
                session,
                request: request(&entry)?,
            },
            None => DevicePoll::Denied,
        })
    }

    async fn undecided(
        &self,
        user_hash: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Entry)>, StoreError> {
        let mut call = self.call(&DEVICES, "find");
        call.arg(user_hash).arg(now.as_second());
        let found: Option<(String, Found)> = self.script("find a device request", &call).await?;
        Ok(found.and_then(|(hash, fields)| Some((hash, Entry::of(TABLE, fields)?))))
    }
}

fn request(entry: &Entry) -> Result<DeviceRequest, StoreError> {
    Ok(DeviceRequest {
        client: entry.owned("client")?,
        address: entry.owned("address")?,
        project: entry.optional_owned("project"),
        cluster: entry.optional_owned("cluster"),
        created_at: entry.time("created_at")?,
        expires_at: entry.time("expires_at")?,
    })
}
