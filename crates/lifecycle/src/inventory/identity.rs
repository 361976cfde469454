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
