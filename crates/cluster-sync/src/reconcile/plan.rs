//! Computation of the changes to make, without side effects.
use super::{
    Care, FoundBinding, FoundNamespace, FoundSubject, Observed, Place, Wanted, WantedBinding,
    WantedNamespace, observe::owned_by,
};
use portico_domain::namespace_format::is_system;
use std::{collections::BTreeSet, fmt};

/// Which objects of a source may be deleted once it no longer wants them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    pub bindings: bool,
    pub namespaces: bool,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    CreateNamespace(WantedNamespace),
    Create(WantedBinding),
    /// Changes the subjects of an existing binding.
    Update(WantedBinding, FoundBinding),
    /// Replaces a binding to change its role, which Kubernetes does not allow in place.
    Recreate(WantedBinding, FoundBinding),
    Delete(Place, FoundBinding),
    DeleteNamespace(String, FoundNamespace),
}

/// The changes to make, and what was found meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// Number of objects that are as desired.
    pub unchanged: usize,
    /// Differences that are left as they are, in words.
    pub differences: Vec<String>,
    /// Objects that are no longer wanted but may not be deleted.
    pub stale: Vec<String>,
    /// Namespaces in which nothing is bound.
    pub skipped: Vec<String>,
}

/// Compares the wanted state with the observed one.
pub fn plan(wanted: &Wanted, observed: &Observed, pruning: Pruning) -> Plan {
    let mut plan = Plan::default();
    let open = namespaces(wanted, observed, &mut plan);
    let mut bound = BTreeSet::new();
    for binding in &wanted.bindings {
        let is_open = match &binding.place.namespace {
            Some(namespace) => open.contains(namespace.as_str()),
            None => true,
        };
        if is_open && bound.insert(&binding.place) {
            one(wanted, binding, observed, &mut plan);
        }
    }
    if wanted.care == Care::Always {
        for (place, found) in &observed.bindings {
            if owned_by(&found.labels, wanted.owner) && !bound.contains(place) {
                if pruning.bindings {
                    plan.steps.push(Step::Delete(place.clone(), found.clone()));
                } else {
                    plan.stale.push(place.to_string());
                }
            }
        }
        leftover_namespaces(wanted, observed, pruning, &mut plan);
    }
    plan
}

/// Plans the namespaces and returns those in which something may be bound.
fn namespaces<'a>(
    wanted: &'a Wanted,
    observed: &'a Observed,
    plan: &mut Plan,
) -> BTreeSet<&'a str> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (name, found) in &observed.namespaces {
        if !found.left_out && !found.terminating {
            open.insert(name);
        }
    }
    let mut skipped: BTreeSet<&str> = wanted
        .bindings
        .iter()
        .filter_map(|binding| binding.place.namespace.as_deref())
        .filter(|name| observed.namespaces.contains_key(*name) && !open.contains(name))
        .collect();
    for namespace in &wanted.namespaces {
        match observed.namespaces.get(&namespace.name) {
            None if is_system(&namespace.name) => {
                skipped.insert(&namespace.name);
            }
            None => {
                open.insert(&namespace.name);
                plan.steps.push(Step::CreateNamespace(namespace.clone()));
            }
            Some(found) if found.terminating => plan.differences.push(format!(
                "namespace {} is being deleted; it is made again when it is gone",
                namespace.name
            )),
            Some(_) => plan.unchanged += 1,
        }
    }
    plan.skipped.extend(skipped.into_iter().map(str::to_owned));
    open
}

fn one(wanted: &Wanted, binding: &WantedBinding, observed: &Observed, plan: &mut Plan) {
    let place = &binding.place;
    let Some(found) = observed.bindings.get(place) else {
        if wanted.care == Care::Once && observed.made_before.contains(place) {
            plan.differences.push(format!("{place} was deleted"));
        } else {
            plan.steps.push(Step::Create(binding.clone()));
        }
        return;
    };
    let same_role =
        found.role_kind == binding.role_kind.as_str() && found.role_name == binding.role_name;
    let ours = owned_by(&found.labels, wanted.owner);
    if same_role && found.subjects == binding.subjects() && (ours || wanted.care == Care::Once) {
        plan.unchanged += 1;
    } else if wanted.care == Care::Once {
        plan.differences
            .push(format!("{place} names another role or other subjects"));
    } else if !ours {
        plan.differences.push(format!(
            "{place} was not made by Portico's {}, or its labels were taken off",
            wanted.owner
        ));
    } else if same_role {
        plan.steps
            .push(Step::Update(binding.clone(), found.clone()));
    } else {
        plan.steps
            .push(Step::Recreate(binding.clone(), found.clone()));
    }
}

fn leftover_namespaces(wanted: &Wanted, observed: &Observed, pruning: Pruning, plan: &mut Plan) {
    let names = wanted.namespaces.iter().map(|one| one.name.as_str());
    let names: BTreeSet<&str> = names.collect();
    for (name, found) in &observed.namespaces {
        if !owned_by(&found.labels, wanted.owner)
            || names.contains(name.as_str())
            || found.terminating
        {
            continue;
        }
        // a namespace that opted out is left alone, deletion included
        if pruning.namespaces && !found.left_out && !wanted.keep.contains(name) {
            plan.steps
                .push(Step::DeleteNamespace(name.clone(), found.clone()));
        } else {
            plan.stale.push(format!("namespace {name}"));
        }
    }
}

/// Shows a diff: deletions with a minus, additions with a plus.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateNamespace(namespace) => {
                write!(f, "+ Namespace {}", namespace.name)?;
                for (key, value) in &namespace.annotations {
                    write!(f, "\n+   {key}: {}", value.escape_debug())?;
                }
                Ok(())
            }
            Self::Create(wanted) => {
                write!(f, "+ {}\n+   {}", wanted.place, after(wanted))
            }
            Self::Update(wanted, found) | Self::Recreate(wanted, found) => write!(
                f,
                "  {}\n-   {}\n+   {}",
                wanted.place,
                before(found),
                after(wanted)
            ),
            Self::Delete(place, found) => write!(f, "- {place}\n-   {}", before(found)),
            Self::DeleteNamespace(name, _) => {
                write!(f, "- Namespace {name}, with everything in it")
            }
        }
    }
}

fn after(wanted: &WantedBinding) -> String {
    let kind = wanted.role_kind.as_str();
    line(kind, &wanted.role_name, &wanted.subjects())
}

fn before(found: &FoundBinding) -> String {
    line(&found.role_kind, &found.role_name, &found.subjects)
}

fn line(kind: &str, name: &str, subjects: &BTreeSet<FoundSubject>) -> String {
    // Kubernetes accepts any name for a subject, line breaks included
    let names: Vec<_> = subjects
        .iter()
        .map(|one| one.name.escape_debug().to_string())
        .collect();
    format!("{kind} {name} for {}", names.join(", "))
}
