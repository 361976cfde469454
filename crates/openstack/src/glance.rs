//! What Portico reads of Glance's API (`image`), version 2: the images.
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{Call, Candidate, Error, Listing, PAGE_SIZE, RestClient, ScopedToken, Service};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A client of Glance; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

open_enum! {
    /// The state of an image.
    pub enum ImageStatus {
        Active = "active",
        Queued = "queued",
        Saving = "saving",
        Uploading = "uploading",
        Importing = "importing",
        Deactivated = "deactivated",
        Killed = "killed",
        PendingDelete = "pending_delete",
        Deleted = "deleted",
    }
}

open_enum! {
    /// Who may use an image.
    pub enum ImageVisibility {
        Public = "public",
        Community = "community",
        Shared = "shared",
        Private = "private",
    }
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Image {
    pub id: String,
    /// Not unique.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub status: ImageStatus,
    #[serde(default)]
    pub visibility: Option<ImageVisibility>,
    /// The project that owns it.
    #[serde(default)]
    pub owner: Option<String>,
    /// In bytes.
    #[serde(default)]
    pub size: Option<u64>,
    /// The least disk of a server, in GiB.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub min_disk: u64,
    /// The least memory of a server, in MiB.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub min_ram: u64,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    /// Its other fields, the cloud's own properties included.
    #[serde(flatten)]
    fields: BTreeMap<String, Value>,
}

impl Image {
    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.id.clone(),
            name: self.name.clone(),
            status: Some(self.status.to_string()),
            created_at: self.created_at,
        }
    }

    /// Returns a property that is a text, for example `os_distro`.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// Returns the operating system, by which Magnum chooses the driver.
    pub fn os_distro(&self) -> Option<&str> {
        self.property("os_distro")
    }

    /// Returns the version of Kubernetes in the image, which decides the version of clusters with
    /// magnum-capi-helm.
    pub fn kube_version(&self) -> Option<&str> {
        self.property("kube_version")
    }
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns the images that the project may use, without hidden ones.
    ///
    /// # Errors
    /// If Glance cannot be asked or refuses.
    pub async fn images(&self, token: &ScopedToken) -> Result<Listing<Image>, Error> {
        // Glance's own page has 25
        let call = Call::get("images", "images").with_query("limit", PAGE_SIZE);
        let id = |image: &Image| image.id.clone();
        self.rest
            .entries(Service::Glance, token, call, "images", id)
            .await
    }
}

#[cfg(test)]
mod tests;
