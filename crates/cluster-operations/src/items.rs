//! Finds what belongs to a cluster in the project, for the inventory of a deletion.
mod orphans;

pub use orphans::{Orphan, Orphans, orphans};

use crate::clients::Clients;
use portico_lifecycle::inventory::{
    CSI_METADATA, ClusterNames, Item, Kind, Reclaim, SERVICE_PREFIX, service_of_load_balancer,
};
use portico_lifecycle::model::{Cluster, NodeGroup};
use portico_openstack::cinder::Volume;
use portico_openstack::neutron::FloatingIp;
use portico_openstack::nova::Server;
use portico_openstack::octavia::LoadBalancer;
use portico_openstack::rest::{Error, Listing, ScopedToken};
use std::collections::BTreeSet;
use url::Url;

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Found {
    pub items: Vec<Item>,
    /// Sentences.
    pub gaps: Vec<String>,
}

/// Looks at servers, volumes, load balancers, networks, security groups and floating IPs.
pub async fn find(
    clients: &Clients,
    token: &ScopedToken,
    cluster: &Cluster,
    groups: &[NodeGroup],
) -> Found {
    let prefix = cluster.driver_id.as_deref().unwrap_or_default();
    let neutron = &clients.neutron;
    let (networks, routers, security_groups) = tokio::join!(
        neutron.own_networks(token),
        neutron.routers(token),
        neutron.security_groups(token),
    );
    let (servers, volumes, snapshots, balancers, floating_ips) = tokio::join!(
        clients.nova.servers(token, prefix),
        clients.cinder.volumes(token),
        clients.cinder.snapshots(token),
        clients.octavia.load_balancers(token),
        clients.neutron.floating_ips(token),
    );
    let mut found = Found::default();
    let servers = found.read("servers", servers);
    let volumes = found.read("volumes", volumes);
    let snapshots = found.read("snapshots", snapshots);
    let balancers = found.read("load balancers", balancers);
    let floating_ips = found.read("floating IPs", floating_ips);
    let names = ClusterNames {
        uuid: &cluster.uuid,
        driver_id: cluster.driver_id.as_deref(),
    };
    found.servers(cluster, groups, &servers);
    let claims = found.volumes(&names, &servers, &volumes);
    for snapshot in snapshots {
        if claims.contains(snapshot.volume_id.as_str()) {
            found.add(Kind::VolumeSnapshot, &snapshot.id, &snapshot.name);
        }
    }
    found.balancers(cluster, &names, &balancers, &floating_ips);
    for network in found.read("networks", networks) {
        if names.has_made(&network.name, &network.description) {
            found.add(Kind::OwnNetwork, &network.id, &network.name);
        }
    }
    for router in found.read("routers", routers) {
        if names.has_made(&router.name, &router.description) {
            found.add(Kind::OwnRouter, &router.id, &router.name);
        }
    }
    for group in found.read("security groups", security_groups) {
        if names.has_made(&group.name, &group.description) {
            found.add(Kind::SecurityGroup, &group.id, &group.name);
        }
    }
    if let Some(network) = &cluster.network {
        found.add(Kind::ExistingNetwork, network, network);
    }
    found
}

impl Found {
    fn add(&mut self, kind: Kind, id: &str, name: &str) {
        let name = if name.is_empty() { id } else { name };
        self.items.push(Item {
            kind,
            id: id.to_owned(),
            name: name.to_owned(),
        });
    }

    /// Returns the entries; notes a list that could not be read or is incomplete.
    fn read<T>(&mut self, what: &str, listing: Result<Listing<T>, Error>) -> Vec<T> {
        match listing {
            Ok(listing) => {
                if let Some(cut) = listing.cut {
                    self.gaps
                        .push(format!("The list of {what} is incomplete: {cut}."));
                }
                listing.items
            }
            Err(error) => {
                self.gaps
                    .push(format!("The {what} were not checked: {error}."));
                Vec::new()
            }
        }
    }

