//! Related objects, gathered by their relation.
use crate::{
    kube::discovery,
    service::{health, object::related::reader::Reader},
};
use portico_domain::panel::{Health, ObjectRef, RelatedGroup, RelatedObject, Relation};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of objects in one group.
const MAX_OBJECTS: usize = 50;

/// Related objects by their relation.
#[derive(Debug, Default)]
pub struct Groups(BTreeMap<Relation, Vec<RelatedObject>>);

impl Groups {
    pub fn add(&mut self, relation: Relation, object: RelatedObject) {
        let group = self.0.entry(relation).or_default();
        if !group.iter().any(|known| known.object == object.object) {
            group.push(object);
        }
    }

    /// Adds objects that were read, each with its health.
    pub fn add_read(
        &mut self,
        reader: &Reader<'_>,
        relation: Relation,
        (group, plural): (&str, &str),
        values: &[Value],
    ) {
        for value in values {
            if let Some(object) = reader.reference_of(group, plural, value) {
                self.add(relation, assessed(reader, object, value));
            }
        }
    }

    /// Adds an object that is known by its name only.
    pub fn add_named(
        &mut self,
        reader: &Reader<'_>,
        relation: Relation,
        (group, plural): (&str, &str),
        name: &str,
    ) {
        if let Some(object) = reader.reference(group, plural, name) {
            self.add(relation, named(reader, object));
        }
    }

    /// Returns the groups in the order of the page, those that need attention first within each.
    pub fn into_groups(self) -> Vec<RelatedGroup> {
        self.0
            .into_iter()
            .map(|(relation, mut objects)| {
                objects.sort_by(|one, other| key(one).cmp(&key(other)));
                let total = objects.len();
                objects.truncate(MAX_OBJECTS);
                RelatedGroup {
                    relation,
                    objects,
                    total,
                }
            })
            .collect()
    }
}

fn key(related: &RelatedObject) -> (u8, &str, &str) {
    let severity = match related.health {
        Some(health @ (Health::Failed | Health::Warning)) => health.severity(),
        _ => u8::MAX,
    };
    (severity, &related.kind, &related.object.name)
}

/// Describes an object that was read.
pub fn assessed(reader: &Reader<'_>, object: ObjectRef, value: &Value) -> RelatedObject {
    let assessment = health::assess(&object.resource, value, reader.api.now());
    // of an object without conditions nothing is known but that it exists
    let has_status = assessment.health != Health::Unknown && assessment.status != health::EXISTS;
    RelatedObject {
        health: has_status.then_some(assessment.health),
        status: if has_status {
            assessment.status
        } else {
            String::new()
        },
        ..named(reader, object)
    }
}

/// Describes an object that is known by its name only.
pub fn named(reader: &Reader<'_>, object: ObjectRef) -> RelatedObject {
    let kind = reader
        .catalog
        .find(&object.resource)
        .map_or_else(|| object.resource.plural.clone(), |kind| kind.kind.clone());
    RelatedObject {
        object,
        kind,
        health: None,
        status: String::new(),
    }
}

/// Describes an object that another one names and that does not exist.
pub fn missing(reader: &Reader<'_>, object: ObjectRef) -> RelatedObject {
    RelatedObject {
        health: Some(Health::Failed),
        status: "Does not exist".to_owned(),
        ..named(reader, object)
    }
}

/// Returns the reference in fields such as `kind`, `apiVersion` (or `apiGroup`) and `name`.
pub fn by_kind(reader: &Reader<'_>, target: &Value) -> Option<ObjectRef> {
    let kind_name = target["kind"].as_str()?;
    let group = match (target["apiVersion"].as_str(), target["apiGroup"].as_str()) {
        (Some(version), _) => version.split_once('/').map_or("", |(group, _)| group),
        (None, group) => group.unwrap_or_default(),
    };
    let kind = reader.catalog.by_group_and_kind(group, kind_name)?;
    let kind = reader.catalog.preferred(&kind.group, &kind.plural)?;
    let namespace = target["namespace"].as_str().map(str::to_owned);
    Some(ObjectRef {
        resource: discovery::reference(kind),
        namespace: namespace
            .or_else(|| reader.namespace.clone())
            .filter(|_| kind.namespaced),
        name: target["name"].as_str()?.to_owned(),
    })
}
