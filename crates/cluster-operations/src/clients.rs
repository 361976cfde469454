//! The clients of the services from which Magnum makes clusters.
use crate::drivers::Drivers;
use crate::mapping;
use portico_lifecycle::driver::{ApiVersion, Cloud};
use portico_lifecycle::model::Cluster;
use portico_openstack::magnum::{self, Feature};
use portico_openstack::rest::{Error, ErrorKind, Listing, RestClient, ScopedToken};
use portico_openstack::{cinder, glance, heat, neutron, nova, octavia};
use uuid::Uuid;

/// The clients of Magnum and of the services beside it; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Clients {
    /// For calls that are passed on as they are.
    pub rest: RestClient,
    pub magnum: magnum::Client,
    pub nova: nova::Client,
    pub cinder: cinder::Client,
    pub neutron: neutron::Client,
    pub octavia: octavia::Client,
    pub glance: glance::Client,
    pub heat: heat::Client,
    /// What the operator states about the drivers.
    pub drivers: Drivers,
}

impl Clients {
    /// Makes the clients; sends no request yet.
    pub fn new(rest: &RestClient, drivers: Drivers) -> Self {
        Self {
            rest: rest.clone(),
            magnum: magnum::Client::new(rest.clone()),
            nova: nova::Client::new(rest.clone()),
            cinder: cinder::Client::new(rest.clone()),
            neutron: neutron::Client::new(rest.clone()),
            octavia: octavia::Client::new(rest.clone()),
            glance: glance::Client::new(rest.clone()),
            heat: heat::Client::new(rest.clone()),
            drivers,
        }
    }

    /// Returns what the cloud's Magnum offers, for the engine.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn offer(&self, token: &ScopedToken) -> Result<Cloud, Error> {
        Ok(Cloud {
            api: ApiVersion(self.magnum.features(token).await?.version.minor),
            release: self.drivers.release,
        })
    }

    /// Returns a cluster as the engine has it; its template, where it is known, names the driver.
    pub fn model(
        &self,
        cluster: &magnum::Cluster,
        template: Option<&magnum::ClusterTemplate>,
    ) -> Cluster {
        mapping::cluster(cluster, template, &self.drivers)
    }

    /// Returns the node groups of a cluster; none where Magnum is older than node groups. Magnum's
    /// list has no bounds.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn groups(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
    ) -> Result<Listing<magnum::NodeGroupSummary>, Error> {
        if !self.has_node_groups(token).await? {
            return Ok(none());
        }
        self.magnum.node_groups(token, cluster).await
    }

    /// Returns the node groups with what the list does not have: bounds, labels and taints. This is
    /// one more request for each group. One may be missing in an incomplete listing.
    ///
    /// # Errors
    /// As [`Self::groups`].
    pub async fn detailed_groups(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
    ) -> Result<Listing<magnum::NodeGroup>, Error> {
        if !self.has_node_groups(token).await? {
            return Ok(none());
        }
        self.magnum.detailed_node_groups(token, cluster).await
    }

    /// Returns the template of a cluster, which names the driver; `None` if it was deleted or is not
    /// visible.
    ///
    /// # Errors
    /// If Magnum cannot be asked: the driver may be known nevertheless.
    pub async fn template_of(
        &self,
        token: &ScopedToken,
        cluster: &magnum::Cluster,
    ) -> Result<Option<magnum::ClusterTemplate>, Error> {
        let Ok(uuid) = cluster.cluster_template_id.parse() else {
            return Ok(None);
        };
        match self.magnum.template(token, uuid).await {
            Ok(template) => Ok(Some(template)),
            Err(error)
                if matches!(error.kind, ErrorKind::NotFound(_) | ErrorKind::Forbidden(_)) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn has_node_groups(&self, token: &ScopedToken) -> Result<bool, Error> {
        let features = self.magnum.features(token).await?;
        Ok(features.check(Feature::NodeGroups).is_ok())
    }
}

fn none<T>() -> Listing<T> {
    Listing {
        items: Vec::new(),
        cut: None,
    }
}