    fn servers(&mut self, cluster: &Cluster, groups: &[NodeGroup], servers: &[Server]) {
        let own: Vec<_> = servers
            .iter()
            .filter(|server| is_own(cluster, &server.name))
            .collect();
        for server in &own {
            self.add(Kind::Server, &server.id, &server.name);
        }
        // some drivers name servers after something else
        for group in groups {
            if own.is_empty() && group.node_count > 0 {
                let noun = if group.node_count == 1 {
                    "node"
                } else {
                    "nodes"
                };
                let name = format!("{} {noun} of {}", group.node_count, group.name);
                self.add(Kind::Server, &group.uuid, &name);
            }
        }
    }

    /// Adds volumes of nodes and of claims; returns the IDs of the latter.
    fn volumes<'a>(
        &mut self,
        names: &ClusterNames<'_>,
        servers: &[Server],
        volumes: &'a [Volume],
    ) -> BTreeSet<&'a str> {
        let attached: BTreeSet<_> = servers
            .iter()
            .filter(|server| {
                names
                    .driver_id
                    .is_some_and(|id| begins_with(&server.name, id))
            })
            .flat_map(|server| &server.volumes)
            .map(|volume| volume.id.as_str())
            .collect();
        let mut claims = BTreeSet::new();
        for volume in volumes {
            let owner = volume.metadata.get(CSI_METADATA);
            if owner.is_some_and(|owner| names.is_one(owner)) {
                claims.insert(volume.id.as_str());
                let kind = Kind::PersistentVolume(Reclaim::Unknown);
                self.add(kind, &volume.id, &volume.name);
            } else if owner.is_none() && attached.contains(volume.id.as_str()) {
                self.add(Kind::NodeVolume, &volume.id, &volume.name);
            }
        }
        claims
    }

    fn balancers(
        &mut self,
        cluster: &Cluster,
        names: &ClusterNames<'_>,
        balancers: &[LoadBalancer],
        floating_ips: &[FloatingIp],
    ) {
        let api = cluster.api_address.as_deref().and_then(host);
        let is_at_api =
            |floating_ip: &FloatingIp| api.as_ref() == Some(&floating_ip.floating_ip_address);
        let api_port = floating_ips
            .iter()
            .filter(|floating_ip| is_at_api(floating_ip))
            .find_map(|floating_ip| floating_ip.port_id.as_deref());
        let mut of_services = BTreeSet::new();
        let mut of_api = BTreeSet::new();
        for balancer in balancers {
            let (name, description) = (&balancer.name, &balancer.description);
            let service = service_of_load_balancer(names, name, description);
            let has_address = (api.is_some() && balancer.vip_address == api)
                || (api_port.is_some() && balancer.vip_port_id.as_deref() == api_port);
            let has_name = names.has_made_api_balancer(name, description);
            let (kind, ports) = if service.is_some() {
                (Kind::ServiceLoadBalancer, &mut of_services)
            } else if !name.starts_with(SERVICE_PREFIX) && (has_address || has_name) {
                (Kind::ApiLoadBalancer, &mut of_api)
            } else {
                continue;
            };
            self.add(kind, &balancer.id, &balancer.name);
            ports.extend(balancer.vip_port_id.as_deref());
        }
        for floating_ip in floating_ips {
            let leads_to = |ports: &BTreeSet<&str>| {
                let port = floating_ip.port_id.as_deref();
                port.is_some_and(|port| ports.contains(port))
            };
            let address = &floating_ip.floating_ip_address;
            let kind = if leads_to(&of_services) {
                Kind::ServiceFloatingIp
            } else if leads_to(&of_api) || is_at_api(floating_ip) {
                Kind::ClusterFloatingIp
            } else {
                continue;
            };
            self.add(kind, &floating_ip.id, address);
        }
    }
}

fn is_own(cluster: &Cluster, server: &str) -> bool {
    let id = cluster.driver_id.as_deref();
    id.is_some_and(|id| begins_with(server, id))
}

/// Returns whether a name is `<id>-…`.
fn begins_with(name: &str, id: &str) -> bool {
    let rest = name.strip_prefix(id).filter(|_| !id.is_empty());
    rest.is_some_and(|rest| rest.starts_with('-'))
}

fn host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
