//! What the form for a new cluster offers.
use super::{ActionOffer, MissingFeature, QuotaUse};
use crate::panel::{Reading, VersionSupport};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What the form offers. A service that cannot be asked leaves a [`Reading`] that states why; its
/// field takes text then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreationOptions {
    /// Whether the viewer may create a cluster.
    pub creation: ActionOffer,
    /// Deprecated and hidden ones last.
    pub templates: Vec<TemplateOption>,
    /// The smallest first.
    pub flavors: Reading<Vec<FlavorOption>>,
    /// Names of the viewer's own key pairs.
    pub keypairs: Reading<Vec<String>>,
    /// Networks of the project, and external ones.
    pub networks: Reading<Vec<NetworkOption>>,
    /// Availability zones for servers.
    pub zones: Reading<Vec<String>>,
    /// All quotas that a creation needs, in the order of the bars.
    pub quotas: Vec<QuotaUse>,
    /// Labels that Portico knows, for suggestions.
    pub labels: Vec<LabelOption>,
    /// Names of the project's clusters. Magnum permits the same name twice; Portico warns.
    pub taken_names: Vec<String>,
    /// The address from which the viewer's requests come, if it is known.
    pub client_address: Option<String>,
    /// What this cloud's Magnum lacks.
    pub missing: Vec<MissingFeature>,
    /// What could not be read completely, as sentences.
    pub gaps: Vec<String>,
}

/// A cluster template, as a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TemplateOption {
    pub id: Uuid,
    pub name: String,
    /// The version of Kubernetes and until when it is supported upstream; `None`: not known.
    pub version: Option<VersionSupport>,
    /// The name of the driver, such as `magnum-capi-helm`.
    pub driver: String,
    /// What the driver can do and what it ignores.
    pub capabilities: Vec<CapabilityLine>,
    /// What the template fixes and cannot be chosen, as sentences: image, network driver, proxy.
    pub fixed: Vec<String>,
    /// Add-ons in words, such as "Monitoring".
    pub add_ons: Vec<String>,
    /// Values of fields that are left empty.
    pub defaults: TemplateDefaults,
    pub labels: BTreeMap<String, String>,
    /// Number of clusters of the project that use it.
    pub used_by: u32,
    /// Whether it is folded: it is hidden, or its name or tags state that it is deprecated.
    pub is_folded: bool,
    /// The smallest flavor that the driver accepts.
    pub min_vcpus: u64,
    /// The same, in MiB.
    pub min_ram_mib: u64,
    /// Usual duration of a creation in seconds, from those that were observed; `None`: not known.
    pub usual_seconds: Option<u64>,
    /// Why it cannot be used, as a sentence; `None`: it can.
    pub refusal: Option<String>,
}

/// Values of a template that hold where the form is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateDefaults {
    pub keypair: Option<String>,
    pub flavor: Option<String>,
    pub control_plane_flavor: Option<String>,
    /// An existing network; `None`: the driver makes one.
    pub network: Option<String>,
    pub subnet: Option<String>,
    pub external_network: Option<String>,
    pub has_load_balancer: bool,
    pub has_floating_ips: bool,
    /// In GiB.
    pub docker_volume_size: Option<u32>,
}

/// One line of a driver's capabilities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityLine {
    /// Such as "Upgrade".
    pub feature: String,
    /// Whether Portico offers it.
    pub is_offered: bool,
    /// A sentence.
    pub reason: String,
}

/// The size of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlavorOption {
    pub id: String,
    pub name: String,
    pub vcpus: u64,
    pub ram_mib: u64,
    /// Its own disk; 0: the server needs a volume.
    pub disk_gib: u64,
}

/// A network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkOption {
    pub id: String,
    pub name: String,
    pub is_external: bool,
    pub is_shared: bool,
    pub subnets: Vec<SubnetOption>,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetOption {
    pub id: String,
    pub name: String,
    /// In CIDR notation.
    pub cidr: String,
    /// `None`: not known.
    pub free_addresses: Option<u64>,
}

/// A label that Portico knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelOption {
    pub key: String,
    pub meaning: String,
    /// Values to choose from; empty: free text.
    pub values: Vec<String>,
}
