//! What a creation or a resize needs of the project's quotas, now and after.
//!
//! Limits are those of Nova (instances, cores, RAM), Cinder (volumes, GiB), Neutron (floating IPs),
//! Octavia (load balancers) and Magnum (clusters). The caller reads and maps them.
mod size;

use std::collections::BTreeMap;

pub use size::{UnknownFlavor, size};

use crate::driver::Family;

/// A resource with a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Magnum's clusters.
    Clusters,
    /// Nova's servers.
    Instances,
    /// Nova's virtual CPUs.
    Cores,
    /// Nova's RAM in MiB.
    RamMib,
    /// Cinder's volumes.
    Volumes,
    /// The size of Cinder's volumes in GiB.
    VolumeGib,
    /// Neutron's floating IPs.
    FloatingIps,
    /// Octavia's load balancers.
    LoadBalancers,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 8] = [
        Self::Clusters,
        Self::Instances,
        Self::Cores,
        Self::RamMib,
        Self::Volumes,
        Self::VolumeGib,
        Self::FloatingIps,
        Self::LoadBalancers,
    ];

    /// Returns the name to show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Instances => "instances",
            Self::Cores => "cores",
            Self::RamMib => "MiB of RAM",
            Self::Volumes => "volumes",
            Self::VolumeGib => "GiB of volumes",
            Self::FloatingIps => "floating IPs",
            Self::LoadBalancers => "load balancers",
        }
    }
}

/// The limit of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many.
    Max(u64),
    /// OpenStack's -1.
    Unlimited,
}

/// The use of a resource at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// In the unit of the resource.
    pub used: u64,
    /// The quota.
    pub limit: Limit,
}

/// What is used and permitted, by resource. A resource that the caller could not read is absent.
pub type Usages = BTreeMap<Resource, Usage>;

/// The size of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlavorSize {
    /// Virtual CPUs.
    pub vcpus: u64,
    /// RAM in MiB.
    pub ram_mib: u64,
}

/// Servers of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSize {
    /// Number of servers.
    pub nodes: u64,
    /// Size of each.
    pub flavor: FlavorSize,
    /// `boot_volume_size` in GiB; 0: the servers boot from their flavor's disk.
    pub boot_volume_gib: u64,
    /// `etcd_volume_size` of the control plane in GiB; 0: none.
    pub etcd_volume_gib: u64,
    /// `docker_volume_size` in GiB; 0: none.
    pub docker_volume_gib: u64,
}

/// A cluster to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSize {
    /// The control plane.
    pub control_plane: GroupSize,
    /// The groups of workers.
    pub workers: Vec<GroupSize>,
    /// `master_lb_enabled`.
    pub has_load_balancer: bool,
    /// The API has a floating IP.
    pub is_public: bool,
    /// `floating_ip_enabled`; only Heat gives one to each node.
    pub has_floating_ip_per_node: bool,
    /// The driver.
    pub family: Family,
}

/// An amount of each resource; negative where it is freed.
pub type Change = BTreeMap<Resource, i64>;

/// Returns what a new cluster uses. Load balancers and volumes of its workloads come on top.
pub fn creation(size: &ClusterSize) -> Change {
    let mut change = Change::from([(Resource::Clusters, 1)]);
    let groups = std::iter::once(&size.control_plane).chain(&size.workers);
    let mut nodes = 0;
    for group in groups {
        add_group(&mut change, group, to_signed(group.nodes));
        nodes += to_signed(group.nodes);
    }
    let mut floating_ips = i64::from(size.is_public);
    if size.family == Family::Heat && size.has_floating_ip_per_node {
        floating_ips += nodes;
    }
    add(&mut change, Resource::FloatingIps, floating_ips);
    if size.has_load_balancer {
        // the Heat driver makes a second one for etcd
        let count = if size.family == Family::Heat { 2 } else { 1 };
        add(&mut change, Resource::LoadBalancers, count);
    }
    change
}

/// Returns what a node group uses more (or less) with another number of nodes.
pub fn resize(group: &GroupSize, nodes: u64) -> Change {
    let mut change = Change::new();
    add_group(
        &mut change,
        group,
        to_signed(nodes) - to_signed(group.nodes),
    );
    change
}

