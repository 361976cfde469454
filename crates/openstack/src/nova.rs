//! What Portico uses of Nova's API (`compute`), version 2.1: limits, flavors, key pairs,
//! availability zones and servers.
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{
    Answer, AvailabilityZone, Call, Candidate, Error, Listing, PAGE_SIZE, QuotaUsage, RestClient,
    ScopedToken, Service,
};
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// A client of Nova; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

/// What a project uses of Nova, and may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputeLimits {
    pub instances: QuotaUsage,
    /// Virtual CPUs.
    pub cores: QuotaUsage,
    /// In MiB.
    pub ram: QuotaUsage,
    /// Nova does not report the use of it on every cloud; it is 0 there.
    pub server_groups: QuotaUsage,
}

/// A size of servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Flavor {
    pub id: String,
    pub name: String,
    pub vcpus: u32,
    /// In MiB.
    pub ram: u64,
    /// In GiB; 0: the disk is as large as the image.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub disk: u64,
    #[serde(rename = "os-flavor-access:is_public", default)]
    pub is_public: Option<bool>,
    #[serde(
        rename = "OS-FLV-DISABLED:disabled",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub disabled: bool,
}

impl Flavor {
    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.id.clone(),
            name: self.name.clone(),
            status: None,
            created_at: None,
        }
    }
}

/// A user's key pair for SSH; Nova has the public key only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct KeyPair {
    /// Unique for a user.
    pub name: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub fingerprint: String,
}

open_enum! {
    /// The state of a server.
    pub enum ServerStatus {
        Active = "ACTIVE",
        Build = "BUILD",
        Deleted = "DELETED",
        Error = "ERROR",
        HardReboot = "HARD_REBOOT",
        Migrating = "MIGRATING",
        Password = "PASSWORD",
        Paused = "PAUSED",
        Reboot = "REBOOT",
        Rebuild = "REBUILD",
        Rescue = "RESCUE",
        Resize = "RESIZE",
        RevertResize = "REVERT_RESIZE",
        Shelved = "SHELVED",
        ShelvedOffloaded = "SHELVED_OFFLOADED",
        Shutoff = "SHUTOFF",
        SoftDeleted = "SOFT_DELETED",
        Suspended = "SUSPENDED",
        Unknown = "UNKNOWN",
        VerifyResize = "VERIFY_RESIZE",
    }
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Server {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub status: ServerStatus,
    /// What Nova is doing with it, for example `spawning`.
    #[serde(rename = "OS-EXT-STS:task_state", default)]
    pub task_state: Option<String>,
    /// Why it is in the state `ERROR`.
    #[serde(default)]
    pub fault: Option<ServerFault>,
    /// By the name of the network.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub addresses: BTreeMap<String, Vec<Address>>,
    #[serde(default)]
    pub flavor: Option<FlavorRef>,
    #[serde(rename = "OS-EXT-AZ:availability_zone", default)]
    pub availability_zone: Option<String>,
    #[serde(default, deserialize_with = "lenient::texts")]
    pub metadata: BTreeMap<String, String>,
    #[serde(
        rename = "os-extended-volumes:volumes_attached",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub volumes: Vec<VolumeRef>,
    #[serde(rename = "created", default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(rename = "updated", default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

/// Why a server failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerFault {
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub message: String,
}

/// An address of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Address {
    #[serde(rename = "addr")]
    pub address: String,
    /// `fixed` or `floating`.
    #[serde(rename = "OS-EXT-IPS:type", default)]
    pub kind: Option<String>,
}

/// A server's flavor: its ID, or from version 2.47 of Nova's API on its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FlavorRef {
    #[serde(default)]
    pub id: Option<String>,
    #[serde(rename = "original_name", default)]
    pub name: Option<String>,
}

