//! What Portico reads of Octavia's API (`load-balancer`), version 2: load balancers and quotas.
use crate::lenient;
use crate::open_enum::open_enum;
use crate::rest::{Call, Error, Listing, PAGE_SIZE, RestClient, ScopedToken, Service};
use jiff::Timestamp;
use serde::Deserialize;

/// A client of Octavia; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

open_enum! {
    /// Whether Octavia has carried out what was requested of a load balancer.
    pub enum ProvisioningStatus {
        Active = "ACTIVE",
        Deleted = "DELETED",
        Error = "ERROR",
        PendingCreate = "PENDING_CREATE",
        PendingUpdate = "PENDING_UPDATE",
        PendingDelete = "PENDING_DELETE",
    }
}

open_enum! {
    /// Whether a load balancer works.
    pub enum OperatingStatus {
        Online = "ONLINE",
        Draining = "DRAINING",
        Offline = "OFFLINE",
        Degraded = "DEGRADED",
        Error = "ERROR",
        NoMonitor = "NO_MONITOR",
    }
}

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct LoadBalancer {
    pub id: String,
    /// For a Service: `kube_service_<cluster>_<namespace>_<service>`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub name: String,
    /// For a Service: `Kubernetes external service <namespace>/<service> from cluster <cluster>`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub description: String,
    pub provisioning_status: ProvisioningStatus,
    pub operating_status: OperatingStatus,
    #[serde(default)]
    pub vip_address: Option<String>,
    /// The port of its address, to which a floating IP is bound.
    #[serde(default)]
    pub vip_port_id: Option<String>,
    #[serde(default)]
    pub vip_network_id: Option<String>,
    /// Octavia's driver, for example `amphora` or `ovn`.
    #[serde(default)]
    pub provider: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub project_id: String,
    #[serde(default, deserialize_with = "lenient::list_of_texts")]
    pub tags: Vec<String>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub created_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::time")]
    pub updated_at: Option<Timestamp>,
}

/// What a project may use of Octavia. Octavia does not report what is used; `None` is unlimited,
/// or the cloud's default where a project has no quota of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBalancerQuota {
    pub load_balancers: Option<u64>,
    pub listeners: Option<u64>,
    pub pools: Option<u64>,
    pub members: Option<u64>,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns the load balancers of the token's project.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Endpoint`] on a cloud without Octavia;
    /// [`crate::rest::ErrorKind::Forbidden`] where it wants
    /// a role of its own (`load-balancer_member`).
    pub async fn load_balancers(
        &self,
        token: &ScopedToken,
    ) -> Result<Listing<LoadBalancer>, Error> {
        let call = Call::get("load_balancers", "lbaas/loadbalancers")
            .with_query("project_id", token.project_id.as_str())
            .with_query("limit", PAGE_SIZE);
        let id = |balancer: &LoadBalancer| balancer.id.clone();
        let all = self
            .rest
            .entries(Service::Octavia, token, call, "loadbalancers", id);
        // an admin's token lists those of all projects where the filter is ignored
        let all = all.await?;
        Ok(all.filtered(|balancer| balancer.project_id == token.project_id))
    }

    /// Returns what the token's project may use.
    ///
    /// # Errors
    /// As [`Self::load_balancers`].
    pub async fn quota(&self, token: &ScopedToken) -> Result<LoadBalancerQuota, Error> {
        let path = |project: &str| format!("lbaas/quotas/{project}");
        let quota: QuotaEntry = self.rest.quota(Service::Octavia, token, path).await?;
        let limit = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        Ok(LoadBalancerQuota {
            load_balancers: limit(quota.load_balancer.or(quota.loadbalancer)),
            listeners: limit(quota.listener),
            pools: limit(quota.pool),
            members: limit(quota.member),
        })
    }
}

#[derive(Deserialize)]
struct QuotaEntry {
    #[serde(default)]
    load_balancer: Option<i64>,
    /// The older name of `load_balancer`.
    #[serde(default)]
    loadbalancer: Option<i64>,
    #[serde(default)]
    listener: Option<i64>,
    #[serde(default)]
    pool: Option<i64>,
    #[serde(default)]
    member: Option<i64>,
}

#[cfg(test)]
mod tests;
