//! Device codes of the command line.
use super::SqlStore;
use crate::device_codes::{
    DeviceCodes, DevicePoll, DeviceRequest, NewDeviceCode, POLL_INTERVAL_SECONDS, StartedDevice,
    TABLE, hashes_of_device_code, hashes_of_user_code,
};
use crate::error::StoreError;
use crate::row::Columns;
use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use uuid::Uuid;

#[async_trait]
impl DeviceCodes for SqlStore {
    async fn start(
        &self,
        new: &NewDeviceCode,
        now: Timestamp,
    ) -> Result<StartedDevice, StoreError> {
        let started = StartedDevice::new(now)?;
        let (device_hash, user_hash) = started.hashes(&self.shared.keys);
        sqlx::query(
            "INSERT INTO device_codes (
                 device_code_hash, user_code_hash, client, address, project, cluster, status,
                 poll_interval, created_at, expires_at
             )
             VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)",
        )
        .bind(device_hash)
        .bind(user_hash)
        .bind(new.client.as_str())
        .bind(new.address.as_str())
        .bind(new.project.as_deref())
        .bind(new.cluster.as_deref())
        .bind(POLL_INTERVAL_SECONDS)
        .bind(now.as_second())
        .bind(started.expires_at.as_second())
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("start a device request"))?;
        Ok(started)
    }

    async fn find(
        &self,
        user_code: &str,
        now: Timestamp,
    ) -> Result<Option<DeviceRequest>, StoreError> {
        for hash in hashes_of_user_code(&self.shared.keys, user_code) {
            let row = sqlx::query(
                "SELECT client, address, project, cluster, created_at, expires_at
                 FROM device_codes
                 WHERE user_code_hash = $1 AND status = 'pending' AND expires_at > $2",
            )
            .bind(hash)
            .bind(now.as_second())
            .fetch_optional(&self.pool)
            .await
            .map_err(StoreError::database("find a device request"))?;
            if let Some(row) = row {
                return request(&row).map(Some);
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
        let status = if approver.is_some() {
            "approved"
        } else {
            "denied"
        };
        for hash in hashes_of_user_code(&self.shared.keys, user_code) {
            let decided = sqlx::query(
                "UPDATE device_codes
                 SET status = $1, session_id = $2
                 WHERE user_code_hash = $3 AND status = 'pending' AND expires_at > $4",
            )
            .bind(status)
            .bind(approver.map(|session| session.to_string()))
            .bind(hash)
            .bind(now.as_second())
            .execute(&self.pool)
            .await
            .map_err(StoreError::database("decide a device request"))?;
            if decided.rows_affected() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn poll(&self, device_code: &str, now: Timestamp) -> Result<DevicePoll, StoreError> {
        for hash in hashes_of_device_code(&self.shared.keys, device_code) {
            let polled = self.poll_hash(&hash, now).await?;
            if !matches!(polled, DevicePoll::Expired) {
                return Ok(polled);
            }
        }
        Ok(DevicePoll::Expired)
    }
}

impl SqlStore {
    async fn poll_hash(&self, hash: &str, now: Timestamp) -> Result<DevicePoll, StoreError> {
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
        .fetch_optional(&self.pool)
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
        .execute(&self.pool)
        .await
        .map_err(StoreError::database("poll a device request"))?;
        Ok(if hurried {
            DevicePoll::SlowDown
        } else {
            DevicePoll::Pending
        })
    }

    async fn take_decided(&self, hash: &str) -> Result<Option<AnyRow>, StoreError> {
        sqlx::query(
            "DELETE FROM device_codes
             WHERE device_code_hash = $1 AND status <> 'pending'
             RETURNING client, address, project, cluster, session_id, created_at, expires_at",
        )
        .bind(hash)
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::database("poll a device request"))
    }
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
