//! The clients of a cloud's services with the user's token.
use super::error::ClusterError;
use crate::direct::{CloudAccess, CloudChoice, cloud_access};
use crate::profile;
use portico_cluster_operations::{Clients, Drivers};
use portico_lifecycle::driver::Cloud;
use portico_lifecycle::model::Cluster;
use portico_openstack::magnum;
use portico_openstack::rest::{self, Listing, ScopedToken};
use url::Url;
use uuid::Uuid;

/// The clients, and the token that each call takes.
pub struct Connection {
    pub cloud: String,
    pub token: ScopedToken,
    pub clients: Clients,
    /// `None`: the cloud is not pinned.
    gateway: Option<Url>,
    /// How to sign in again; `None`: the token cannot be renewed.
    choice: Option<CloudChoice>,
}

impl Connection {
    /// Signs in.
    ///
    /// # Errors
    /// As [`cloud_access`].
    pub async fn open(choice: CloudChoice, drivers: Drivers) -> Result<Self, ClusterError> {
        let mut connection = Self::of(cloud_access(&choice).await?, drivers);
        connection.choice = Some(choice);
        Ok(connection)
    }

    /// Uses a token that cannot be renewed.
    pub fn of(access: CloudAccess, drivers: Drivers) -> Self {
        Self {
            clients: Clients::new(&access.rest, drivers),
            cloud: access.cloud,
            token: access.token,
            gateway: access.gateway,
            choice: None,
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

    /// Signs in again while a command waits for an operation on a cluster, after Magnum has answered
    /// `refused`.
    ///
    /// # Errors
    /// [`ClusterError::TokenEnded`] if there is no other token; an outage of Keystone, after which another
    /// try may succeed.
    pub async fn renew_while_waiting(
        &mut self,
        cluster: Uuid,
        refused: rest::Error,
    ) -> Result<(), ClusterError> {
        let source = match self.renew().await {
            Ok(true) => return Ok(()),
            Ok(false) => ClusterError::from(refused),
            Err(error) if error.is_outage() => return Err(error),
            Err(error) => error,
        };
        Err(ClusterError::TokenEnded {
            uuid: cluster.to_string(),
            source: Box::new(source),
        })
    }

    /// Returns how the user has signed in; `None`: the token was given.
    pub fn choice(&self) -> Option<&CloudChoice> {
        self.choice.as_ref()
    }

    /// Returns the gateway that the cloud is pinned to; `None`: the cloud is not pinned.
    pub fn gateway(&self) -> Option<&Url> {
        self.gateway.as_ref()
    }

    /// Returns the address of a cluster's page in the panel; `None` if no gateway is known.
    pub fn page(&self, cluster: Uuid) -> Option<String> {
        let gateway = profile::display(self.gateway.as_ref()?);
        let project = &self.token.project_id;
        Some(format!(
            "{gateway}/projects/{project}/managed-clusters/{cluster}"
        ))
    }

    /// Returns what the cloud's Magnum offers.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn offer(&self) -> Result<Cloud, ClusterError> {
        Ok(self.clients.offer(&self.token).await?)
    }

    /// Returns the node groups of a cluster, as [`Clients::groups`].
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn groups(
        &self,
        cluster: Uuid,
    ) -> Result<Listing<magnum::NodeGroupSummary>, ClusterError> {
        Ok(self.clients.groups(&self.token, cluster).await?)
    }

    /// Returns the node groups, as [`Clients::detailed_groups`].
    ///
    /// # Errors
    /// As [`Self::groups`]; [`ClusterError::Incomplete`] if one may be missing.
    pub async fn detailed_groups(
        &self,
        cluster: Uuid,
    ) -> Result<Vec<magnum::NodeGroup>, ClusterError> {
        let listing = self.clients.detailed_groups(&self.token, cluster).await?;
        match listing.cut {
            Some(cut) => Err(ClusterError::Incomplete(cut)),
            None => Ok(listing.items),
        }
    }

    /// Returns a cluster as the engine has it; its template, where it is known, names the driver.
    pub fn model(
        &self,
        cluster: &magnum::Cluster,
        template: Option<&magnum::ClusterTemplate>,
    ) -> Cluster {
        self.clients.model(cluster, template)
    }

    /// Returns the template of a cluster, which names the driver; `None` if it was deleted or is not
    /// visible.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn template_of(
        &self,
        cluster: &magnum::Cluster,
    ) -> Result<Option<magnum::ClusterTemplate>, ClusterError> {
        Ok(self.clients.template_of(&self.token, cluster).await?)
    }
}
