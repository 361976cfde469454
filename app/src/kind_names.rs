//! The plural names of Kubernetes' own kinds, for headings that are shown before the cluster has
//! responded. Other kinds are named by discovery.
use crate::format;
use portico_domain::panel::ResourceRef;

/// The API server's own kinds up to 1.34, spelled as in the reference.
const BUILT_IN: [&str; 65] = [
    "APIServices",
    "Bindings",
    "CertificateSigningRequests",
    "ClusterRoleBindings",
    "ClusterRoles",
    "ClusterTrustBundles",
    "ComponentStatuses",
    "ConfigMaps",
    "ControllerRevisions",
    "CronJobs",
    "CSIDrivers",
    "CSINodes",
    "CSIStorageCapacities",
    "CustomResourceDefinitions",
    "DaemonSets",
    "Deployments",
    "DeviceClasses",
    "Endpoints",
    "EndpointSlices",
    "Events",
    "FlowSchemas",
    "HorizontalPodAutoscalers",
    "IngressClasses",
    "Ingresses",
    "IPAddresses",
    "Jobs",
    "LeaseCandidates",
    "Leases",
    "LimitRanges",
    "MutatingAdmissionPolicies",
    "MutatingAdmissionPolicyBindings",
    "MutatingWebhookConfigurations",
    "Namespaces",
    "NetworkPolicies",
    "Nodes",
    "PersistentVolumeClaims",
    "PersistentVolumes",
    "PodDisruptionBudgets",
    "Pods",
    "PodSecurityPolicies",
    "PodTemplates",
    "PriorityClasses",
    "PriorityLevelConfigurations",
    "ReplicaSets",
    "ReplicationControllers",
    "ResourceClaims",
    "ResourceClaimTemplates",
    "ResourceQuotas",
    "ResourceSlices",
    "RoleBindings",
    "Roles",
    "RuntimeClasses",
    "Secrets",
    "ServiceAccounts",
    "ServiceCIDRs",
    "Services",
    "StatefulSets",
    "StorageClasses",
    "StorageVersionMigrations",
    "StorageVersions",
    "ValidatingAdmissionPolicies",
    "ValidatingAdmissionPolicyBindings",
    "ValidatingWebhookConfigurations",
    "VolumeAttachments",
    "VolumeAttributesClasses",
];

/// Returns the name of a kind that every cluster has; `None` for another.
pub fn built_in(resource: &ResourceRef) -> Option<&'static str> {
    let group = resource.group.as_str();
    if group.contains('.') && !group.ends_with(".k8s.io") {
        return None;
    }
    BUILT_IN
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(&resource.plural))
}

/// The kinds of [`BUILT_IN`] whose objects are in no namespace.
const CLUSTER_SCOPED: [&str; 33] = [
    "apiservices",
    "certificatesigningrequests",
    "clusterrolebindings",
    "clusterroles",
    "clustertrustbundles",
    "componentstatuses",
    "csidrivers",
    "csinodes",
    "customresourcedefinitions",
    "deviceclasses",
    "flowschemas",
    "ingressclasses",
    "ipaddresses",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "namespaces",
    "nodes",
    "persistentvolumes",
    "podsecuritypolicies",
    "priorityclasses",
    "prioritylevelconfigurations",
    "resourceslices",
    "runtimeclasses",
    "servicecidrs",
    "storageclasses",
    "storageversionmigrations",
    "storageversions",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
    "volumeattachments",
    "volumeattributesclasses",
];

/// Returns whether a kind's objects are in namespaces; `None` if only discovery knows.
pub fn is_namespaced(resource: &ResourceRef) -> Option<bool> {
    built_in(resource)?;
    let plural = resource.plural.as_str();
    Some(!CLUSTER_SCOPED.contains(&plural))
}

/// Returns the name of a kind, or the plural in the address if the kind is not known.
pub fn plural(resource: &ResourceRef) -> String {
    built_in(resource).map_or_else(|| format::capitalised(&resource.plural), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cluster_scoped_kind_is_a_built_in_one() {
        for plural in CLUSTER_SCOPED {
            let resource = ResourceRef::core(plural);
            assert_eq!(is_namespaced(&resource), Some(false), "{plural}");
        }
        assert_eq!(is_namespaced(&ResourceRef::core("pods")), Some(true));
        let custom = ResourceRef::new("data.example.org", "v1", "nodes");
        assert_eq!(is_namespaced(&custom), None);
    }

    #[test]
    fn finding_p9_built_in_kinds_have_the_names_of_the_api() {
        for (group, plural_of_it, name) in [
            ("", "persistentvolumeclaims", "PersistentVolumeClaims"),
            (
                "autoscaling",
                "horizontalpodautoscalers",
                "HorizontalPodAutoscalers",
            ),
            ("networking.k8s.io", "networkpolicies", "NetworkPolicies"),
            ("storage.k8s.io", "csidrivers", "CSIDrivers"),
        ] {
            let resource = ResourceRef::new(group, "v1", plural_of_it);
            assert_eq!(built_in(&resource), Some(name));
        }
        let other = ResourceRef::new("data.example.org", "v1", "backups");
        assert_eq!((built_in(&other), plural(&other)), (None, "Backups".into()));
    }
}
