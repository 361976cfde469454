//! The clients of a cloud's services with the user's token.
use super::error::ClusterError;
use super::gateway_session::{GatewayChoice, GatewaySession};
use crate::direct::{CloudAccess, CloudChoice, cloud_access};
use crate::profile;
use portico_clock::Clock;
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
    pub clock: Clock,
    /// `None`: the cloud is called directly, and is not pinned.
    gateway: Option<Url>,
    source: Source,
    /// The API server of the clusters of a test.
    #[cfg(test)]
    pub api_server: Option<Url>,
}

/// Where the token comes from.
enum Source {
    /// It was given, and cannot be renewed.
    Given,
    /// Keystone, with the credentials of the user.
    Keystone(CloudChoice),
    /// The session at a gateway.
    Gateway(Box<GatewaySession>),
}

impl Connection {
    /// Signs in at Keystone, and calls the services themselves.
    ///
    /// # Errors
    /// As [`cloud_access`].
    pub async fn open(
        choice: CloudChoice,
        drivers: Drivers,
        clock: &Clock,
    ) -> Result<Self, ClusterError> {
        let access = cloud_access(&choice, clock).await?;
        let mut connection = Self::of(access, drivers, clock);
        connection.source = Source::Keystone(choice);
        Ok(connection)
    }

    /// Uses the session at a gateway, which calls the services.
    ///
    /// # Errors
    /// As [`GatewaySession::open`].
    pub async fn through_gateway(
        wanted: GatewayChoice,
        drivers: Drivers,
        clock: &Clock,
    ) -> Result<Self, ClusterError> {
        let (session, access) = GatewaySession::open(wanted, clock).await?;
        let mut connection = Self::of(access, drivers, clock);
        connection.source = Source::Gateway(Box::new(session));
        Ok(connection)
    }

    /// Uses a token that cannot be renewed.
    pub fn of(access: CloudAccess, drivers: Drivers, clock: &Clock) -> Self {
        Self {
            clients: Clients::new(&access.rest, drivers),
            clock: clock.clone(),
            cloud: access.cloud,
            token: access.token,
            gateway: access.gateway,
            source: Source::Given,
            #[cfg(test)]
            api_server: None,
        }
    }

    /// Signs in again after a service has refused the token: an operation can take longer than a
    /// token lives. Returns whether there is another token.
    ///
    /// # Errors
    /// As [`cloud_access`].
    pub async fn renew(&mut self) -> Result<bool, ClusterError> {
        match &mut self.source {
            Source::Given => return Ok(false),
            Source::Keystone(choice) => {
                self.token = cloud_access(choice, &self.clock).await?.token;
            }
            Source::Gateway(session) => self.token.token = session.replace_token().await?,
        }
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

    /// Returns how the user has signed in at Keystone; `None`: the token was given, or is a gateway's.
    pub fn choice(&self) -> Option<&CloudChoice> {
        match &self.source {
            Source::Keystone(choice) => Some(choice),
            Source::Given | Source::Gateway(_) => None,
        }
    }

    /// Returns the session at the gateway that calls the services; `None`: they are called directly.
    pub fn gateway_session(&mut self) -> Option<&mut GatewaySession> {
        match &mut self.source {
            Source::Gateway(session) => Some(session.as_mut()),
            Source::Given | Source::Keystone(_) => None,
        }
    }

    /// Returns whether a gateway calls the services.
    pub fn is_through_gateway(&self) -> bool {
        matches!(self.source, Source::Gateway(_))
    }

    /// Returns the gateway that calls the services, or that the cloud is pinned to; `None`: the cloud is
    /// not pinned.
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
