//! Which resources of a project belong to a cluster, by name and metadata.

/// The key of a volume's metadata with the cluster that made it (Cinder CSI).
pub const CSI_METADATA: &str = "cinder.csi.openstack.org/cluster";

/// With what the name of a Service's load balancer begins, whatever its cluster (cloud-provider-openstack).
pub const SERVICE_PREFIX: &str = "kube_service_";

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
        !text.is_empty() && (text == self.uuid || Some(text) == self.driver_id)
    }

    /// Returns whether a network, router or security group was made for the cluster: its description has
    /// the UUID, or its name has the driver's ID as Cluster API writes it:
    /// `k8s-clusterapi-cluster-<namespace>-<id>` or `k8s-cluster-<namespace>-<id>-secgroup-worker`. Heat
    /// has the stack's name in them, which Magnum does not return: those are not found.
    pub fn has_made(&self, name: &str, description: &str) -> bool {
        let of_cluster_api = name
            .strip_prefix("k8s-clusterapi-cluster-")
            .or_else(|| name.strip_prefix("k8s-cluster-"));
        let rest = of_cluster_api.and_then(|rest| self.after_id(rest));
        self.describes(description)
            || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-secgroup-"))
    }

    /// Returns whether a load balancer was made for the Kubernetes API of the cluster: its description has
    /// the UUID, or its name is `k8s-clusterapi-cluster-<namespace>-<id>-kubeapi`, as Cluster API writes
    /// it. Heat has the stack's name in it: the caller looks for the address of the API instead.
    pub fn has_made_api_balancer(&self, name: &str, description: &str) -> bool {
        let rest = name.strip_prefix("k8s-clusterapi-cluster-");
        let rest = rest.and_then(|rest| self.after_id(rest));
        self.describes(description) || rest == Some("-kubeapi")
    }

    /// Returns whether a description has the UUID as a word.
    fn describes(&self, description: &str) -> bool {
        let word = self.uuid;
        let mut places = description.match_indices(word);
        !word.is_empty()
            && places.any(|(at, _)| {
                let before = description[..at].chars().next_back();
                let after = description[at + word.len()..].chars().next();
                let ends = |letter: Option<char>| letter.is_none_or(|one| !one.is_alphanumeric());
                ends(before) && ends(after)
            })
    }

    /// Returns what follows `<namespace>-<id>`. The ID can have hyphens, and be the end of another one; the
    /// namespaces of the drivers, `magnum-system` and `magnum-<project>`, have none but the first.
    fn after_id<'t>(&self, text: &'t str) -> Option<&'t str> {
        let id = self.driver_id.filter(|id| !id.is_empty())?;
        let (_, name) = text.strip_prefix("magnum-")?.split_once('-')?;
        name.strip_prefix(id)
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
    let rest = name.strip_prefix(SERVICE_PREFIX)?;
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
