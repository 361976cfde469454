//! Phrases about limits, credentials, versions, states and the objects of requests.
use super::Phrases;
use crate::failure::Class;

pub const PHRASES: Phrases = &[
    (
        Class::Quota,
        &[
            "resource limit exceeded",
            "quota exceeded",
            "overquota",
            "exceeds allowed * quota",
            "quota has been exceeded",
            "quota has been met",
            "maximum number of * exceeded",
            "limit exceeded for",
        ],
    ),
    (
        Class::Capacity,
        &[
            "no valid host",
            "not enough hosts available",
            "exhausted all hosts",
            "insufficient resources",
        ],
    ),
    (
        Class::Addresses,
        &[
            "no more ip addresses available",
            "ipaddressgenerationfailure",
            "externalipaddressexhausted",
            "no free addresses",
        ],
    ),
    (
        Class::CredentialCleanup,
        &[
            "identity:delete_application_credential",
            "identity:list_application_credentials",
            "identity:get_application_credential",
            "failed to delete trust",
            "could not find trust",
            "trust * could not be found",
            "failed to delete trustee",
            "failed to delete * application credential",
        ],
    ),
    (Class::ProjectMissing, &["could not find project"]),
    (
        Class::Credential,
        &[
            "could not find application credential",
            "could not find user",
            "could not find token",
            "application credential * expired",
            "application credential * invalid",
            "providerclient authentication err",
            "the request you have made requires authentication",
            "authentication failed",
        ],
    ),
    (
        Class::CertificateExpired,
        &["certificate has expired", "certificate * expired"],
    ),
    (
        Class::CertificateTrust,
        &[
            "certificate signed by unknown authority",
            "certificate verify failed",
            "certificate is valid for",
            "unable to get local issuer certificate",
        ],
    ),
    (
        Class::Version,
        &[
            "version cannot be increased",
            "version cannot be decreased",
            "version * skip",
            "cannot be upgraded * minor",
            "unsupported kubernetes version",
            "unsupported version skew",
        ],
    ),
    (
        Class::Concurrent,
        &[
            "another operation (install/upgrade/rollback) is in progress",
            "upgrade failed: release: already exists",
            "object has been modified",
            "failed to acquire lock",
            "operation already in progress",
            "has an action * in progress",
        ],
    ),
    (
        Class::Bounds,
        &[
            "outside the allowed range",
            "min_node_count (*) should be",
            "max_node_count (*) should be",
            "node_count (*) should be",
            "max node group size reached",
            "min size reached",
            "scale from zero",
            "scale-from-zero",
        ],
    ),
    (
        Class::State,
        &[
            "when status is * is not supported",
            "accepted the request but did not act",
            "cluster api address is not available yet",
            "is not in a state",
        ],
    ),
    (
        Class::Immutable,
        &[
            "cannot change cluster property",
            "cannot change * property",
            "field is immutable",
        ],
    ),
    (
        Class::Admission,
        &["admission webhook", "denied the request"],
    ),
    (
        Class::ApiVersion,
        &[
            "provided microversion",
            "microversion * not supported",
            "microversion-unsupported",
            "version * is not supported by the api",
            "soft-anti-affinity' is not one of",
            "soft-affinity' is not one of",
        ],
    ),
    (
        Class::Unsupported,
        &[
            "is not supported by this driver",
            "not supported by driver",
            "is not supported by any loaded cluster driver",
            "not applied by this driver",
            "master nodegroups is currently not supported",
            "deleting a default nodegroup is not supported",
        ],
    ),
    (
        Class::Flavor,
        &[
            "unable to find flavor",
            "flavor * could not be found",
            "flavor * does not have enough",
            "flavor with zero root volume",
            "flavor's disk is too small",
        ],
    ),
    (
        Class::Image,
        &[
            "does not have a kube_version",
            "doesn't contain os_distro",
            "image * could not be found",
            "unable to find image",
            "image * is not active",
            "could not find image",
        ],
    ),
    (
        Class::Keypair,
        &[
            "unable to find keypair",
            "key pair * not found",
            "invalid key_name",
        ],
    ),
    (
        Class::Name,
        &[
            "exist with same name",
            "already exists with name",
            "a node group with name * already exists",
            "nodegroup with name * already exists",
        ],
    ),
];
