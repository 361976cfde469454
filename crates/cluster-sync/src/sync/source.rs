//! Computation of a cluster's desired state from its tenants, without side effects.
use super::{HeldRole, Options, Subjects, SyncConfig, Tenant, Tenants};
use crate::reconcile::{
    Care, FoundBinding, MANAGED_BY, MANAGED_BY_LABEL, OWNER_LABEL, Observed, Place, RoleKind,
    Wanted, WantedBinding, WantedNamespace,
};
use portico_domain::identity::{project_role_group, user_group};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The value of the owner label.
pub const OWNER: &str = "sync";
/// The project that a namespace or binding was made for.
pub const PROJECT_LABEL: &str = "portico.dev/project-id";
const ROLE_LABEL: &str = "portico.dev/role-id";
const PROJECT_NAME: &str = "portico.dev/project-name";
/// The annotation with the binding beside which a binding was made.
const MIRRORS: &str = "portico.dev/mirrors";
const ROLE_NAME: &str = "portico.dev/role-name";
/// A ClusterRole that no Keystone role is bound to because of its name.
const CLUSTER_ADMIN: &str = "cluster-admin";

/// Returns the ClusterRole of a Keystone role: the one that the operator configured for its ID, or,
/// if none is configured for any role, the one with the role's name.
pub(super) fn cluster_role(
    options: &Options,
    id: &str,
    name: &str,
) -> Result<Option<String>, String> {
    if !options.roles.is_empty() {
        return Ok(options.roles.get(id).cloned());
    }
    let lower = name.to_lowercase();
    if lower == CLUSTER_ADMIN || lower.starts_with("system:") {
        return Err(format!(
            "role {0} is not bound to the ClusterRole of that name; if that is intended, pass \
             --role {id}={0}",
            name.escape_debug()
        ));
    }
    Ok(Some(name.to_owned()))
}

/// Returns the desired state. `known` are the ClusterRoles that exist.
pub(super) fn wanted(
    config: &SyncConfig,
    options: &Options,
    found: &Tenants,
    observed: &Observed,
    known: &BTreeSet<String>,
) -> (Wanted, Vec<String>) {
    let mut notes = found.notes.clone();
    let mut wanted = Wanted {
        owner: OWNER,
        care: Care::Always,
        namespaces: Vec::new(),
        bindings: Vec::new(),
        keep: kept(config, found, observed),
    };
    mirror(config, options, found, observed, &mut wanted.bindings);
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for tenant in &found.tenants {
        if config.leaves_out(&tenant.id, &tenant.name) {
            continue;
        }
        if !config.projects && !config.role_assignments {
            continue;
        }
        let namespace = match namespace(config, tenant, observed) {
            Ok(namespace) => namespace,
            Err(note) => {
                notes.push(note);
                continue;
            }
        };
        if let Some(other) = taken.insert(namespace.clone(), &tenant.id) {
            notes.push(format!(
                "projects {other} and {} would share namespace {namespace}; the second is left out",
                tenant.id
            ));
            taken.insert(namespace, other);
            continue;
        }
        if config.projects {
            let mut labels = options.namespace_labels.clone();
            labels.insert(PROJECT_LABEL.to_owned(), tenant.id.clone());
            wanted.namespaces.push(WantedNamespace {
                name: namespace.clone(),
                labels,
                annotations: BTreeMap::from([(PROJECT_NAME.to_owned(), tenant.name.clone())]),
            });
        } else if !observed.namespaces.contains_key(&namespace) {
            notes.push(format!(
                "namespace {namespace} of project {} does not exist, and data-types-to-sync does \
                 not name projects",
                tenant.id
            ));
            continue;
        }
        if config.role_assignments {
            for binding in bindings(options, tenant, &namespace, known) {
                match binding {
                    Ok(binding) => wanted.bindings.push(binding),
                    Err(note) if !notes.contains(&note) => notes.push(note),
                    Err(_) => {}
                }
            }
        }
    }
    (wanted, notes)
}

/// Returns namespaces of Portico's that must not be deleted although they belong to no current
/// tenant.
fn kept(config: &SyncConfig, found: &Tenants, observed: &Observed) -> BTreeSet<String> {
    let keeps = |labels: &BTreeMap<String, String>| {
        let project = labels.get(PROJECT_LABEL);
        !config.projects || project.is_some_and(|id| found.disabled.contains(id))
    };
    let namespaces = observed.namespaces.iter();
    namespaces
        .filter(|(_, namespace)| keeps(&namespace.labels))
        .map(|(name, _)| name.clone())
        .collect()
}

