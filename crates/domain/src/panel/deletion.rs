//! How a deletion is confirmed, and what it deletes besides the object.
use super::{BulkTarget, Refusal, ResourceRef};
use serde::{Deserialize, Serialize};

/// How much the user has to do before an object is deleted. In the order of the damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionGrade {
    /// A confirmation: a controller makes the object again, or Kubernetes writes it by itself.
    Simple,
    /// A confirmation below what is deleted or stops working with the object.
    Consequences,
    /// The object's name is typed.
    TypedName,
}

/// What the grade of a deletion depends on, besides the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionFacts {
    /// A controller owns the object and makes it again.
    pub is_recreated: bool,
    /// The volume of a claim is deleted with it, or its reclaim policy cannot be read.
    pub loses_data: bool,
    /// A StatefulSet has made claims for its pods.
    pub has_claims: bool,
    /// Pods or Ingresses use the object, or that cannot be read.
    pub is_used: bool,
}

impl DeletionFacts {
    /// What has to be assumed of an object that was not read.
    pub const UNKNOWN: Self = Self {
        is_recreated: false,
        loses_data: true,
        has_claims: true,
        is_used: true,
    };
}

impl DeletionGrade {
    /// Returns the grade of an object of a kind.
    pub fn of(resource: &ResourceRef, facts: DeletionFacts) -> Self {
        if resource.contains_others() {
            return Self::TypedName;
        }
        let is_damage = match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "persistentvolumeclaims") => facts.loses_data,
            ("", "secrets") => facts.is_used,
            ("apps", "statefulsets") => facts.has_claims,
            _ => false,
        };
        if is_damage {
            Self::TypedName
        } else if facts.is_recreated || is_written_by_kubernetes(resource) {
            Self::Simple
        } else {
            Self::Consequences
        }
    }

    /// Returns the highest grade that objects of a kind have: for a list, whose objects are not read.
    pub fn highest(resource: &ResourceRef) -> Self {
        Self::of(resource, DeletionFacts::UNKNOWN)
    }

    /// Returns the lowest grade that objects of a kind have, unless a controller owns them.
    pub fn lowest(resource: &ResourceRef) -> Self {
        Self::of(resource, DeletionFacts::default())
    }
}

fn is_written_by_kubernetes(resource: &ResourceRef) -> bool {
    resource.is_events()
        || matches!(
            (resource.group.as_str(), resource.plural.as_str()),
            ("", "endpoints")
                | ("discovery.k8s.io", "endpointslices")
                | ("coordination.k8s.io", "leases")
        )
}

/// Returns the text that confirms the deletion of objects from a list, if one has to be typed: the name
/// of a single one, the number of many. They are deleted by one request, at most
/// [`MAX_BULK_TARGETS`](super::MAX_BULK_TARGETS).
pub fn deletion_confirmation(resource: &ResourceRef, targets: &[BulkTarget]) -> Option<String> {
    if DeletionGrade::highest(resource) < DeletionGrade::TypedName {
        return None;
    }
    Some(match targets {
        [one] => one.name.clone(),
        more => more.len().to_string(),
    })
}

/// What the deletion of one object would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionPlan {
    pub grade: DeletionGrade,
    /// Objects that are deleted with it.
    pub deleted: Vec<DeletedKind>,
    /// Objects that use it, and may stop working.
    pub affected: Vec<DeletedKind>,
    /// Other consequences in sentences: what becomes of the data.
    pub notes: Vec<String>,
    /// What could not be read; more may be deleted or affected.
    pub gaps: Vec<Refusal>,
}

/// Objects of one kind, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletedKind {
    /// As the API spells it: `Pod`.
    pub kind: String,
    /// The first ones.
    pub names: Vec<String>,
    /// Number of all of them.
    pub total: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: DeletionFacts = DeletionFacts {
        is_recreated: false,
        loses_data: false,
        has_claims: false,
        is_used: false,
    };

    #[test]
    fn the_grade_of_a_deletion_follows_the_damage() {
        use DeletionGrade::{Consequences, Simple, TypedName};
        let recreated = DeletionFacts {
            is_recreated: true,
            ..NOTHING
        };
        let loses_data = DeletionFacts {
            loses_data: true,
            ..NOTHING
        };
        let has_claims = DeletionFacts {
            has_claims: true,
            ..NOTHING
        };
        let is_used = DeletionFacts {
            is_used: true,
            ..NOTHING
        };
        for (group, plural, facts, grade) in [
            ("", "pods", recreated, Simple),
            ("", "pods", NOTHING, Consequences),
            ("apps", "replicasets", recreated, Simple),
            ("", "events", NOTHING, Simple),
            ("events.k8s.io", "events", NOTHING, Simple),
            ("discovery.k8s.io", "endpointslices", NOTHING, Simple),
            ("apps", "deployments", NOTHING, Consequences),
            ("apps", "deployments", is_used, Consequences),
            ("", "configmaps", is_used, Consequences),
            ("example.org", "secrets", is_used, Consequences),
            ("", "persistentvolumeclaims", NOTHING, Consequences),
            ("", "persistentvolumeclaims", loses_data, TypedName),
            ("apps", "statefulsets", NOTHING, Consequences),
            ("apps", "statefulsets", has_claims, TypedName),
            ("", "secrets", NOTHING, Consequences),
            ("", "secrets", is_used, TypedName),
            ("", "namespaces", NOTHING, TypedName),
            ("", "nodes", NOTHING, TypedName),
            ("", "persistentvolumes", NOTHING, TypedName),
            (
                "apiextensions.k8s.io",
                "customresourcedefinitions",
                NOTHING,
                TypedName,
            ),
        ] {
            let resource = ResourceRef::new(group, "v1", plural);
            assert_eq!(
                DeletionGrade::of(&resource, facts),
                grade,
                "{group}/{plural} {facts:?}"
            );
        }
    }

    #[test]
    fn a_list_assumes_the_worst_of_a_kind() {
        let highest =
            |group, plural| DeletionGrade::highest(&ResourceRef::new(group, "v1", plural));
        assert_eq!(highest("", "pods"), DeletionGrade::Consequences);
        for (group, plural) in [
            ("", "persistentvolumeclaims"),
            ("", "secrets"),
            ("apps", "statefulsets"),
            ("", "namespaces"),
        ] {
            assert_eq!(highest(group, plural), DeletionGrade::TypedName, "{plural}");
        }
        let secrets = ResourceRef::core("secrets");
        assert_eq!(DeletionGrade::lowest(&secrets), DeletionGrade::Consequences);
    }

    #[test]
    fn a_single_object_is_confirmed_by_its_name_and_many_by_their_number() {
        let target = |name: &str| BulkTarget {
            uid: name.to_owned(),
            namespace: Some("shop".to_owned()),
            name: name.to_owned(),
        };
        let [one, two] = [target("data-0"), target("data-1")];
        let claims = ResourceRef::core("persistentvolumeclaims");
        let single = deletion_confirmation(&claims, std::slice::from_ref(&one));
        assert_eq!(single.as_deref(), Some("data-0"));
        let both = [one, two];
        assert_eq!(deletion_confirmation(&claims, &both).as_deref(), Some("2"));
        assert_eq!(
            deletion_confirmation(&ResourceRef::core("pods"), &both),
            None
        );
    }
}
