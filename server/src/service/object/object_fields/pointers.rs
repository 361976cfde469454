//! Fields that hold one value, by kind.
use portico_domain::panel::ResourceRef;

/// Returns the labels and the JSON pointers of a kind's fields, in reading order.
pub fn of(resource: &ResourceRef) -> &'static [(&'static str, &'static str)] {
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &[
            ("Node", "/spec/nodeName"),
            ("Pod IP", "/status/podIP"),
            ("ServiceAccount", "/spec/serviceAccountName"),
            ("Quality of service", "/status/qosClass"),
            ("Restart policy", "/spec/restartPolicy"),
            ("Priority class", "/spec/priorityClassName"),
        ],
        ("apps", "deployments") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
            ("Up to date", "/status/updatedReplicas"),
            ("Strategy", "/spec/strategy/type"),
            ("Minimum ready seconds", "/spec/minReadySeconds"),
        ],
        ("apps", "statefulsets") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
            ("Service", "/spec/serviceName"),
            ("Update strategy", "/spec/updateStrategy/type"),
            ("Pod management", "/spec/podManagementPolicy"),
        ],
        ("apps", "daemonsets") => &[
            ("Nodes wanted", "/status/desiredNumberScheduled"),
            ("Ready", "/status/numberReady"),
            ("Update strategy", "/spec/updateStrategy/type"),
        ],
        ("apps", "replicasets") => &[
            ("Replicas wanted", "/spec/replicas"),
            ("Ready", "/status/readyReplicas"),
        ],
        ("batch", _) => batch(resource),
        ("networking.k8s.io" | "extensions", "ingresses")
        | ("networking.k8s.io", "ingressclasses")
        | ("", "services") => network(resource),
        ("", "persistentvolumeclaims" | "persistentvolumes")
        | ("storage.k8s.io", "storageclasses") => storage(resource),
        ("", "nodes") => &[
            ("Kubelet", "/status/nodeInfo/kubeletVersion"),
            ("Operating system", "/status/nodeInfo/osImage"),
            ("Kernel", "/status/nodeInfo/kernelVersion"),
            ("Architecture", "/status/nodeInfo/architecture"),
            (
                "Container runtime",
                "/status/nodeInfo/containerRuntimeVersion",
            ),
            ("CPU for pods", "/status/allocatable/cpu"),
            ("Memory for pods", "/status/allocatable/memory"),
            ("Maximum number of pods", "/status/allocatable/pods"),
            ("Pod network", "/spec/podCIDR"),
            ("Provider ID", "/spec/providerID"),
        ],
        ("autoscaling", "horizontalpodautoscalers") => &[
            ("Target", "/spec/scaleTargetRef/name"),
            ("Target's kind", "/spec/scaleTargetRef/kind"),
            ("Minimum replicas", "/spec/minReplicas"),
            ("Maximum replicas", "/spec/maxReplicas"),
            ("Current replicas", "/status/currentReplicas"),
            ("Desired replicas", "/status/desiredReplicas"),
            ("Last scaled", "/status/lastScaleTime"),
        ],
        ("policy", "poddisruptionbudgets") => &[
            ("Minimum available", "/spec/minAvailable"),
            ("Maximum unavailable", "/spec/maxUnavailable"),
            ("Disruptions allowed now", "/status/disruptionsAllowed"),
            ("Pods matched", "/status/expectedPods"),
            ("Healthy pods", "/status/currentHealthy"),
            ("Healthy pods required", "/status/desiredHealthy"),
            (
                "Eviction of unhealthy pods",
                "/spec/unhealthyPodEvictionPolicy",
            ),
        ],
        ("scheduling.k8s.io", "priorityclasses") => &[
            ("Value", "/value"),
            ("Default", "/globalDefault"),
            ("Preemption", "/preemptionPolicy"),
            ("Description", "/description"),
        ],
        ("apiextensions.k8s.io", "customresourcedefinitions") => &[
            ("Group", "/spec/group"),
            ("Kind", "/spec/names/kind"),
            ("Plural", "/spec/names/plural"),
            ("Scope", "/spec/scope"),
            ("Conversion", "/spec/conversion/strategy"),
        ],
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            &[("Role", "/roleRef/name"), ("Role's kind", "/roleRef/kind")]
        }
        ("", "serviceaccounts") => &[("Mounts its token", "/automountServiceAccountToken")],
        ("", "secrets") => &[("Type", "/type"), ("Immutable", "/immutable")],
        ("", "configmaps") => &[("Immutable", "/immutable")],
        ("", "namespaces") => &[("Phase", "/status/phase")],
        _ => &[],
    }
}

