//! Classes of failures: what happened in one sentence, whose responsibility it is, and what to do.
use serde::{Deserialize, Serialize};

/// A class of failures with the same explanation and the same remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A quota of the project, or Magnum's quota of clusters.
    Quota,
    /// No hypervisor has room for a server.
    Capacity,
    /// A network has no free addresses.
    Addresses,
    /// The flavor is too small, or missing.
    Flavor,
    /// The image lacks a property, or is missing.
    Image,
    /// The key pair is missing.
    Keypair,
    /// Template, network or another object of the request is missing.
    NotFound,
    /// The version of Kubernetes cannot be reached from the present one.
    Version,
    /// A webhook of the management cluster refused a value.
    Admission,
    /// A value of the request is invalid.
    InvalidRequest,
    /// A size or bound outside the permitted range.
    Bounds,
    /// The property cannot be changed.
    Immutable,
    /// Several clusters have the name, or the name is taken.
    Name,
    /// The state forbids the operation, or Magnum did not act on it.
    State,
    /// Another change is running.
    Concurrent,
    /// The driver cannot do it.
    Unsupported,
    /// The version of Magnum's or of another API is too old.
    ApiVersion,
    /// A right is missing.
    Forbidden,
    /// The cloud credential of the cluster is invalid, such as after its creator has left.
    Credential,
    /// The project does not exist any longer.
    ProjectMissing,
    /// The resources are deleted, but the credential or trust could not be removed.
    CredentialCleanup,
    /// A port, network or security group is in use and cannot be deleted.
    NetworkInUse,
    /// Another problem of the network service.
    Network,
    /// The load balancer failed, or is busy.
    LoadBalancer,
    /// A volume is in use and cannot be deleted.
    VolumeInUse,
    /// A volume could not be made, such as in another zone than its server.
    Volume,
    /// A PodDisruptionBudget prevents the drain of a node.
    Drain,
    /// A container image could not be pulled.
    ImagePull,
    /// An add-on could not be installed.
    AddOn,
    /// A machine did not become a ready node.
    Machine,
    /// The Kubernetes API does not answer.
    ApiUnreachable,
    /// A certificate has expired.
    CertificateExpired,
    /// A certificate is signed by a CA that the peer does not trust.
    CertificateTrust,
    /// Magnum's record does not agree with what exists.
    StaleRecord,
    /// It took too long.
    Timeout,
    /// It waits for a part that is not ready yet.
    Waiting,
    /// Magnum or a service that it uses did not answer.
    Service,
    /// Another failure: the raw text is shown first.
    Unknown,
}

/// Whose responsibility a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Responsibility {
    /// The user can remedy it.
    User,
    /// The operator of the cloud's Magnum must act.
    Operator,
    /// The cloud lacks room or a service fails; it may recover.
    Cloud,
    Unknown,
}

/// What a user can do next. The caller maps each to a button or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NextAction {
    /// Delete the failed cluster and create it again with the same values in the form.
    EditAndRetry,
    /// Send the same request again.
    Retry,
    /// Keep waiting: it continues without a new request.
    Wait,
    /// Show the quota of the project.
    ShowQuota,
    /// Delete what is not needed any longer.
    FreeResources,
    /// Search for resources that were left.
    ShowLeftovers,
    /// Show the objects that hold the resource.
    ShowHolders,
    /// Resize a node group to its present size, so that the state becomes UPDATE_COMPLETE.
    Settle,
    /// Rotate the credential and become the owner, where the driver can.
    TakeOwnership,
    /// Ask a project administrator for a role.
    AskForRole,
    /// Relax the PodDisruptionBudget or add replicas.
    RelaxDisruptionBudget,
    /// Choose one of several clusters by UUID.
    ChooseByUuid,
    /// Create a new cluster and move the workloads.
    NewCluster,
    /// Send the text and the request ID to the operator.
    ContactOperator,
}

impl NextAction {
    /// Returns the label of the action.
    pub fn label(self) -> &'static str {
        match self {
            Self::EditAndRetry => "Edit and retry",
            Self::Retry => "Retry",
            Self::Wait => "Wait: it continues by itself",
            Self::ShowQuota => "Show the quota",
            Self::FreeResources => "Delete what is not needed",
            Self::ShowLeftovers => "Show leftovers",
            Self::ShowHolders => "Show what uses it",
            Self::Settle => "Settle the cluster (resize to the present size)",
            Self::TakeOwnership => "Take ownership (rotate the credential)",
            Self::AskForRole => "Ask a project administrator for access",
            Self::RelaxDisruptionBudget => "Relax the PodDisruptionBudget",
            Self::ChooseByUuid => "Choose the cluster by UUID",
            Self::NewCluster => "Create a new cluster",
            Self::ContactOperator => "Contact the operator with the request ID",
        }
    }
}