/// The ID of an attached volume.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VolumeRef {
    pub id: String,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns what the token's project uses, and may use.
    ///
    /// # Errors
    /// If Nova cannot be asked or refuses.
    pub async fn limits(&self, token: &ScopedToken) -> Result<ComputeLimits, Error> {
        let limits: AbsoluteLimits = self.rest.limits(Service::Nova, token).await?;
        Ok(limits.into())
    }

    /// Returns the flavors that the project may use.
    ///
    /// # Errors
    /// If Nova cannot be asked or refuses.
    pub async fn flavors(&self, token: &ScopedToken) -> Result<Listing<Flavor>, Error> {
        let call = Call::get("flavors", "flavors/detail").with_query("limit", PAGE_SIZE);
        let id = |flavor: &Flavor| flavor.id.clone();
        self.rest
            .entries(Service::Nova, token, call, "flavors", id)
            .await
    }

    /// Returns the key pairs of the token's user.
    ///
    /// # Errors
    /// If Nova cannot be asked or refuses.
    pub async fn key_pairs(&self, token: &ScopedToken) -> Result<Vec<KeyPair>, Error> {
        let call = Call::get("key_pairs", "os-keypairs");
        let answer: KeyPairsAnswer = self.rest.read(Service::Nova, token, call).await?;
        Ok(answer.keypairs.into_iter().map(|one| one.keypair).collect())
    }

    /// Makes a key pair of the token's user from a public key.
    ///
    /// # Errors
    /// `Conflict` if there is one of this name; `Invalid` for a key that Nova refuses.
    pub async fn create_key_pair(
        &self,
        token: &ScopedToken,
        name: &str,
        public_key: &str,
    ) -> Result<(), Error> {
        let body = json!({"keypair": {"name": name, "public_key": public_key}});
        let call = Call::new("create_key_pair", Method::POST, "os-keypairs").with_body(body);
        let understand = |answer: &Answer| answer.expect(&[StatusCode::OK, StatusCode::CREATED]);
        self.rest.run(Service::Nova, token, call, understand).await
    }

    /// Returns the zones in which servers can be.
    ///
    /// # Errors
    /// If Nova cannot be asked or refuses.
    pub async fn availability_zones(
        &self,
        token: &ScopedToken,
    ) -> Result<Vec<AvailabilityZone>, Error> {
        self.rest.availability_zones(Service::Nova, token).await
    }

    /// Returns the project's servers whose name begins with `prefix`, empty for all. The servers
    /// of a cluster have names that the driver derives from the cluster's backend ID or name.
    ///
    /// # Errors
    /// If Nova cannot be asked or refuses.
    pub async fn servers(
        &self,
        token: &ScopedToken,
        prefix: &str,
    ) -> Result<Listing<Server>, Error> {
        let mut call = Call::get("servers", "servers/detail").with_query("limit", PAGE_SIZE);
        // a regular expression for Nova: it finds more than the prefix, and never less
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !prefix.is_empty() && prefix.bytes().all(plain) {
            call = call.with_query("name", prefix);
        }
        let id = |server: &Server| server.id.clone();
        let servers = self.rest.entries(Service::Nova, token, call, "servers", id);
        Ok(servers
            .await?
            .filtered(|server| server.name.starts_with(prefix)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AbsoluteLimits {
    max_total_instances: i64,
    total_instances_used: i64,
    max_total_cores: i64,
    total_cores_used: i64,
    #[serde(rename = "maxTotalRAMSize")]
    max_total_ram: i64,
    #[serde(rename = "totalRAMUsed")]
    total_ram_used: i64,
    #[serde(default = "unlimited")]
    max_server_groups: i64,
    #[serde(default)]
    total_server_groups_used: i64,
}

fn unlimited() -> i64 {
    -1
}

impl From<AbsoluteLimits> for ComputeLimits {
    fn from(limits: AbsoluteLimits) -> Self {
        Self {
            instances: QuotaUsage::of(limits.total_instances_used, limits.max_total_instances),
            cores: QuotaUsage::of(limits.total_cores_used, limits.max_total_cores),
            ram: QuotaUsage::of(limits.total_ram_used, limits.max_total_ram),
            server_groups: QuotaUsage::of(
                limits.total_server_groups_used,
                limits.max_server_groups,
            ),
        }
    }
}

#[derive(Deserialize)]
struct KeyPairsAnswer {
    keypairs: Vec<KeyPairEntry>,
}

#[derive(Deserialize)]
struct KeyPairEntry {
    keypair: KeyPair,
}

#[cfg(test)]
mod tests;
