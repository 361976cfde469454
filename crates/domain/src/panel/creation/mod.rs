//! Forms that create objects: a PersistentVolumeClaim, a Service, an Ingress. A form holds what the user
//! has written, valid or not, so that it becomes a manifest at any time without loss.
mod claim;
mod ingress;
mod progress;
mod service;
mod validation;

pub use claim::{ACCESS_MODES, NewClaim};
pub use ingress::{NewIngress, NewRoute, PATH_TYPES};
pub use progress::{CreationProgress, CreationState};
pub use service::{NewPort, NewService, PROTOCOLS, SERVICE_TYPES};

use super::{Refusal, ResourceRef};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A kind that a form creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreationKind {
    Claim,
    Service,
    Ingress,
}

impl CreationKind {
    pub const ALL: [Self; 3] = [Self::Claim, Self::Service, Self::Ingress];

    /// Returns the word for the kind in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Service => "service",
            Self::Ingress => "ingress",
        }
    }

    /// Returns the kind of a word; `None` for an unknown one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns the form for objects of a resource, in any version; `None` if there is none.
    pub fn of(resource: &ResourceRef) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| {
            let known = kind.resource();
            known.group == resource.group && known.plural == resource.plural
        })
    }

    /// Returns the kind as the API spells it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Claim => "PersistentVolumeClaim",
            Self::Service => "Service",
            Self::Ingress => "Ingress",
        }
    }

    /// Returns the resource in the version of the manifests that the forms write.
    pub fn resource(self) -> ResourceRef {
        match self {
            Self::Claim => ResourceRef::core("persistentvolumeclaims"),
            Self::Service => ResourceRef::core("services"),
            Self::Ingress => ResourceRef::new("networking.k8s.io", "v1", "ingresses"),
        }
    }
}

/// What a user has written in a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewObject {
    Claim(NewClaim),
    Service(NewService),
    Ingress(NewIngress),
}

impl NewObject {
    /// Returns an empty form with its defaults.
    pub fn of(kind: CreationKind, namespace: String) -> Self {
        match kind {
            CreationKind::Claim => Self::Claim(NewClaim::in_namespace(namespace)),
            CreationKind::Service => Self::Service(NewService::in_namespace(namespace)),
            CreationKind::Ingress => Self::Ingress(NewIngress::in_namespace(namespace)),
        }
    }

    pub fn kind(&self) -> CreationKind {
        match self {
            Self::Claim(_) => CreationKind::Claim,
            Self::Service(_) => CreationKind::Service,
            Self::Ingress(_) => CreationKind::Ingress,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Claim(claim) => &claim.name,
            Self::Service(service) => &service.name,
            Self::Ingress(ingress) => &ingress.name,
        }
    }

    pub fn name_mut(&mut self) -> &mut String {
        match self {
            Self::Claim(claim) => &mut claim.name,
            Self::Service(service) => &mut service.name,
            Self::Ingress(ingress) => &mut ingress.name,
        }
    }

    pub fn namespace(&self) -> &str {
        match self {
            Self::Claim(claim) => &claim.namespace,
            Self::Service(service) => &service.namespace,
            Self::Ingress(ingress) => &ingress.namespace,
        }
    }

    pub fn namespace_mut(&mut self) -> &mut String {
        match self {
            Self::Claim(claim) => &mut claim.namespace,
            Self::Service(service) => &mut service.namespace,
            Self::Ingress(ingress) => &mut ingress.namespace,
        }
    }

    /// Returns what has to be corrected before the cluster is asked, in the order of the form.
    pub fn problems(&self) -> Vec<FormProblem> {
        let mut found = validation::Problems::default();
        let is_service = self.kind() == CreationKind::Service;
        found.add("name", validation::object_name(self.name(), is_service));
        found.add("namespace", validation::namespace(self.namespace()));
        match self {
            Self::Claim(claim) => claim.check(&mut found),
            Self::Service(service) => service.check(&mut found),
            Self::Ingress(ingress) => ingress.check(&mut found),
        }
        found.into_list()
    }

    /// Returns the manifest, also of a form that has problems: what is not valid is written as it is.
    pub fn manifest(&self) -> Value {
        let resource = self.kind().resource();
        let version = if resource.group.is_empty() {
            resource.version
        } else {
            format!("{}/{}", resource.group, resource.version)
        };
        let mut metadata = json!({ "name": self.name().trim() });
        if !self.namespace().trim().is_empty() {
            metadata["namespace"] = json!(self.namespace().trim());
        }
        json!({
            "apiVersion": version,
            "kind": self.kind().kind(),
            "metadata": metadata,
            "spec": match self {
                Self::Claim(claim) => claim.spec(),
                Self::Service(service) => service.spec(),
                Self::Ingress(ingress) => ingress.spec(),
            },
        })
    }
}

/// A field that has to be corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormProblem {
    /// `name`, `ports.0.port`.
    pub field: String,
    pub message: String,
}

/// What a form offers, as far as the viewer may read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationChoices {
    pub storage_classes: Vec<StorageClassChoice>,
    pub workloads: Vec<WorkloadChoice>,
    pub services: Vec<ServiceChoice>,
    pub ingress_classes: Vec<IngressClassChoice>,
    /// Names of Secrets of type `kubernetes.io/tls`.
    pub tls_secrets: Vec<String>,
    /// What could not be read, each with the reason in a sentence.
    pub gaps: Vec<Refusal>,
    /// Why the viewer may not create the object in the namespace.
    pub refusal: Option<Refusal>,
}

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClassChoice {
    pub name: String,
    pub provisioner: String,
    pub is_default: bool,
    /// Whether a claim can be enlarged later.
    pub can_expand: bool,
    /// Whether a volume is bound only when a pod uses the claim (`WaitForFirstConsumer`).
    pub waits_for_pod: bool,
    /// `Delete` or `Retain`.
    pub reclaim_policy: String,
}

/// A workload whose pods a Service can select.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadChoice {
    /// `Deployment`.
    pub kind: String,
    pub name: String,
    /// `app=web,tier=front`.
    pub selector: String,
    pub ports: Vec<PortChoice>,
}

/// A Service to which an Ingress can route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceChoice {
    pub name: String,
    pub ports: Vec<PortChoice>,
}

/// A port of a Service or of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortChoice {
    pub number: u16,
    /// Empty if it has none.
    pub name: String,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
}

/// An IngressClass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngressClassChoice {
    pub name: String,
    pub is_default: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_found_by_its_resource_in_any_version() {
        let old = ResourceRef::new("networking.k8s.io", "v1beta1", "ingresses");
        assert_eq!(CreationKind::of(&old), Some(CreationKind::Ingress));
        assert_eq!(CreationKind::of(&ResourceRef::core("pods")), None);
        let foreign = ResourceRef::new("serving.knative.dev", "v1", "services");
        assert_eq!(CreationKind::of(&foreign), None);
        for kind in CreationKind::ALL {
            assert_eq!(CreationKind::parse(kind.as_str()), Some(kind));
        }
        assert_eq!(CreationKind::parse("pod"), None);
    }

    #[test]
    fn a_form_without_a_namespace_names_none_and_has_a_problem() {
        let mut new = NewObject::of(CreationKind::Claim, String::new());
        *new.name_mut() = " data ".to_owned();
        assert_eq!(new.manifest()["metadata"], json!({ "name": "data" }));
        let fields: Vec<_> = new.problems().into_iter().map(|one| one.field).collect();
        assert_eq!(fields, ["namespace"]);
    }
}
