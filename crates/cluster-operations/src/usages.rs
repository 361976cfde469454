//! What the project uses of its quotas, and the sizes of flavors. A service that the cloud lacks or that
//! refuses leaves a gap, which the checks report.
use crate::clients::Clients;
use portico_lifecycle::quota::{FlavorSize, Limit, Resource, Usage, Usages};
use portico_openstack::nova::Flavor;
use portico_openstack::rest::{QuotaUsage, ScopedToken};
use std::collections::BTreeMap;

/// Sizes by name and by ID.
pub type Flavors = BTreeMap<String, FlavorSize>;

/// Reads the quotas; `clusters` is the number of clusters of the project, if it is known.
pub async fn usages(clients: &Clients, token: &ScopedToken, clusters: Option<usize>) -> Usages {
    let (compute, volume, network, limits, balancers, magnum) = tokio::join!(
        clients.nova.limits(token),
        clients.cinder.limits(token),
        clients.neutron.quota(token),
        clients.octavia.quota(token),
        clients.octavia.load_balancers(token),
        clients.magnum.quota(token, &token.project_id),
    );
    let mut usages = Usages::new();
    let mut add = |resource, usage: QuotaUsage| {
        let limit = usage.limit.map_or(Limit::Unlimited, Limit::Max);
        let used = usage.used;
        usages.insert(resource, Usage { used, limit });
    };
    if let Ok(compute) = compute {
        add(Resource::Instances, compute.instances);
        add(Resource::Cores, compute.cores);
        add(Resource::RamMib, compute.ram);
    }
    if let Ok(volume) = volume {
        add(Resource::Volumes, volume.volumes);
        add(Resource::VolumeGib, volume.gigabytes);
    }
    if let Ok(Some(floating_ips)) = network.map(|quota| quota.floating_ips) {
        add(Resource::FloatingIps, floating_ips);
    }
    if let (Ok(limits), Ok(balancers)) = (limits, balancers)
        && balancers.cut.is_none()
        // `None` may be the cloud's default, which is not known
        && let Some(limit) = limits.load_balancers
    {
        let usage = QuotaUsage {
            used: to_u64(balancers.items.len()),
            limit: Some(limit),
        };
        add(Resource::LoadBalancers, usage);
    }
    if let (Ok(quota), Some(clusters)) = (magnum, clusters) {
        let usage = QuotaUsage {
            used: to_u64(clusters),
            limit: u64::try_from(quota.hard_limit).ok(),
        };
        add(Resource::Clusters, usage);
    }
    usages
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Reads the flavors; empty if Nova cannot be asked.
pub async fn flavors(clients: &Clients, token: &ScopedToken) -> Flavors {
    let Ok(listing) = clients.nova.flavors(token).await else {
        return Flavors::new();
    };
    let size = |flavor: &Flavor| FlavorSize {
        vcpus: flavor.vcpus.into(),
        ram_mib: flavor.ram,
    };
    let flavors = &listing.items;
    let by_name = flavors.iter().map(|one| (one.name.clone(), size(one)));
    // an ID wins over a name that looks like it
    let by_id = flavors.iter().map(|one| (one.id.clone(), size(one)));
    by_name.chain(by_id).collect()
}
