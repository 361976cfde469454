//! What Portico reads of Neutron's API (`network`), version 2.0: networks, subnets, routers, ports,
//! floating IPs, security groups and quotas.
//!
//! An admin's token lists objects of all projects; every list here is that of the token's project.
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{
    Call, Candidate, Error, Listing, PAGE_SIZE, QuotaUsage, RestClient, ScopedToken, Service,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A client of Neutron; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

open_enum! {
    /// The state of a network, port, router or floating IP.
    pub enum NetworkStatus {
        Active = "ACTIVE",
        Build = "BUILD",
        Down = "DOWN",
        Error = "ERROR",
    }
}

/// A network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Network {
    pub id: String,
    /// Not unique.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    #[serde(default)]
    pub status: Option<NetworkStatus>,
    /// Whether it leads out of the cloud, so that floating IPs are taken from it.
    #[serde(
        rename = "router:external",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub is_external: bool,
    /// Whether other projects may use it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub shared: bool,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub project_id: String,
    /// Written by what made it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
    /// IDs.
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub subnets: Vec<String>,
}

impl Network {
    /// Returns what distinguishes it from others with the same name.
    pub fn candidate(&self) -> Candidate {
        Candidate {
            id: self.id.clone(),
            name: self.name.clone(),
            status: self.status.as_ref().map(ToString::to_string),
            created_at: None,
        }
    }
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Subnet {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub network_id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub cidr: String,
    /// 4 or 6.
    #[serde(default)]
    pub ip_version: Option<u8>,
    #[serde(default)]
    pub gateway_ip: Option<String>,
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Router {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    /// Written by what made it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
    #[serde(default)]
    pub status: Option<NetworkStatus>,
}

/// A port: the connection of something with a network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Port {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    pub network_id: String,
    /// The ID of what is connected, for example a server's; empty if nothing is.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub device_id: String,
    /// What kind of thing that is, for example `compute:nova` or `Octavia`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub device_owner: String,
    #[serde(default)]
    pub status: Option<NetworkStatus>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub fixed_ips: Vec<FixedIp>,
    /// IDs.
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub security_groups: Vec<String>,
}

/// An address of a port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FixedIp {
    pub ip_address: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subnet_id: String,
}

/// A floating IP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FloatingIp {
    pub id: String,
    pub floating_ip_address: String,
    #[serde(default)]
    pub fixed_ip_address: Option<String>,
    /// The port that it leads to; `None` if it is not used.
    #[serde(default)]
    pub port_id: Option<String>,
    #[serde(default)]
    pub floating_network_id: Option<String>,
    #[serde(default)]
    pub status: Option<NetworkStatus>,
    /// For a Service: `Floating IP for Kubernetes external service … from cluster …`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
}

/// A security group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SecurityGroup {
    pub id: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
}

/// What a project uses of Neutron, and may use; `None` for what Neutron does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkQuota {
    pub networks: Option<QuotaUsage>,
    pub subnets: Option<QuotaUsage>,
    pub ports: Option<QuotaUsage>,
    pub routers: Option<QuotaUsage>,
    pub floating_ips: Option<QuotaUsage>,
    pub security_groups: Option<QuotaUsage>,
    pub security_group_rules: Option<QuotaUsage>,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns the networks that the token's project may use: its own, shared and external ones.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn networks(&self, token: &ScopedToken) -> Result<Listing<Network>, Error> {
        let call = Call::get("networks", "networks");
        let id = |network: &Network| network.id.clone();
        let all = self.list(token, call, "networks", id).await?;
        Ok(all.filtered(|network| {
            network.is_external || network.shared || network.project_id == token.project_id
        }))
    }

    /// Returns the networks that belong to the token's project.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn own_networks(&self, token: &ScopedToken) -> Result<Listing<Network>, Error> {
        let call = of_project(Call::get("networks", "networks"), token);
        let id = |network: &Network| network.id.clone();
        self.list(token, call, "networks", id).await
    }

    /// Returns the subnets that the token may use, of all its networks.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn usable_subnets(&self, token: &ScopedToken) -> Result<Listing<Subnet>, Error> {
        let call = Call::get("subnets", "subnets");
        let id = |subnet: &Subnet| subnet.id.clone();
        self.list(token, call, "subnets", id).await
    }

    /// Returns the project's routers.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn routers(&self, token: &ScopedToken) -> Result<Listing<Router>, Error> {
        let call = of_project(Call::get("routers", "routers"), token);
        let id = |router: &Router| router.id.clone();
        self.list(token, call, "routers", id).await
    }

    /// Returns the project's ports.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn ports(&self, token: &ScopedToken) -> Result<Listing<Port>, Error> {
        let call = of_project(Call::get("ports", "ports"), token);
        let id = |port: &Port| port.id.clone();
        self.list(token, call, "ports", id).await
    }

    /// Returns the project's floating IPs.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn floating_ips(&self, token: &ScopedToken) -> Result<Listing<FloatingIp>, Error> {
        let call = of_project(Call::get("floating_ips", "floatingips"), token);
        let id = |address: &FloatingIp| address.id.clone();
        self.list(token, call, "floatingips", id).await
    }

    /// Returns the project's security groups.
    ///
    /// # Errors
    /// If Neutron cannot be asked or refuses.
    pub async fn security_groups(
        &self,
        token: &ScopedToken,
    ) -> Result<Listing<SecurityGroup>, Error> {
        let call = of_project(Call::get("security_groups", "security-groups"), token);
        let id = |group: &SecurityGroup| group.id.clone();
        self.list(token, call, "security_groups", id).await
    }

    /// Returns what the token's project uses, and may use.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::NotFound`] on clouds without Neutron's extension `quota_details`.
    pub async fn quota(&self, token: &ScopedToken) -> Result<NetworkQuota, Error> {
        let path = |project: &str| format!("quotas/{project}/details.json");
        let quota: QuotaEntries = self.rest.quota(Service::Neutron, token, path).await?;
        let usage = |entry: Option<QuotaEntry>| entry.map(QuotaUsage::from);
        Ok(NetworkQuota {
            networks: usage(quota.network),
            subnets: usage(quota.subnet),
            ports: usage(quota.port),
            routers: usage(quota.router),
            floating_ips: usage(quota.floatingip),
            security_groups: usage(quota.security_group),
            security_group_rules: usage(quota.security_group_rule),
        })
    }

    async fn list<T: DeserializeOwned>(
        &self,
        token: &ScopedToken,
        call: Call,
        key: &'static str,
        id: fn(&T) -> String,
    ) -> Result<Listing<T>, Error> {
        let call = call.with_query("limit", PAGE_SIZE);
        self.rest
            .entries(Service::Neutron, token, call, key, id)
            .await
    }
}

fn of_project(call: Call, token: &ScopedToken) -> Call {
    call.with_query("project_id", token.project_id.as_str())
}

#[derive(Deserialize)]
struct QuotaEntries {
    network: Option<QuotaEntry>,
    subnet: Option<QuotaEntry>,
    port: Option<QuotaEntry>,
    router: Option<QuotaEntry>,
    floatingip: Option<QuotaEntry>,
    security_group: Option<QuotaEntry>,
    security_group_rule: Option<QuotaEntry>,
}

#[derive(Deserialize)]
struct QuotaEntry {
    limit: i64,
    used: i64,
    #[serde(default)]
    reserved: i64,
}

impl From<QuotaEntry> for QuotaUsage {
    fn from(entry: QuotaEntry) -> Self {
        Self::of(entry.used.saturating_add(entry.reserved), entry.limit)
    }
}

#[cfg(test)]
mod tests;
