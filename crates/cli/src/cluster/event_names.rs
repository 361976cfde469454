//! Names in place of the UUIDs of templates, for the entries of a journal.
use super::connection::Connection;
use portico_lifecycle::journal::{TEMPLATE_FIELD, TemplateNames, UPGRADE_ACTION};
use serde_json::Value;

/// Returns whether the content of an entry has the UUID of a template.
pub fn has_template(content: &Value) -> bool {
    let differences = content.get("differences").and_then(Value::as_array);
    is_upgrade(content) || differences.into_iter().flatten().any(is_of_template)
}

/// Puts names in place of the UUIDs of templates; one that is not known keeps its UUID.
pub fn name_templates(content: &mut Value, names: &TemplateNames) {
    if is_upgrade(content) {
        name(content, "target", names);
    }
    let differences = content.get_mut("differences").and_then(Value::as_array_mut);
    let differences = differences.into_iter().flatten();
    for difference in differences.filter(|one| is_of_template(one)) {
        name(difference, "before", names);
        name(difference, "after", names);
    }
}

/// Returns the names of the templates that the user may list; none if Magnum does not list them.
pub async fn template_names(connection: &Connection) -> TemplateNames {
    let listed = connection.clients.magnum.templates(&connection.token).await;
    let found = listed.map(|found| found.items).unwrap_or_default();
    let pairs = found.into_iter();
    TemplateNames::of(pairs.map(|template| (template.uuid.to_string(), template.name)))
}

fn is_upgrade(content: &Value) -> bool {
    content.get("action").and_then(Value::as_str) == Some(UPGRADE_ACTION)
}

fn is_of_template(difference: &Value) -> bool {
    difference.get("field").and_then(Value::as_str) == Some(TEMPLATE_FIELD)
}

fn name(object: &mut Value, field: &str, names: &TemplateNames) {
    let Some(value) = object.get_mut(field) else {
        return;
    };
    let named = value.as_str().map(|uuid| names.shown(uuid));
    if let Some(named) = named {
        *value = Value::String(named);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_template_is_shown_by_its_name_where_that_is_known() {
        let names = TemplateNames::of([("t2".to_owned(), "k8s-1.32".to_owned())]);
        let upgrade = json!({"action": "upgrade_cluster", "target": "t2"});
        let differences = json!([
            {"field": "State", "before": "t2", "after": "UPDATE_COMPLETE"},
            {"field": "Template", "before": "t1", "after": "t2"},
            {"field": "Template", "after": "t2"}
        ]);
        let observed = json!({"status": "UPDATE_COMPLETE", "differences": differences});
        let other = json!({"action": "resize_node_group", "target": "t2"});
        let mut all = [upgrade, observed, other.clone()];
        let needed: Vec<_> = all.iter().map(has_template).collect();
        assert_eq!(needed, [true, true, false]);
        for content in &mut all {
            name_templates(content, &names);
        }
        assert_eq!(all[0]["target"], "k8s-1.32");
        let named = &all[1]["differences"];
        assert_eq!(named[0]["before"], "t2", "a state is not a template");
        assert_eq!(named[1]["before"], "t1", "it is not known");
        assert_eq!(named[1]["after"], "k8s-1.32");
        assert_eq!(named[2]["after"], "k8s-1.32");
        assert_eq!(all[2], other);
    }
}
