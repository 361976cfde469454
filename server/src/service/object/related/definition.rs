//! Custom resources and their definitions: the instances of one, and the definition of the other.
use super::{groups::Groups, is, reader::Reader};
use portico_domain::panel::{Instances, ObjectRef, Relation};
use serde_json::Value;

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// Returns the instances of a definition: their list, and how many there are. `None` for other kinds,
/// and while the cluster does not serve the definition.
pub async fn instances(
    reader: &Reader<'_>,
    object: &ObjectRef,
    value: &Value,
) -> Option<Instances> {
    if !is(object, GROUP, PLURAL) {
        return None;
    }
    let spec = &value["spec"];
    let (group, plural) = (spec["group"].as_str()?, spec["names"]["plural"].as_str()?);
    let resource = reader.resource(group, plural)?;
    Some(Instances {
        title: reader.plural_name(&resource),
        count: reader.count(&resource).await,
        resource,
    })
}

/// Adds the definition of a custom resource.
pub fn add(reader: &Reader<'_>, found: &mut Groups, group: &str, plural: &str) {
    let name = format!("{plural}.{group}");
    found.add_named(reader, Relation::DefinedBy, (GROUP, PLURAL), &name);
}
