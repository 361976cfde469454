//! The observed state of a cluster.
use super::{MANAGED_BY, MANAGED_BY_LABEL, OWNER_LABEL, Place, ReconcileError, opted_out};
use k8s_openapi::api::{
    core::v1::Namespace,
    rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject},
};
use kube::{Api, Client, ResourceExt, api::ListParams};
use portico_domain::namespace_format::is_system;
use std::collections::{BTreeMap, BTreeSet};

/// The existing namespaces and bindings.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    pub namespaces: BTreeMap<String, FoundNamespace>,
    pub bindings: BTreeMap<Place, FoundBinding>,
    /// Bindings that were made before: if one is missing, it was deleted by another client.
    pub made_before: BTreeSet<Place>,
}

/// A namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundNamespace {
    pub uid: String,
    pub labels: BTreeMap<String, String>,
    pub terminating: bool,
    pub left_out: bool,
}

/// A binding of either kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundBinding {
    pub uid: String,
    pub resource_version: String,
    pub role_kind: String,
    pub role_name: String,
    pub subjects: BTreeSet<FoundSubject>,
    pub labels: BTreeMap<String, String>,
}

impl FoundBinding {
    /// Returns whether a source made it.
    pub fn is_owned_by(&self, owner: &str) -> bool {
        owned_by(&self.labels, owner)
    }
}

/// A subject of a binding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundSubject {
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl FoundSubject {
    pub fn group(name: String) -> Self {
        Self {
            kind: "Group".to_owned(),
            namespace: None,
            name,
        }
    }
}

/// Returns whether labels mark an object as made by a source.
pub(super) fn owned_by(labels: &BTreeMap<String, String>, owner: &str) -> bool {
    let says = |label: &str, value: &str| labels.get(label).is_some_and(|found| found == value);
    says(MANAGED_BY_LABEL, MANAGED_BY) && says(OWNER_LABEL, owner)
}

/// Reads the namespaces and bindings of a cluster, or those of one namespace.
///
/// # Errors
/// If the cluster cannot be read.
pub async fn observe(
    client: &Client,
    only: Option<&Namespace>,
) -> Result<Observed, ReconcileError> {
    let mut observed = Observed::default();
    let all = ListParams::default();
    if let Some(namespace) = only {
        observed.namespace(namespace);
        let name = namespace.name_any();
        let bindings = Api::<RoleBinding>::namespaced(client.clone(), &name)
            .list(&all)
            .await
            .map_err(ReconcileError::doing(format!(
                "list role bindings in {name}"
            )))?;
        bindings
            .iter()
            .for_each(|binding| observed.binding(binding));
        return Ok(observed);
    }
    let namespaces = Api::<Namespace>::all(client.clone())
        .list(&all)
        .await
        .map_err(ReconcileError::doing("list namespaces"))?;
    for namespace in &namespaces {
        observed.namespace(namespace);
    }
    let bindings = Api::<RoleBinding>::all(client.clone())
        .list(&all)
        .await
        .map_err(ReconcileError::doing("list role bindings"))?;
    for binding in &bindings {
        observed.binding(binding);
    }
    Ok(observed)
}

/// Adds the bindings for the whole cluster.
///
/// # Errors
/// If they cannot be read.
pub async fn observe_cluster_bindings(
    client: &Client,
    observed: &mut Observed,
) -> Result<(), ReconcileError> {
    let bindings = Api::<ClusterRoleBinding>::all(client.clone())
        .list(&ListParams::default())
        .await
        .map_err(ReconcileError::doing("list cluster role bindings"))?;
    for binding in &bindings {
        observed.cluster_binding(binding);
    }
    Ok(())
}

impl Observed {
    fn namespace(&mut self, namespace: &Namespace) {
        let name = namespace.name_any();
        let found = FoundNamespace {
            uid: namespace.uid().unwrap_or_default(),
            labels: namespace.labels().clone(),
            terminating: namespace.metadata.deletion_timestamp.is_some(),
            left_out: is_system(&name) || opted_out(namespace.labels()),
        };
        self.namespaces.insert(name, found);
    }

    fn binding(&mut self, binding: &RoleBinding) {
        let place = Place {
            namespace: binding.namespace(),
            name: binding.name_any(),
        };
        let found = found(binding, &binding.role_ref, binding.subjects.as_deref());
        self.bindings.insert(place, found);
    }

    /// Adds a binding for the whole cluster.
    pub fn cluster_binding(&mut self, binding: &ClusterRoleBinding) {
        let place = Place {
            namespace: None,
            name: binding.name_any(),
        };
        let found = found(binding, &binding.role_ref, binding.subjects.as_deref());
        self.bindings.insert(place, found);
    }
}

fn found(object: &impl ResourceExt, role: &RoleRef, subjects: Option<&[Subject]>) -> FoundBinding {
    let subject = |one: &Subject| FoundSubject {
        kind: one.kind.clone(),
        namespace: one.namespace.clone(),
        name: one.name.clone(),
    };
    FoundBinding {
        uid: object.uid().unwrap_or_default(),
        resource_version: object.resource_version().unwrap_or_default(),
        role_kind: role.kind.clone(),
        role_name: role.name.clone(),
        subjects: subjects.unwrap_or_default().iter().map(subject).collect(),
        labels: object.labels().clone(),
    }
}
