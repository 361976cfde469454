//! Resources of a project that name a cluster which Magnum does not have: what deleted clusters have left.
use super::Found;
use crate::clients::Clients;
use portico_lifecycle::inventory::{
    CSI_METADATA, ClusterNames, Item, Kind, Reclaim, SERVICE_PREFIX,
};
use portico_lifecycle::model::Cluster;
use portico_openstack::cinder::Volume;
use portico_openstack::octavia::LoadBalancer;
use portico_openstack::rest::ScopedToken;

/// How Cluster API names what it makes for a cluster.
const OF_CLUSTER_API: [&str; 2] = ["k8s-clusterapi-cluster-", "k8s-cluster-"];

/// A resource, and the cluster that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// The UUID of a cluster, or another name that its driver or its operator has given it. A cluster that
    /// others than Magnum made may have it.
    pub owner: String,
    pub item: Item,
}

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Orphans {
    pub items: Vec<Orphan>,
    /// Sentences.
    pub gaps: Vec<String>,
}

/// Looks at volumes, load balancers, networks, routers and security groups of the project. `clusters` are all
/// that Magnum has in it: what belongs to them is left out.
pub async fn orphans(clients: &Clients, token: &ScopedToken, clusters: &[Cluster]) -> Orphans {
    let neutron = &clients.neutron;
    let (volumes, balancers, networks, routers, groups) = tokio::join!(
        clients.cinder.volumes(token),
        clients.octavia.load_balancers(token),
        neutron.own_networks(token),
        neutron.routers(token),
        neutron.security_groups(token),
    );
    let mut found = Found::default();
    let known = Known(clusters);
    let mut items = Vec::new();
    items.extend(known.volumes(&found.read("volumes", volumes)));
    items.extend(known.balancers(&found.read("load balancers", balancers)));
    for network in found.read("networks", networks) {
        let (name, text) = (&network.name, &network.description);
        items.extend(known.made(Kind::OwnNetwork, &network.id, name, text));
    }
    for router in found.read("routers", routers) {
        let (name, text) = (&router.name, &router.description);
        items.extend(known.made(Kind::OwnRouter, &router.id, name, text));
    }
    for group in found.read("security groups", groups) {
        let (name, text) = (&group.name, &group.description);
        items.extend(known.made(Kind::SecurityGroup, &group.id, name, text));
    }
    items.sort_by(|one, other| (&one.owner, &one.item.name).cmp(&(&other.owner, &other.item.name)));
    Orphans {
        items,
        gaps: found.gaps,
    }
}

/// The clusters that Magnum has.
struct Known<'a>(&'a [Cluster]);

impl Known<'_> {
    fn names(&self) -> impl Iterator<Item = ClusterNames<'_>> {
        self.0.iter().map(|cluster| ClusterNames {
            uuid: &cluster.uuid,
            driver_id: cluster.driver_id.as_deref(),
        })
    }

    /// Returns whether one of the clusters has this name, also the one that users see.
    fn has(&self, owner: &str) -> bool {
        self.names().any(|names| names.is_one(owner)) || self.0.iter().any(|one| one.name == owner)
    }

    fn volumes(&self, volumes: &[Volume]) -> Vec<Orphan> {
        let owned = volumes.iter().filter_map(|volume| {
            let owner = volume.metadata.get(CSI_METADATA)?;
            let kind = Kind::PersistentVolume(Reclaim::Unknown);
            self.orphan(owner, kind, &volume.id, &volume.name)
        });
        owned.collect()
    }

    fn balancers(&self, balancers: &[LoadBalancer]) -> Vec<Orphan> {
        let owned = balancers.iter().filter_map(|balancer| {
            let owner = owner_of_balancer(&balancer.name, &balancer.description)?;
            let kind = Kind::ServiceLoadBalancer;
            self.orphan(owner, kind, &balancer.id, &balancer.name)
        });
        owned.collect()
    }

    /// Returns what a driver made for a cluster that Magnum does not have.
    fn made(&self, kind: Kind, id: &str, name: &str, description: &str) -> Option<Orphan> {
        if self.names().any(|names| names.has_made(name, description)) {
            return None;
        }
        let mut prefixes = OF_CLUSTER_API.iter();
        let owner = prefixes.find_map(|prefix| name.strip_prefix(prefix))?;
        self.orphan(owner, kind, id, name)
    }

    fn orphan(&self, owner: &str, kind: Kind, id: &str, name: &str) -> Option<Orphan> {
        let name = if name.is_empty() { id } else { name };
        let is_orphan = !owner.is_empty() && !self.has(owner);
        is_orphan.then(|| Orphan {
            owner: owner.to_owned(),
            item: Item {
                kind,
                id: id.to_owned(),
                name: name.to_owned(),
            },
        })
    }
}

/// Returns the cluster of a Service's load balancer, from its name or its description.
fn owner_of_balancer<'a>(name: &'a str, description: &'a str) -> Option<&'a str> {
    let by_name = name.strip_prefix(SERVICE_PREFIX).and_then(|rest| {
        // names of Kubernetes have no underscore, those of a cluster may
        rest.rsplitn(3, '_').nth(2)
    });
    by_name.or_else(|| {
        let rest = description.strip_prefix("Kubernetes ")?;
        rest.rsplit_once(" from cluster ").map(|(_, owner)| owner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "900e3758-8071-430e-a8cf-5c48f428dc0e";
    const GONE: &str = "900e3758-8071-430e-a8cf-5c48f428dc0f";

    fn clusters() -> Vec<Cluster> {
        let mut shop = Cluster::deleted(UUID.to_owned(), "shop".to_owned());
        shop.driver_id = Some("shop-abcdef".to_owned());
        vec![shop]
    }

    #[test]
    fn what_names_a_cluster_that_magnum_has_is_left_out() {
        let all = clusters();
        let known = Known(&all);
        for owner in [UUID, "shop-abcdef", "shop", ""] {
            let found = known.orphan(owner, Kind::OwnNetwork, "n1", "net");
            assert_eq!(found, None, "{owner}");
        }
        let found = known.orphan(GONE, Kind::OwnNetwork, "n1", "").unwrap();
        assert_eq!(
            (found.owner.as_str(), found.item.name.as_str()),
            (GONE, "n1")
        );
    }

    #[test]
    fn a_network_is_of_a_deleted_cluster_if_no_driver_id_fits() {
        let all = clusters();
        let known = Known(&all);
        let made = |name: &str| known.made(Kind::OwnNetwork, "n1", name, "");
        let own = "k8s-clusterapi-cluster-magnum-p1-shop-abcdef";
        assert_eq!(made(own), None);
        assert_eq!(made("private"), None);
        let gone = made("k8s-clusterapi-cluster-magnum-p1-lab-ghijkl").unwrap();
        assert_eq!(gone.owner, "magnum-p1-lab-ghijkl");
    }

    #[test]
    fn the_owner_of_a_load_balancer_is_in_its_name_or_its_description() {
        let name = format!("kube_service_{GONE}_web_shop");
        assert_eq!(owner_of_balancer(&name, ""), Some(GONE));
        let name = "kube_service_my_cluster_web_shop";
        assert_eq!(owner_of_balancer(name, ""), Some("my_cluster"));
        let text = "Kubernetes external service web/shop from cluster lab";
        assert_eq!(owner_of_balancer("web", text), Some("lab"));
        assert_eq!(owner_of_balancer("web", "of the shop"), None);
    }
}
