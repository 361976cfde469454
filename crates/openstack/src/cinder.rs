//! What Portico reads of Cinder's API (`block-storage`), version 3: limits, volumes, snapshots,
//! types and availability zones.
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{
    AvailabilityZone, Call, Error, Listing, PAGE_SIZE, QuotaUsage, RestClient, ScopedToken, Service,
};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A client of Cinder; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

/// What a project uses of Cinder, and may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeLimits {
    pub volumes: QuotaUsage,
    /// Volumes and, on most clouds, snapshots, in GiB.
    pub gigabytes: QuotaUsage,
    pub snapshots: QuotaUsage,
}

open_enum! {
    /// The state of a volume or snapshot.
    pub enum VolumeStatus {
        Available = "available",
        InUse = "in-use",
        Creating = "creating",
        Attaching = "attaching",
        Detaching = "detaching",
        Deleting = "deleting",
        Error = "error",
        ErrorDeleting = "error_deleting",
        Extending = "extending",
        Reserved = "reserved",
    }
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Volume {
    pub id: String,
    /// Often empty, or derived from the claim in Kubernetes (`pvc-<uid>`).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
    /// In GiB.
    pub size: u64,
    pub status: VolumeStatus,
    #[serde(default)]
    pub volume_type: Option<String>,
    #[serde(default)]
    pub availability_zone: Option<String>,
    /// The CSI driver writes the cluster's name here (`cinder.csi.openstack.org/cluster`).
    #[serde(default, deserialize_with = "lenient::texts")]
    pub metadata: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub attachments: Vec<Attachment>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
}

/// Where a volume is attached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Attachment {
    #[serde(default)]
    pub server_id: Option<String>,
    /// For example `/dev/vdb`.
    #[serde(default)]
    pub device: Option<String>,
}

/// A snapshot of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Snapshot {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub volume_id: String,
    /// In GiB.
    pub size: u64,
    pub status: VolumeStatus,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub metadata: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
}

/// A type of volumes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VolumeType {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns what the token's project uses, and may use.
    ///
    /// # Errors
    /// If Cinder cannot be asked or refuses.
    pub async fn limits(&self, token: &ScopedToken) -> Result<VolumeLimits, Error> {
        let limits: AbsoluteLimits = self.rest.limits(Service::Cinder, token).await?;
        Ok(limits.into())
    }

    /// Returns the project's volumes.
    ///
    /// # Errors
    /// If Cinder cannot be asked or refuses.
    pub async fn volumes(&self, token: &ScopedToken) -> Result<Listing<Volume>, Error> {
        let call = Call::get("volumes", "volumes/detail").with_query("limit", PAGE_SIZE);
        let id = |volume: &Volume| volume.id.clone();
        self.rest
            .entries(Service::Cinder, token, call, "volumes", id)
            .await
    }

    /// Returns the project's snapshots.
    ///
    /// # Errors
    /// If Cinder cannot be asked or refuses.
    pub async fn snapshots(&self, token: &ScopedToken) -> Result<Listing<Snapshot>, Error> {
        let call = Call::get("snapshots", "snapshots/detail").with_query("limit", PAGE_SIZE);
        let id = |snapshot: &Snapshot| snapshot.id.clone();
        self.rest
            .entries(Service::Cinder, token, call, "snapshots", id)
            .await
    }

    /// Returns the types of volumes that the project may use.
    ///
    /// # Errors
    /// If Cinder cannot be asked or refuses.
    pub async fn volume_types(&self, token: &ScopedToken) -> Result<Listing<VolumeType>, Error> {
        let call = Call::get("volume_types", "types");
        let id = |volume_type: &VolumeType| volume_type.id.clone();
        self.rest
            .entries(Service::Cinder, token, call, "volume_types", id)
            .await
    }

    /// Returns the zones in which volumes can be.
    ///
    /// # Errors
    /// If Cinder cannot be asked or refuses.
    pub async fn availability_zones(
        &self,
        token: &ScopedToken,
    ) -> Result<Vec<AvailabilityZone>, Error> {
        self.rest.availability_zones(Service::Cinder, token).await
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AbsoluteLimits {
    max_total_volumes: i64,
    total_volumes_used: i64,
    max_total_volume_gigabytes: i64,
    total_gigabytes_used: i64,
    max_total_snapshots: i64,
    total_snapshots_used: i64,
}

impl From<AbsoluteLimits> for VolumeLimits {
    fn from(limits: AbsoluteLimits) -> Self {
        let gigabytes = limits.max_total_volume_gigabytes;
        Self {
            volumes: QuotaUsage::of(limits.total_volumes_used, limits.max_total_volumes),
            gigabytes: QuotaUsage::of(limits.total_gigabytes_used, gigabytes),
            snapshots: QuotaUsage::of(limits.total_snapshots_used, limits.max_total_snapshots),
        }
    }
}

#[cfg(test)]
mod tests;