impl Class {
    /// Returns what happened, in one sentence for users.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Quota => "A quota is used up.",
            Self::Capacity => "The cloud has no room for a server of this flavor at the moment.",
            Self::Addresses => "A network has no free addresses.",
            Self::Flavor => "The flavor is missing or too small for Kubernetes.",
            Self::Image => "The image is missing or lacks a property that the driver needs.",
            Self::Keypair => "The key pair does not exist for this user.",
            Self::NotFound => "An object that the request names does not exist or is not visible.",
            Self::Version => {
                "Kubernetes cannot change to this version: it moves up one minor version at a time."
            }
            Self::Admission => "The cluster's management refused a value of the request.",
            Self::InvalidRequest => "Magnum refused a value of the request.",
            Self::Bounds => "The size is outside the bounds of the node group.",
            Self::Immutable => "Magnum cannot change this on an existing cluster.",
            Self::Name => "The name does not identify one cluster or node group.",
            Self::State => "The state of the cluster forbids the operation.",
            Self::Concurrent => "Another change of the same cluster is running.",
            Self::Unsupported => "The driver of the cluster does not support the operation.",
            Self::ApiVersion => "An API of the cloud is too old for the request.",
            Self::Forbidden => "The policy of the cloud does not permit it to you.",
            Self::Credential => {
                "The cloud credential of the cluster is invalid, for example because its creator left \
                 the project."
            }
            Self::ProjectMissing => "The project of the cluster does not exist any longer.",
            Self::CredentialCleanup => {
                "The resources are deleted, but the credential of the cluster could not be removed."
            }
            Self::NetworkInUse => {
                "A network resource cannot be deleted because ports still use it."
            }
            Self::Network => "The network service refused or failed.",
            Self::LoadBalancer => "The load balancer failed or is busy.",
            Self::VolumeInUse => {
                "A volume cannot be deleted because it is in use or has snapshots."
            }
            Self::Volume => "A volume could not be made where the server needs it.",
            Self::Drain => "A PodDisruptionBudget does not permit that a pod leaves its node.",
            Self::ImagePull => "A container image could not be pulled.",
            Self::AddOn => "An add-on could not be installed.",
            Self::Machine => "A machine did not become a ready node.",
            Self::ApiUnreachable => {
                "The Kubernetes API could not be reached from the cloud's management."
            }
            Self::CertificateExpired => "A certificate has expired.",
            Self::CertificateTrust => "A certificate is signed by a CA that is not trusted there.",
            Self::StaleRecord => "Magnum's record does not agree with what exists.",
            Self::Timeout => "It was not finished within the time limit.",
            Self::Waiting => "It waits for a part that is not ready yet.",
            Self::Service => "Magnum or a service that it uses did not answer.",
            Self::Unknown => "Portico does not know this failure; the text of Magnum is below.",
        }
    }

    /// Returns whose responsibility it is, as a rule.
    pub fn responsibility(self) -> Responsibility {
        match self {
            Self::Quota
            | Self::Flavor
            | Self::Keypair
            | Self::NotFound
            | Self::Version
            | Self::Admission
            | Self::InvalidRequest
            | Self::Bounds
            | Self::Immutable
            | Self::Name
            | Self::State
            | Self::Concurrent
            | Self::Unsupported
            | Self::Forbidden
            | Self::NetworkInUse
            | Self::VolumeInUse
            | Self::Volume
            | Self::Drain => Responsibility::User,
            Self::Image
            | Self::ApiVersion
            | Self::Credential
            | Self::ProjectMissing
            | Self::CredentialCleanup
            | Self::AddOn
            | Self::CertificateExpired
            | Self::CertificateTrust
            | Self::StaleRecord => Responsibility::Operator,
            Self::Capacity
            | Self::Addresses
            | Self::Network
            | Self::LoadBalancer
            | Self::ImagePull
            | Self::Machine
            | Self::ApiUnreachable
            | Self::Waiting
            | Self::Service => Responsibility::Cloud,
            Self::Timeout | Self::Unknown => Responsibility::Unknown,
        }
    }

    /// Returns what to do next, the most useful first.
    pub fn next_actions(self) -> &'static [NextAction] {
        use NextAction::{
            AskForRole, ChooseByUuid, ContactOperator, EditAndRetry, FreeResources, NewCluster,
            RelaxDisruptionBudget, Retry, Settle, ShowHolders, ShowLeftovers, ShowQuota,
            TakeOwnership, Wait,
        };
        match self {
            Self::Quota => &[ShowQuota, FreeResources, EditAndRetry],
            Self::Capacity => &[EditAndRetry, Retry, ContactOperator],
            Self::Addresses => &[EditAndRetry, FreeResources, ContactOperator],
            Self::Flavor | Self::Keypair | Self::Admission | Self::InvalidRequest => {
                &[EditAndRetry]
            }
            Self::NotFound | Self::Image => &[EditAndRetry, ContactOperator],
            Self::Version | Self::Bounds | Self::Volume => &[EditAndRetry],
            Self::Immutable => &[NewCluster],
            Self::Name => &[ChooseByUuid],
            Self::State => &[Settle, Retry],
            Self::Concurrent => &[Retry],
            Self::Unsupported => &[NewCluster, ContactOperator],
            Self::ApiVersion | Self::ProjectMissing | Self::CertificateTrust => &[ContactOperator],
            Self::Forbidden => &[AskForRole],
            Self::Credential => &[TakeOwnership, ContactOperator],
            Self::CredentialCleanup => &[Retry, ContactOperator],
            Self::NetworkInUse | Self::VolumeInUse => &[ShowHolders, Retry, ContactOperator],
            Self::Network | Self::ImagePull | Self::Machine | Self::Service => {
                &[Retry, ContactOperator]
            }
            Self::LoadBalancer => &[Wait, ShowLeftovers, ContactOperator],
            Self::Drain => &[RelaxDisruptionBudget, Wait],
            Self::AddOn | Self::CertificateExpired | Self::ApiUnreachable => {
                &[Wait, ContactOperator]
            }
            Self::StaleRecord => &[Settle, ContactOperator],
            Self::Timeout => &[EditAndRetry, ContactOperator],
            Self::Waiting => &[Wait],
            Self::Unknown => &[Retry, ContactOperator],
        }
    }
}