/// Returns what a later upgrade needs for a moment: one more node in each group.
pub fn surge(groups: &[GroupSize]) -> Change {
    let mut change = Change::new();
    for group in groups.iter().filter(|group| group.nodes > 0) {
        add_group(&mut change, group, 1);
    }
    change
}

fn add_group(change: &mut Change, group: &GroupSize, nodes: i64) {
    let of_all = |amount: u64| to_signed(amount).saturating_mul(nodes);
    add(change, Resource::Instances, nodes);
    add(change, Resource::Cores, of_all(group.flavor.vcpus));
    add(change, Resource::RamMib, of_all(group.flavor.ram_mib));
    for gib in [
        group.boot_volume_gib,
        group.etcd_volume_gib,
        group.docker_volume_gib,
    ] {
        if gib > 0 {
            add(change, Resource::Volumes, nodes);
            add(change, Resource::VolumeGib, of_all(gib));
        }
    }
}

fn add(change: &mut Change, resource: Resource, amount: i64) {
    if amount != 0 {
        let sum = change.entry(resource).or_default();
        *sum = sum.saturating_add(amount);
    }
}

fn to_signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// Whether a change fits into a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// There is room.
    Fits,
    /// It fits, but not with one more node in each group, as a later upgrade needs.
    FitsWithoutSurge,
    /// It lacks this much.
    Exceeded(u64),
    /// The quota could not be read.
    Unknown,
}

/// One bar of the page: a quota now and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Projection {
    /// What it is about.
    pub resource: Resource,
    /// Now; `None`: it could not be read.
    pub usage: Option<Usage>,
    /// What is needed; negative: freed.
    pub change: i64,
    /// Used afterwards.
    pub after: Option<u64>,
    /// Whether the change fits.
    pub fit: Fit,
}

impl Projection {
    /// Returns a sentence such as "20 of 20 cores used; 4 more needed, 4 too many."
    pub fn sentence(&self) -> String {
        let name = self.resource.name();
        let Some(usage) = self.usage else {
            let what = if self.change < 0 {
                "freed"
            } else {
                "more needed"
            };
            let amount = self.change.unsigned_abs();
            return format!("{amount} {name} {what}; the quota could not be read.");
        };
        let limit = match usage.limit {
            Limit::Max(limit) => limit.to_string(),
            Limit::Unlimited => "unlimited".to_owned(),
        };
        let now = format!("{} of {limit} {name} used", usage.used);
        match self.fit {
            Fit::Exceeded(missing) => {
                format!("{now}; {} more needed, {missing} too many.", self.change)
            }
            Fit::FitsWithoutSurge => format!(
                "{now}; {} more needed. It fits, but a later upgrade has no room for one more node in \
                 each group.",
                self.change
            ),
            Fit::Fits | Fit::Unknown if self.change < 0 => {
                format!("{now}; {} freed.", self.change.unsigned_abs())
            }
            Fit::Fits | Fit::Unknown => format!("{now}; {} more needed.", self.change),
        }
    }
}

/// Compares a change with the quotas, one entry for each resource that changes. `surge` is what a later
/// upgrade needs on top; empty: not considered.
pub fn project(usages: &Usages, change: &Change, surge: &Change) -> Vec<Projection> {
    change
        .iter()
        .map(|(resource, change)| {
            let usage = usages.get(resource).copied();
            let surge = surge.get(resource).copied().unwrap_or_default();
            let after = usage.map(|usage| usage.used.saturating_add_signed(*change));
            Projection {
                resource: *resource,
                usage,
                change: *change,
                after,
                fit: usage.map_or(Fit::Unknown, |usage| fit(usage, *change, surge)),
            }
        })
        .collect()
}

fn fit(usage: Usage, change: i64, surge: i64) -> Fit {
    let Limit::Max(limit) = usage.limit else {
        return Fit::Fits;
    };
    let after = usage.used.saturating_add_signed(change);
    // what is freed fits, also where the quota was lowered below the use
    if change <= 0 {
        return Fit::Fits;
    }
    if after > limit {
        return Fit::Exceeded(after - limit);
    }
    if after.saturating_add_signed(surge) > limit {
        return Fit::FitsWithoutSurge;
    }
    Fit::Fits
}
