//! Quotas now and after.
mod size;

use crate::{
    driver::Family,
    quota::{
        Change, ClusterSize, Fit, FlavorSize, GroupSize, Limit, Projection, Resource, Usage,
        Usages, creation, project, resize, surge,
    },
};

const SMALL: FlavorSize = FlavorSize {
    vcpus: 2,
    ram_mib: 4096,
};

fn group(nodes: u64) -> GroupSize {
    GroupSize {
        nodes,
        flavor: SMALL,
        ..GroupSize::default()
    }
}

fn cluster(family: Family) -> ClusterSize {
    ClusterSize {
        control_plane: GroupSize {
            boot_volume_gib: 20,
            etcd_volume_gib: 5,
            ..group(3)
        },
        workers: vec![GroupSize {
            boot_volume_gib: 40,
            ..group(2)
        }],
        has_load_balancer: true,
        is_public: true,
        has_floating_ip_per_node: true,
        family,
    }
}

fn usages(entries: &[(Resource, u64, u64)]) -> Usages {
    entries
        .iter()
        .map(|(resource, used, limit)| {
            let limit = Limit::Max(*limit);
            (*resource, Usage { used: *used, limit })
        })
        .collect()
}

fn one(usages: &Usages, change: &Change, resource: Resource) -> Projection {
    project(usages, change, &Change::new())
        .into_iter()
        .find(|projection| projection.resource == resource)
        .unwrap()
}

#[test]
fn a_creation_needs_servers_volumes_addresses_and_a_load_balancer() {
    let change = creation(&cluster(Family::ClusterApi));
    let expected = Change::from([
        (Resource::Clusters, 1),
        (Resource::Instances, 5),
        (Resource::Cores, 10),
        (Resource::RamMib, 5 * 4096),
        (Resource::Volumes, 3 + 3 + 2),
        (Resource::VolumeGib, 3 * 20 + 3 * 5 + 2 * 40),
        (Resource::FloatingIps, 1),
        (Resource::LoadBalancers, 1),
    ]);
    assert_eq!(change, expected);
}

#[test]
fn heat_gives_each_node_a_floating_ip_and_etcd_a_load_balancer() {
    let change = creation(&cluster(Family::Heat));
    assert_eq!(change[&Resource::FloatingIps], 6);
    assert_eq!(change[&Resource::LoadBalancers], 2);
}

#[test]
fn a_private_cluster_without_volumes_needs_none() {
    let size = ClusterSize {
        control_plane: group(1),
        workers: vec![group(1)],
        has_load_balancer: false,
        is_public: false,
        has_floating_ip_per_node: false,
        family: Family::CapiHelm,
    };
    let change = creation(&size);
    for resource in [
        Resource::Volumes,
        Resource::VolumeGib,
        Resource::FloatingIps,
        Resource::LoadBalancers,
    ] {
        assert!(!change.contains_key(&resource), "{resource:?}");
    }
}

#[test]
fn a_resize_needs_only_the_difference() {
    let grown = resize(&group(2), 5);
    assert_eq!(grown[&Resource::Instances], 3);
    assert_eq!(grown[&Resource::Cores], 6);
    let shrunk = resize(&group(5), 2);
    assert_eq!(shrunk[&Resource::RamMib], -3 * 4096);
    assert!(resize(&group(2), 2).is_empty());
}

#[test]
fn too_much_is_exceeded_by_the_missing_amount() {
    let usages = usages(&[(Resource::Cores, 18, 20), (Resource::Instances, 5, 10)]);
    let change = resize(&group(1), 3);
    let cores = one(&usages, &change, Resource::Cores);
    assert_eq!(cores.fit, Fit::Exceeded(2));
    assert_eq!(cores.after, Some(22));
    assert_eq!(
        cores.sentence(),
        "18 of 20 cores used; 4 more needed, 2 too many."
    );
    assert_eq!(one(&usages, &change, Resource::Instances).fit, Fit::Fits);
}

#[test]
fn a_quota_without_room_for_a_later_upgrade_is_marked() {
    let usages = usages(&[(Resource::Instances, 8, 10)]);
    let groups = [group(3), group(0)];
    let change = resize(&group(1), 3);
    let projections = project(&usages, &change, &surge(&groups));
    let instances = projections
        .iter()
        .find(|projection| projection.resource == Resource::Instances)
        .unwrap();
    assert_eq!(instances.fit, Fit::FitsWithoutSurge);
    assert!(instances.sentence().contains("later upgrade"));
}

#[test]
fn what_is_unlimited_or_freed_fits_and_what_was_not_read_is_unknown() {
    let mut usages = usages(&[(Resource::Cores, 30, 20)]);
    let shrink = resize(&group(3), 1);
    let cores = one(&usages, &shrink, Resource::Cores);
    assert_eq!(cores.fit, Fit::Fits);
    assert_eq!(cores.sentence(), "30 of 20 cores used; 4 freed.");
    let instances = one(&usages, &shrink, Resource::Instances);
    assert_eq!(instances.fit, Fit::Unknown);
    assert_eq!(instances.after, None);
    assert!(instances.sentence().contains("could not be read"));
    usages.insert(
        Resource::Cores,
        Usage {
            used: 30,
            limit: Limit::Unlimited,
        },
    );
    let grow = resize(&group(1), 100);
    assert_eq!(one(&usages, &grow, Resource::Cores).fit, Fit::Fits);
}
