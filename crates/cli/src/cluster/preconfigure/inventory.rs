//! What the cloud has, as the user's token sees it.
use crate::cluster::connection::Connection;
use crate::cluster::error::ClusterError;
use crate::direct;
use portico_cluster_operations::usages::usages;
use portico_domain::identity::Identity;
use portico_lifecycle::quota::Usages;
use portico_openstack::glance::Image;
use portico_openstack::keystone::CatalogEndpoint;
use portico_openstack::magnum::ClusterTemplate;
use portico_openstack::neutron::Network;
use portico_openstack::nova::{Flavor, KeyPair};
use portico_openstack::rest::{Error, ErrorKind, Listing};

/// A list, or why it could not be read.
pub type Read<T> = Result<Listing<T>, String>;

/// What the checks need.
pub struct Inventory {
    pub endpoints: Vec<CatalogEndpoint>,
    pub networks: Read<Network>,
    pub flavors: Read<Flavor>,
    pub images: Read<Image>,
    pub key_pairs: Read<KeyPair>,
    pub templates: Read<ClusterTemplate>,
    pub usages: Usages,
    pub identity: Result<Identity, String>,
}

impl Inventory {
    /// Reads what the cloud has. A service that cannot be asked leaves a gap.
    ///
    /// # Errors
    /// If the cloud does not accept the token.
    pub async fn read(connection: &Connection) -> Result<Self, ClusterError> {
        let (clients, token) = (&connection.clients, &connection.token);
        let (templates, clusters, networks, flavors, images, key_pairs) = tokio::join!(
            clients.magnum.templates(token),
            clients.magnum.clusters(token),
            clients.neutron.networks(token),
            clients.nova.flavors(token),
            clients.glance.images(token),
            clients.nova.key_pairs(token),
        );
        if let Err(error) = &templates
            && error.kind == ErrorKind::InvalidToken
        {
            return Err(error.clone().into());
        }
        let clusters = clusters.ok().filter(|listing| listing.cut.is_none());
        let count = clusters.map(|listing| listing.items.len());
        let key_pairs = key_pairs.map(|items| Listing { items, cut: None });
        Ok(Self {
            endpoints: token.catalog.endpoints.clone(),
            networks: networks.map_err(text),
            flavors: flavors.map_err(text),
            images: images.map_err(text),
            key_pairs: key_pairs.map_err(text),
            templates: templates.map_err(text),
            usages: usages(clients, token, count).await,
            identity: identity(connection).await,
        })
    }
}

fn text(error: Error) -> String {
    error.to_string()
}

async fn identity(connection: &Connection) -> Result<Identity, String> {
    match connection.choice() {
        Some(choice) => direct::identity(choice, &connection.clock)
            .await
            .map_err(|error| error.to_string()),
        None if connection.is_through_gateway() => Err(
            "the gateway does not state your roles; with OS_* or --cloud they are checked"
                .to_owned(),
        ),
        None => Err("the token does not state its roles".to_owned()),
    }
}
