//! The size of a cluster from its specification.
use std::collections::BTreeMap;

use super::{ClusterSize, FlavorSize, GroupSize};
use crate::{driver::Family, labels::Labels, spec::ClusterDocument};

/// A flavor whose size the caller does not know, or a group without a flavor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the size of the flavor {0:?} is not known")]
pub struct UnknownFlavor(pub String);

/// Returns the size of a specification whose defaults are filled in ([`crate::spec::effective`]).
/// `labels` are those of the template, merged with those of the request
/// ([`crate::spec::request_labels`]); `flavors` are by name and by ID.
///
/// # Errors
/// [`UnknownFlavor`] for the first flavor that is not among them.
pub fn size(
    document: &ClusterDocument,
    labels: &Labels,
    flavors: &BTreeMap<String, FlavorSize>,
    family: Family,
) -> Result<ClusterSize, UnknownFlavor> {
    let spec = &document.spec;
    let gib = |key: &str| -> u64 {
        let value = labels.get(key).and_then(|value| value.parse().ok());
        value.unwrap_or_default()
    };
    let group = |nodes: Option<u32>, flavor: &Option<String>| {
        let name = flavor.clone().unwrap_or_default();
        let size = flavors.get(&name).copied();
        Ok(GroupSize {
            nodes: nodes.unwrap_or(1).into(),
            flavor: size.ok_or(UnknownFlavor(name))?,
            boot_volume_gib: gib("boot_volume_size"),
            etcd_volume_gib: 0,
            docker_volume_gib: spec.docker_volume_size.unwrap_or_default().into(),
        })
    };
    let masters = &spec.control_plane;
    let workers = spec.node_groups.iter();
    let has_floating_ip_per_node = spec.network.floating_ips.unwrap_or_default();
    let has_api_address = labels
        .get("master_lb_floating_ip_enabled")
        .map(|value| value.eq_ignore_ascii_case("true"));
    Ok(ClusterSize {
        control_plane: GroupSize {
            // each driver reads its own label
            etcd_volume_gib: gib("etcd_volume_size").max(gib("etcd_blockdevice_size")),
            ..group(masters.replicas, &masters.flavor)?
        },
        workers: workers
            .map(|workers| group(workers.replicas, &workers.flavor))
            .collect::<Result<_, _>>()?,
        has_load_balancer: masters.load_balancer.unwrap_or_default(),
        // the Cluster API drivers make the API public unless the label forbids it
        is_public: has_api_address.unwrap_or(family != Family::Heat || has_floating_ip_per_node),
        has_floating_ip_per_node,
        family,
    })
}
