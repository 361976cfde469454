//! Custom resources and their definitions: the fields as they are.
use super::{super::pod_template::items, status, table, text};
use portico_domain::panel::{DetailCell, DetailTable, Health};
use serde_json::Value;

/// Maximum number of fields that are shown of a specification or status; the YAML has all.
const MAX_FIELDS: usize = 60;
/// Maximum number of characters of one value.
const MAX_VALUE_CHARS: usize = 200;

/// Returns the specification and the status of an object as paths and values.
pub fn fields(value: &Value) -> Vec<DetailTable> {
    [("Specification", "spec"), ("Status", "status")]
        .into_iter()
        .map(|(title, part)| {
            let mut rows = Vec::new();
            let mut left_out = 0;
            flatten(&value[part], &mut String::new(), &mut |path, value| {
                // conditions have a card of their own
                if part == "status" && path.starts_with("conditions[") {
                    return;
                }
                if rows.len() < MAX_FIELDS {
                    rows.push(vec![DetailCell::from(path), shortened(&value).into()]);
                } else {
                    left_out += 1;
                }
            });
            if left_out > 0 {
                rows.push(vec![
                    format!("{left_out} more fields").into(),
                    "see the YAML".into(),
                ]);
            }
            table(title, &["Field", "Value"], rows)
        })
        .collect()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn flatten(value: &Value, path: &mut String, found: &mut impl FnMut(&str, String)) {
    let length = path.len();
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                flatten(value, path, found);
                path.truncate(length);
            }
        }
        Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in list.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                flatten(item, path, found);
                path.truncate(length);
            }
        }
        Value::Array(list) => {
            let texts: Vec<_> = list.iter().map(text).collect();
            found(path, texts.join(", "));
        }
        Value::Object(_) => found(path, "{}".to_owned()),
        Value::Null => {}
        scalar => found(path, text(scalar)),
    }
}

/// Returns the versions of a definition.
pub fn versions(value: &Value) -> DetailTable {
    let rows = items(&value["spec"]["versions"])
        .map(|version| {
            let is = |name: &str| version[name] == true;
            vec![
                text(&version["name"]).into(),
                if is("served") { "yes" } else { "no" }.into(),
                if is("storage") { "yes" } else { "no" }.into(),
                if is("deprecated") {
                    status("Deprecated", Health::Warning)
                } else {
                    "".into()
                },
            ]
        })
        .collect();
    table("Versions", &["Version", "Served", "Stored", "State"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_a_custom_resource_are_paths_with_values() {
        let tables = fields(&json!({
            "spec": {"size": 3, "hosts": ["a", "b"], "rules": [{"port": 1}], "empty": {}, "none": null},
            "status": {"phase": "Ready", "conditions": [{"type": "Ready"}]},
        }));
        let words = |table: &DetailTable| -> Vec<String> {
            let rows = table.rows.iter();
            rows.map(|row| format!("{}={}", row[0].text, row[1].text))
                .collect()
        };
        let mut spec = words(&tables[0]);
        spec.sort();
        assert_eq!(
            spec,
            ["empty={}", "hosts=a, b", "rules[0].port=1", "size=3"]
        );
        assert_eq!(words(&tables[1]), ["phase=Ready"]);
    }

    #[test]
    fn a_large_specification_is_cut_and_its_rest_is_counted() {
        let many: serde_json::Map<_, _> = (0..MAX_FIELDS + 5)
            .map(|number| (format!("f{number}"), json!(number)))
            .collect();
        let tables = fields(&json!({ "spec": many }));
        assert_eq!(tables[0].rows.len(), MAX_FIELDS + 1);
        assert_eq!(tables[0].rows[MAX_FIELDS][0].text, "5 more fields");
    }
}
