//! The failures that users of Magnum report most, as the texts that Magnum, its drivers and the services below
//! them give.
use crate::failure::Class;

/// The texts that were written for this test from the description of a failure, because it has no text of
/// its own or none was found, or that are Portico's own. All others are quoted from the source of Magnum and of
/// the services below it, or from the threads that the research names, with other IDs and addresses.
pub const WRITTEN: [u8; 10] = [11, 13, 16, 24, 26, 27, 29, 42, 46, 50];

/// Number of the failure in the research (`lifecycle-anchors.md`, section 3), text, class.
pub const TEXTS: &[(u8, &str, Class)] = &[
    (
        1,
        "Failedcreatenetwork: Failed to create network k8s-clusterapi-cluster-magnum-system-cluster-2: \
         Expected HTTP response code [201 202] when accessing [POST https://network.example/v2.0/networks], \
         but got 409 instead {\"NeutronError\": {\"type\": \"OverQuota\", \"message\": \"Quota exceeded for \
         resources: ['network'].\", \"detail\": \"\"}}",
        Class::Quota,
    ),
    (
        2,
        "CREATE aborted (Task create from Stack \"k8s\" timed out)",
        Class::Timeout,
    ),
    (
        3,
        "Waiting on ['LoadBalancerReady', 'NetworkReady']",
        Class::Waiting,
    ),
    (
        4,
        "CAPI Cluster status: . CAPI OpenstackCluster status reason: Faileddeletesecuritygroup: Failed to \
         delete security group k8s-cluster-magnum-system-kube-33oj6-secgroup-controlplane with id c51c6577: \
         Expected HTTP response code [202 204] when accessing [DELETE https://network.example], but got 409 \
         instead",
        Class::NetworkInUse,
    ),
    (
        5,
        "Faileddeletenetwork: Failed to delete network 1f2e: got 409 instead {\"NeutronError\": {\"type\": \
         \"NetworkInUse\", \"message\": \"Unable to complete operation on network 1f2e. There are one or more \
         ports still in use on the network.\"}}",
        Class::NetworkInUse,
    ),
    (
        6,
        "{\"NeutronError\": {\"message\": \"Security Group b9d2ad4d in use.\", \"type\": \
         \"SecurityGroupInUse\", \"detail\": \"\"}}",
        Class::NetworkInUse,
    ),
    (
        7,
        "Unable to complete operation on subnet 77ab: One or more ports have an IP allocation from this \
         subnet.",
        Class::NetworkInUse,
    ),
    (
        8,
        "providerClient authentication err: Expected HTTP response code [201 202] when accessing [POST \
         https://keystone.example/v3/auth/tokens], but got 404 instead: {\"error\":{\"code\":404,\
         \"message\":\"Could not find Application Credential: 818a68654b65417396f29f9c1fa9cd24.\"}}",
        Class::Credential,
    ),
    (
        9,
        "Could not find project: 915d66fac5204c35aa2ac52c13254e05. (HTTP 404)",
        Class::ProjectMissing,
    ),
    (
        10,
        "You are not authorized to perform the requested action: \
         identity:list_application_credentials. (HTTP 403) (Request-ID: req-1)",
        Class::CredentialCleanup,
    ),
    (
        11,
        "Failed to delete trust 5a3f. Could not find trust: 5a3f.",
        Class::CredentialCleanup,
    ),
    (
        12,
        "machinedeployments.cluster.x-k8s.io \"kube-7j396-gpu-x2x9k\" not found",
        Class::StaleRecord,
    ),
    (
        13,
        "Nodegroup gpu is in DELETE_COMPLETE and was not removed",
        Class::StaleRecord,
    ),
    (
        14,
        "Upgrading a cluster when status is \"UPDATE_FAILED\" is not supported.",
        Class::State,
    ),
    (
        15,
        "ApiError: admission webhook \"validation.cluster.cluster.x-k8s.io\" denied the request: \
         spec.topology.version: Invalid value: \"v1.31.1\": version cannot be increased from \"1.27.3\" to \
         \"1.31.1\"",
        Class::Version,
    ),
    (
        16,
        "ClusterResourceSet kube-7j396: failed to get secret: Secret \"kube-7j396-csi\" not found",
        Class::AddOn,
    ),
    (17, "Rolling out 2 not up-to-date replicas", Class::Waiting),
    (
        18,
        "error when evicting pods/\"db-0\" -n \"shop\" (will retry after 5s): Cannot evict pod as it would \
         violate the pod's disruption budget.",
        Class::Drain,
    ),
    (
        19,
        "Policy doesn't allow certificate:get to be performed.",
        Class::Forbidden,
    ),
    (
        20,
        "spec.topology.version: Invalid value: \"v1.25.3\": version cannot be decreased from \"1.31.0\" to \
         \"1.25.3\"",
        Class::Version,
    ),
    (
        21,
        "cannot change cluster property(ies) labels.",
        Class::Immutable,
    ),
    (
        22,
        "cannot change cluster property(ies) merge_labels.",
        Class::Immutable,
    ),
    (
        23,
        "Invalid input for field/attribute node_count. Value: '3'. Wrong type. Expected an integer.",
        Class::InvalidRequest,
    ),
    (
        24,
        "Cluster resize is not supported in the provided microversion.",
        Class::ApiVersion,
    ),
    (
        25,
        "Unexpected error while running command. Command: helm upgrade test-cluster-jde45zh7dcud \
         openstack-cluster --install Exit code: 1 Stderr: 'Error: UPGRADE FAILED: another operation \
         (install/upgrade/rollback) is in progress'",
        Class::Concurrent,
    ),
    (
        26,
        "node_taints are not applied by this driver",
        Class::Unsupported,
    ),
    (
        27,
        "Scaling up MachineDeployment to 5 replicas (actual 2)",
        Class::Waiting,
    ),
    (
        28,
        "min_node_count (4) should be less or equal to node_count (3)",
        Class::Bounds,
    ),
    (
        29,
        "node group gpu cannot scale from zero: capacity annotations are missing",
        Class::Bounds,
    ),
    (
        30,
        "pod didn't trigger scale-up: 1 max node group size reached",
        Class::Bounds,
    ),
    (
        31,
        "Get \"https://203.0.113.8:6443/readyz\": dial tcp 203.0.113.8:6443: connect: connection refused",
        Class::ApiUnreachable,
    ),
    (
        32,
        "The cluster shop is not accessible.",
        Class::ApiUnreachable,
    ),
    (
        33,
        "Failed to pull image \"registry.k8s.io/pause:3.9\": proxyconnect tcp: dial tcp 10.0.0.9:3128: i/o \
         timeout",
        Class::ImagePull,
    ),
    (
        34,
        "ApiError: admission webhook \"default.cluster.cluster.x-k8s.io\" denied the request: \
         Cluster.cluster.x-k8s.io \"kube-x1y2z\" is invalid: spec.topology.variables[dockerVolumeSize].value: \
         Invalid value: \"null\"",
        Class::Admission,
    ),
    (
        35,
        "Invalid volume: Instance 3c1d and volume 9b7e are not in the same availability_zone. Instance is in \
         az1. Volume is in nova (HTTP 400)",
        Class::Volume,
    ),
    (
        36,
        "failed to reconcile load balancer: load balancer \"b7a42f2d\" is not in expected state ACTIVE, \
         current state is ERROR",
        Class::LoadBalancer,
    ),
    (
        37,
        "Invalid volume: Volume status must be available or error or error_restoring and must not be \
         migrating, attached or have dependent snapshots",
        Class::VolumeInUse,
    ),
    (
        38,
        "Faileddeleteloadbalancer: got 409 instead: Load Balancer 7d690fcb is immutable and cannot be \
         updated.",
        Class::LoadBalancer,
    ),
    (
        39,
        "'rotate_ca_certificate' is not supported by this driver.",
        Class::Unsupported,
    ),
    (
        40,
        "Post \"https://keystone.example/v3/auth/tokens\": x509: certificate signed by unknown authority",
        Class::CertificateTrust,
    ),
    (
        41,
        "x509: certificate has expired or is not yet valid: current time 2026-11-27 is after 2026-11-20",
        Class::CertificateExpired,
    ),
    (
        42,
        "Magnum accepted the request but did not act on it: the state is DELETE_IN_PROGRESS",
        Class::State,
    ),
    (
        43,
        "Cluster 900e3758-8071-430e-a8cf-5c48f428dc0e could not be found.",
        Class::NotFound,
    ),
    (
        44,
        "Multiple clusters exist with same name. Please use the cluster uuid instead.",
        Class::Name,
    ),
    (
        45,
        "Resource limit exceeded: You have reached the maximum clusters per project, 3. You may delete a \
         cluster to make room for a new one.",
        Class::Quota,
    ),
    (
        46,
        "Waiting for MachineDeployment gpu to be deleted",
        Class::Waiting,
    ),
    (
        47,
        "Operation cannot be fulfilled on clusters \"kube-x1y2z\": the object has been modified; please apply \
         your changes to the latest version and try again",
        Class::Concurrent,
    ),
    (48, "timed out waiting for the condition", Class::Timeout),
    (
        49,
        "Invalid input for field/attribute 0. Value: soft-anti-affinity. 'soft-anti-affinity' is not one of \
         ['anti-affinity', 'affinity'] (HTTP 400)",
        Class::ApiVersion,
    ),
    (
        50,
        "Failed to delete trustee 900e3758_915d66fa for cluster 900e3758",
        Class::CredentialCleanup,
    ),
];
