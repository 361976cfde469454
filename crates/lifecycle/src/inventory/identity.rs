//! Which resources of a project belong to a cluster, by name and metadata.

/// The key of a volume's metadata with the cluster that made it (Cinder CSI).
pub const CSI_METADATA: &str = "cinder.csi.openstack.org/cluster";

/// The names under which drivers register a cluster in the cloud. The name that users see is not one of
/// them: two clusters can have it, and resources of the other one would be shown for deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterNames<'a> {
    pub uuid: &'a str,
    /// `cluster_id` or `stack_id`.
    pub driver_id: Option<&'a str>,
}

/// A Kubernetes Service that made a load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfService {
    pub namespace: String,
    pub service: String,
}

impl ClusterNames<'_> {
    /// Returns whether a text is one of the names, such as the value of [`CSI_METADATA`] of a volume.
    pub fn is_one(&self, text: &str) -> bool {
        text == self.uuid || Some(text) == self.driver_id
    }

    /// Returns whether a network, router or security group was made for the cluster: its description has
    /// the UUID, or its name has the driver's ID as Cluster API writes it, such as
    /// `k8s-clusterapi-cluster-<namespace>-<id>` or `k8s-cluster-<namespace>-<id>-secgroup-worker`. Heat
    /// has the stack's name in them, which Magnum does not return: those are not found.
    pub fn has_made(&self, name: &str, description: &str) -> bool {
        let is_word = |text: &str, word: &str| {
            let mut places = text.match_indices(word);
            !word.is_empty()
                && places.any(|(at, _)| {
                    let before = text[..at].chars().next_back();
                    let after = text[at + word.len()..].chars().next();
                    let ends =
                        |letter: Option<char>| letter.is_none_or(|one| !one.is_alphanumeric());
                    ends(before) && ends(after)
                })
        };
        if is_word(description, self.uuid) {
            return true;
        }
        // the ID itself may have hyphens, and be the end of another one
        self.driver_id.is_some_and(|id| {
            let of_cluster_api = name
                .strip_prefix("k8s-clusterapi-cluster-")
                .or_else(|| name.strip_prefix("k8s-cluster-"));
            of_cluster_api.is_some_and(|rest| {
                let rest = rest
                    .split_once("-secgroup-")
                    .map_or(rest, |(owner, _)| owner);
                // namespaces of the drivers: magnum-system, or magnum-<project>
                let mut ends = rest.match_indices('-').map(|(at, _)| &rest[at + 1..]);
                rest.starts_with("magnum-") && !id.is_empty() && ends.any(|end| end == id)
            })
        })
    }
}

/// Returns the Service of a load balancer: by its name `kube_service_<cluster>_<namespace>_<service>`, or
/// its description `Kubernetes external service <namespace>/<service> from cluster <cluster>`.
pub fn service_of_load_balancer(
    cluster: &ClusterNames<'_>,
    name: &str,
    description: &str,
) -> Option<OfService> {
    by_name(cluster, name).or_else(|| by_description(cluster, description))
}

fn by_name(cluster: &ClusterNames<'_>, name: &str) -> Option<OfService> {
    let rest = name.strip_prefix("kube_service_")?;
    // names of Kubernetes have no underscore, those of a cluster may
    let mut parts = rest.rsplitn(3, '_');
    let (service, namespace, owner) = (parts.next()?, parts.next()?, parts.next()?);
    cluster.is_one(owner).then(|| OfService {
        namespace: namespace.to_owned(),
        service: service.to_owned(),
    })
}

fn by_description(cluster: &ClusterNames<'_>, description: &str) -> Option<OfService> {
    let rest = description.strip_prefix("Kubernetes ")?;
    let (what, owner) = rest.rsplit_once(" from cluster ")?;
    let (namespace, service) = what.rsplit(' ').next()?.split_once('/')?;
    cluster.is_one(owner).then(|| OfService {
        namespace: namespace.to_owned(),
        service: service.to_owned(),
    })
}
