//! The clients of a cloud's services with the user's token.
use super::error::ClusterError;
use crate::direct::{CloudAccess, CloudChoice, cloud_access};
use portico_lifecycle::driver::{ApiVersion, Cloud};
use portico_openstack::magnum::{self, Feature, Features};
use portico_openstack::rest::{Listing, RestClient, ScopedToken};
use portico_openstack::{cinder, neutron, nova, octavia};
use uuid::Uuid;

/// The clients, and the token that each call takes.
pub struct Connection {
    pub cloud: String,
    pub token: ScopedToken,
    pub rest: RestClient,
    pub magnum: magnum::Client,
    /// How to sign in again; `None`: the token cannot be renewed.
    choice: Option<CloudChoice>,
}

/// Clients of the services from which Magnum makes clusters.
pub struct Services {
    pub nova: nova::Client,
    pub cinder: cinder::Client,
    pub neutron: neutron::Client,
    pub octavia: octavia::Client,
}

impl Connection {
    /// Signs in.
    ///
    /// # Errors
    /// As [`cloud_access`].
    pub async fn open(choice: CloudChoice) -> Result<Self, ClusterError> {
        let mut connection = Self::of(cloud_access(&choice).await?);
        connection.choice = Some(choice);
        Ok(connection)
    }

    /// Uses a token that cannot be renewed.
    pub fn of(access: CloudAccess) -> Self {
        Self {
            magnum: magnum::Client::new(access.rest.clone()),
            cloud: access.cloud,
            token: access.token,
            rest: access.rest,
            choice: None,
        }
    }

    /// Returns the clients of the services beside Magnum.
    pub fn services(&self) -> Services {
        Services {
            nova: nova::Client::new(self.rest.clone()),
            cinder: cinder::Client::new(self.rest.clone()),
            neutron: neutron::Client::new(self.rest.clone()),
            octavia: octavia::Client::new(self.rest.clone()),
        }
    }

    /// Signs in again after a service has refused the token: an operation can take longer than a
    /// token lives. Returns whether there is another token.
    ///
    /// # Errors
    /// As [`cloud_access`].
    pub async fn renew(&mut self) -> Result<bool, ClusterError> {
        let Some(choice) = &self.choice else {
            return Ok(false);
        };
        self.token = cloud_access(choice).await?.token;
        Ok(true)
    }

    /// Returns what the cloud's Magnum offers.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn features(&self) -> Result<Features, ClusterError> {
        Ok(self.magnum.features(&self.token).await?)
    }

    /// Returns the same for the engine.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn offer(&self) -> Result<Cloud, ClusterError> {
        Ok(Cloud {
            api: ApiVersion(self.features().await?.version.minor),
            release: None,
        })
    }

    /// Returns the node groups of a cluster; none where Magnum is older than node groups. Magnum's
    /// list has no bounds.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn groups(
        &self,
        cluster: Uuid,
    ) -> Result<Listing<magnum::NodeGroupSummary>, ClusterError> {
        if !self.has_node_groups().await? {
            return Ok(Listing {
                items: Vec::new(),
                cut: None,
            });
        }
        Ok(self.magnum.node_groups(&self.token, cluster).await?)
    }

    async fn has_node_groups(&self) -> Result<bool, ClusterError> {
        Ok(self.features().await?.check(Feature::NodeGroups).is_ok())
    }

    /// Returns the node groups with what the list does not have: bounds, labels and taints. This is
    /// one more request for each group.
    ///
    /// # Errors
    /// As [`Self::groups`]; [`ClusterError::Incomplete`] if one may be missing.
    pub async fn detailed_groups(
        &self,
        cluster: Uuid,
    ) -> Result<Vec<magnum::NodeGroup>, ClusterError> {
        if !self.has_node_groups().await? {
            return Ok(Vec::new());
        }
        let listing = self.magnum.detailed_node_groups(&self.token, cluster);
        let listing = listing.await?;
        match listing.cut {
            Some(cut) => Err(ClusterError::Incomplete(cut)),
            None => Ok(listing.items),
        }
    }

    /// Returns the template of a cluster, which names the driver; it may have been deleted.
    pub async fn template_of(&self, cluster: &magnum::Cluster) -> Option<magnum::ClusterTemplate> {
        let uuid = cluster.cluster_template_id.parse().ok()?;
        self.magnum.template(&self.token, uuid).await.ok()
    }
}