/// Returns the namespace of a project: the one made for it before, whatever the project's current
/// name, or the one given by the format.
fn namespace(config: &SyncConfig, tenant: &Tenant, observed: &Observed) -> Result<String, String> {
    let id = &tenant.id;
    if !is_label_value(id) {
        return Err(format!("project {id:?} has no ID that can be a label"));
    }
    let formatted = config
        .namespace_name(id, &tenant.name, &tenant.domain_id)
        .ok_or_else(|| format!("project {id} has no ID that can be a namespace's name"))?;
    let label = |labels: &BTreeMap<String, String>, key: &str| labels.get(key).cloned();
    let made: Vec<&String> = observed
        .namespaces
        .iter()
        .filter(|(_, namespace)| {
            let labels = &namespace.labels;
            label(labels, PROJECT_LABEL).as_ref() == Some(id)
                && label(labels, OWNER_LABEL).as_deref() == Some(OWNER)
                && label(labels, MANAGED_BY_LABEL).as_deref() == Some(MANAGED_BY)
        })
        .map(|(name, _)| name)
        .collect();
    if let Some(first) = made.first() {
        let name = if made.contains(&&formatted) {
            &formatted
        } else {
            *first
        };
        return Ok(name.clone());
    }
    let other = observed
        .namespaces
        .get(&formatted)
        .and_then(|namespace| label(&namespace.labels, PROJECT_LABEL));
    match other {
        Some(other) if other != *id => Err(format!(
            "namespace {formatted} of project {id} is labelled as project {other}'s; nothing is \
             done there"
        )),
        _ => Ok(formatted),
    }
}

fn bindings<'a>(
    options: &'a Options,
    tenant: &'a Tenant,
    namespace: &'a str,
    known: &'a BTreeSet<String>,
) -> impl Iterator<Item = Result<WantedBinding, String>> + 'a {
    tenant.roles.iter().filter_map(move |(id, held)| {
        let cluster_role = match cluster_role(options, id, &held.name) {
            Ok(role) => role?,
            Err(note) => return Some(Err(note)),
        };
        if !known.contains(&cluster_role) {
            return Some(Err(format!(
                "role {} is not bound: there is no ClusterRole {}, or this account may not get it",
                held.name.escape_debug(),
                cluster_role.escape_debug()
            )));
        }
        if !is_label_value(id) {
            return Some(Err(format!("role {id:?} has no ID that can be a label")));
        }
        let groups = groups(options, tenant, id, held);
        Some(Ok(WantedBinding {
            place: Place {
                namespace: Some(namespace.to_owned()),
                name: format!("portico-sync-{}", id.to_lowercase()),
            },
            role_kind: RoleKind::ClusterRole,
            role_name: cluster_role,
            groups,
            labels: BTreeMap::from([
                (PROJECT_LABEL.to_owned(), tenant.id.clone()),
                (ROLE_LABEL.to_owned(), id.clone()),
            ]),
            annotations: BTreeMap::from([(ROLE_NAME.to_owned(), held.name.clone())]),
        }))
    })
}

fn groups(options: &Options, tenant: &Tenant, role_id: &str, held: &HeldRole) -> Vec<String> {
    match options.subjects {
        Subjects::Roles => vec![project_role_group(&tenant.id, role_id)],
        Subjects::Users => held.users.iter().map(|user| user_group(user)).collect(),
    }
}

/// Applies the role mappings: where a mapped group is bound, its role's holders are bound beside
/// it.
fn mirror(
    config: &SyncConfig,
    options: &Options,
    found: &Tenants,
    observed: &Observed,
    bindings: &mut Vec<WantedBinding>,
) {
    for mapping in &config.role_groups {
        let named = |binding: &FoundBinding| {
            let mut subjects = binding.subjects.iter();
            subjects.any(|one| one.kind == "Group" && mapping.groups.contains(&one.name))
        };
        let mut holders = BTreeSet::new();
        for tenant in &found.tenants {
            if config.leaves_out(&tenant.id, &tenant.name) {
                continue;
            }
            for (id, held) in &tenant.roles {
                if held.name == mapping.role_name {
                    holders.extend(groups(options, tenant, id, held));
                }
            }
        }
        if holders.is_empty() {
            continue;
        }
        for (place, binding) in &observed.bindings {
            if binding.is_owned_by(OWNER) || !named(binding) {
                continue;
            }
            let role_kind = match binding.role_kind.as_str() {
                "Role" => RoleKind::Role,
                _ => RoleKind::ClusterRole,
            };
            bindings.push(WantedBinding {
                place: Place {
                    namespace: place.namespace.clone(),
                    name: mirror_name(place, &mapping.role_name),
                },
                role_kind,
                role_name: binding.role_name.clone(),
                groups: holders.iter().cloned().collect(),
                labels: BTreeMap::new(),
                annotations: BTreeMap::from([
                    (ROLE_NAME.to_owned(), mapping.role_name.clone()),
                    (MIRRORS.to_owned(), place.name.clone()),
                ]),
            });
        }
    }
}

/// Returns a name that is the same for the same binding and role, and different for all others.
fn mirror_name(place: &Place, role_name: &str) -> String {
    let parts = format!("{place}\n{role_name}");
    let digest = format!("{:x}", Sha256::digest(parts));
    format!("portico-sync-{}", &digest[..32])
}

fn is_label_value(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    let bytes = text.as_bytes();
    (1..=63).contains(&bytes.len())
        && bytes.iter().all(|&byte| plain(byte) || byte == b'-')
        && plain(bytes[0])
        && plain(bytes[bytes.len() - 1])
}
