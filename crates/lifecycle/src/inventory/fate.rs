//! What happens to each item when the cluster is deleted, by the driver's rules.
use super::{Item, Kind, Reclaim};
use crate::driver::Family;

/// What the user chose for the deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// Portico deletes Services of the type LoadBalancer first, through Kubernetes.
    pub services_first: bool,
    /// Portico deletes PersistentVolumeClaims first, through Kubernetes.
    pub claims_first: bool,
}

/// What happens to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is deleted.
    Goes,
    /// It depends on a rule that Portico cannot see: assume that it is deleted.
    Depends,
    /// It stays, and may cost.
    Stays,
}

/// The three lists of the deletion dialog: each item with the rule, as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    pub goes: Vec<(Item, &'static str)>,
    pub depends: Vec<(Item, &'static str)>,
    pub stays: Vec<(Item, &'static str)>,
}

impl Inventory {
    /// Returns all items that should not exist after the deletion.
    pub fn expected_gone(&self) -> impl Iterator<Item = &Item> {
        self.goes.iter().chain(&self.depends).map(|(item, _)| item)
    }
}

/// Sorts the items of a cluster by what happens to them.
pub fn inventory(items: Vec<Item>, family: Family, options: DeleteOptions) -> Inventory {
    let mut inventory = Inventory::default();
    for item in items {
        let (fate, rule) = fate(&item.kind, family, options);
        let list = match fate {
            Fate::Goes => &mut inventory.goes,
            Fate::Depends => &mut inventory.depends,
            Fate::Stays => &mut inventory.stays,
        };
        list.push((item, rule));
    }
    inventory
}

fn fate(kind: &Kind, family: Family, options: DeleteOptions) -> (Fate, &'static str) {
    match kind {
        Kind::Server
        | Kind::NodeVolume
        | Kind::ApiLoadBalancer
        | Kind::ClusterFloatingIp
        | Kind::OwnNetwork
        | Kind::OwnRouter
        | Kind::SecurityGroup => (Fate::Goes, "It was made with the cluster."),
        Kind::Credential => (Fate::Goes, "Magnum removes it at the end of the deletion."),
        Kind::ServiceLoadBalancer | Kind::ServiceFloatingIp => of_service(kind, family, options),
        Kind::PersistentVolume(reclaim) => volume(*reclaim, family, options),
        Kind::VolumeSnapshot => (Fate::Stays, "Snapshots are not deleted with a cluster."),
        Kind::ExistingNetwork => (Fate::Stays, "It existed before the cluster."),
        Kind::DnsRecord => (Fate::Stays, "DNS records are not deleted with a cluster."),
        Kind::Bucket => (Fate::Stays, "Buckets are not deleted with a cluster."),
        Kind::RegistryImage => (Fate::Stays, "Images are not deleted with a cluster."),
    }
}

fn of_service(kind: &Kind, family: Family, options: DeleteOptions) -> (Fate, &'static str) {
    if options.services_first {
        return (
            Fate::Goes,
            "Portico deletes the Service first, and Kubernetes its load balancer.",
        );
    }
    match (family, kind) {
        (Family::CapiHelm, _) => (
            Fate::Goes,
            "The driver deletes load balancers of Services and their floating IPs.",
        ),
        (Family::ClusterApi, _) => (
            Fate::Goes,
            "The driver deletes load balancers that are named after the cluster, and their floating IPs.",
        ),
        (Family::Heat, Kind::ServiceLoadBalancer) => {
            (Fate::Goes, "The driver deletes load balancers of Services.")
        }
        (Family::Heat | Family::Complete | Family::Unknown, _) => (
            Fate::Depends,
            "It is not known whether this driver deletes it: delete the Service first.",
        ),
    }
}

fn volume(reclaim: Reclaim, family: Family, options: DeleteOptions) -> (Fate, &'static str) {
    match (family, reclaim) {
        (_, Reclaim::Delete) if options.claims_first => (
            Fate::Goes,
            "Portico deletes the claim first, and Kubernetes the volume: its data is lost.",
        ),
        // the other drivers may delete it whatever its policy is
        (Family::Heat | Family::ClusterApi, Reclaim::Unknown) if options.claims_first => (
            Fate::Depends,
            "Portico deletes the claim first. The reclaim policy is not known: with Delete, the data is lost.",
        ),
        (Family::CapiHelm, _) => (
            Fate::Depends,
            "The driver deletes volumes unless the operator chose otherwise, whatever the reclaim policy \
             is: assume that the data is lost.",
        ),
        (Family::Heat | Family::ClusterApi, _) => (
            Fate::Stays,
            "The driver does not delete volumes: they remain in the project and may incur costs.",
        ),
        (Family::Complete | Family::Unknown, _) => (
            Fate::Depends,
            "It is not known whether this driver deletes volumes: assume that the data is lost.",
        ),
    }
}