fn batch(resource: &ResourceRef) -> &'static [(&'static str, &'static str)] {
    match resource.plural.as_str() {
        "jobs" => &[
            ("Completions wanted", "/spec/completions"),
            ("Parallelism", "/spec/parallelism"),
            ("Active", "/status/active"),
            ("Succeeded", "/status/succeeded"),
            ("Failed", "/status/failed"),
            ("Tries before giving up", "/spec/backoffLimit"),
            ("Deadline in seconds", "/spec/activeDeadlineSeconds"),
            ("Started", "/status/startTime"),
            ("Completed", "/status/completionTime"),
            (
                "Seconds until it is deleted",
                "/spec/ttlSecondsAfterFinished",
            ),
        ],
        "cronjobs" => &[
            ("Schedule", "/spec/schedule"),
            ("Time zone", "/spec/timeZone"),
            ("Suspended", "/spec/suspend"),
            ("Last run", "/status/lastScheduleTime"),
            ("Last success", "/status/lastSuccessfulTime"),
            ("Overlap", "/spec/concurrencyPolicy"),
            (
                "Starting deadline in seconds",
                "/spec/startingDeadlineSeconds",
            ),
            ("Successful jobs kept", "/spec/successfulJobsHistoryLimit"),
            ("Failed jobs kept", "/spec/failedJobsHistoryLimit"),
        ],
        _ => &[],
    }
}

fn network(resource: &ResourceRef) -> &'static [(&'static str, &'static str)] {
    match resource.plural.as_str() {
        "services" => &[
            ("Type", "/spec/type"),
            ("Cluster IP", "/spec/clusterIP"),
            ("External name", "/spec/externalName"),
            ("Load balancer IP", "/spec/loadBalancerIP"),
            ("Load balancer class", "/spec/loadBalancerClass"),
            ("Session affinity", "/spec/sessionAffinity"),
            ("IP family policy", "/spec/ipFamilyPolicy"),
            ("External traffic", "/spec/externalTrafficPolicy"),
            ("Internal traffic", "/spec/internalTrafficPolicy"),
            ("Health check node port", "/spec/healthCheckNodePort"),
            (
                "Publishes addresses that are not ready",
                "/spec/publishNotReadyAddresses",
            ),
        ],
        "ingresses" => &[
            ("Class", "/spec/ingressClassName"),
            ("Default Service", "/spec/defaultBackend/service/name"),
        ],
        "ingressclasses" => &[
            ("Controller", "/spec/controller"),
            ("Parameters", "/spec/parameters/name"),
        ],
        _ => &[],
    }
}

fn storage(resource: &ResourceRef) -> &'static [(&'static str, &'static str)] {
    match resource.plural.as_str() {
        "persistentvolumeclaims" => &[
            ("Asked for", "/spec/resources/requests/storage"),
            ("Capacity", "/status/capacity/storage"),
            ("Storage class", "/spec/storageClassName"),
            ("Volume", "/spec/volumeName"),
            ("Volume mode", "/spec/volumeMode"),
            ("Made from", "/spec/dataSource/name"),
        ],
        "persistentvolumes" => &[
            ("Capacity", "/spec/capacity/storage"),
            ("Storage class", "/spec/storageClassName"),
            ("Reclaim policy", "/spec/persistentVolumeReclaimPolicy"),
            ("Claim", "/spec/claimRef/name"),
            ("Claim's namespace", "/spec/claimRef/namespace"),
            ("Volume mode", "/spec/volumeMode"),
            ("CSI driver", "/spec/csi/driver"),
            ("Volume handle", "/spec/csi/volumeHandle"),
            ("Path on the node", "/spec/hostPath/path"),
            ("Local path", "/spec/local/path"),
            ("NFS server", "/spec/nfs/server"),
            ("NFS path", "/spec/nfs/path"),
            ("Cinder volume", "/spec/cinder/volumeID"),
            ("Message", "/status/message"),
        ],
        "storageclasses" => &[
            ("Provisioner", "/provisioner"),
            ("Reclaim policy", "/reclaimPolicy"),
            ("Volume binding", "/volumeBindingMode"),
            ("Can be expanded", "/allowVolumeExpansion"),
        ],
        _ => &[],
    }
}
