use super::*;
use serde_json::json;

fn kinds(list: &[(&str, &str, &str)]) -> Value {
    list.iter()
        .map(|(group, version, kind)| json!({"group": group, "version": version, "kind": kind}))
        .collect()
}

fn v2() -> Value {
    json!({"swagger": "2.0", "definitions": {
        "org.example.v1.Widget": {
            "description": "A widget.",
            "type": "object",
            "required": ["spec"],
            "properties": {
                "spec": {"description": "What to do.", "$ref": "#/definitions/org.example.v1.WidgetSpec"},
                "metadata": {"$ref": "#/definitions/meta.ObjectMeta"},
            },
            GROUP_VERSION_KIND: kinds(&[("example.org", "v1", "Widget")]),
            "x-kubernetes-action": "post",
        },
        "org.example.v1.WidgetSpec": {
            "type": "object",
            "properties": {
                "example": {"type": "string", "example": "a"},
                "port": {"$ref": "#/definitions/util.IntOrString"},
                "size": {"$ref": format!("#/definitions/{QUANTITY}")},
                "lost": {"description": "Refers nowhere.", "$ref": "#/definitions/Lost"},
                "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "labels": {"type": "object", "additionalProperties": {"type": "string", "example": "x"}},
                "open": {"type": "object", "additionalProperties": true},
                "ports": {
                    "type": "array",
                    "items": {"$ref": "#/definitions/meta.ObjectMeta"},
                    "x-kubernetes-list-map-keys": ["name"],
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-patch-merge-key": "name",
                    "x-kubernetes-patch-strategy": "merge",
                },
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            },
        },
        "meta.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}},
        "util.IntOrString": {"type": "string", "format": "int-or-string"},
        QUANTITY: {"type": "string"},
        "Unrelated": {"type": "object"},
        "meta.DeleteOptions": {
            "type": "object",
            GROUP_VERSION_KIND: kinds(&[("example.org", "v1", "Widget"), ("apps", "v1", "DeleteOptions")]),
        },
        "schema.Props": {
            "properties": {
                "not": {"$ref": "#/definitions/schema.Props"},
                "properties": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/definitions/schema.Props"},
                },
                "items": {"$ref": "#/definitions/schema.PropsOrArray"},
            },
            GROUP_VERSION_KIND: kinds(&[("", "v1", "Props")]),
        },
        "schema.PropsOrArray": {"properties": {"schema": {"$ref": "#/definitions/schema.Props"}}},
    }})
}

fn widget() -> Value {
    let schema = from_v2(&v2(), "example.org", "v1", "Widget").unwrap();
    serde_json::to_value(schema).unwrap()
}

fn field(schema: &Value, name: &str) -> Value {
    schema["definitions"]["org.example.v1.WidgetSpec"]["properties"][name].clone()
}

/// Returns every `$ref` of a schema.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(target) if key == "$ref" => vec![target.clone()],
                other => references(other),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_kind_comes_with_what_it_refers_to_and_nothing_else() {
    let schema = widget();
    assert_eq!(
        schema["root"],
        json!({"$ref": "#/definitions/org.example.v1.Widget"})
    );
    let names: Vec<_> = schema["definitions"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            QUANTITY,
            "meta.ObjectMeta",
            "org.example.v1.Widget",
            "org.example.v1.WidgetSpec",
            "util.IntOrString"
        ]
    );
}

#[test]
fn a_kind_is_found_in_exactly_its_group_and_version() {
    let document = v2();
    assert!(from_v2(&document, "example.org", "v1", "Widget").is_some());
    for (group, version, kind) in [
        ("example.com", "v1", "Widget"),
        ("example.org", "v1beta1", "Widget"),
        ("example.org", "v1", "widget"),
        ("", "v1", "Widget"),
        ("", "", ""),
    ] {
        let found = from_v2(&document, group, version, kind);
        assert_eq!(found, None, "{group}/{version} {kind}");
    }
}

#[test]
fn a_document_without_definitions_has_no_kinds() {
    for document in [json!({}), json!([]), json!({"definitions": 1}), Value::Null] {
        assert_eq!(from_v2(&document, "", "v1", "Pod"), None);
        assert_eq!(from_v3(&document, "", "v1", "Pod"), None);
    }
}

#[test]
fn keywords_are_left_out_and_properties_of_the_same_name_are_not() {
    let schema = widget();
    assert_eq!(
        schema["definitions"]["org.example.v1.Widget"],
        json!({
            "description": "A widget.",
            "type": "object",
            "required": ["spec"],
            "properties": {
                "spec": {"description": "What to do.", "$ref": "#/definitions/org.example.v1.WidgetSpec"},
                "metadata": {"$ref": "#/definitions/meta.ObjectMeta"},
            },
        })
    );
    assert_eq!(field(&schema, "example"), json!({"type": "string"}));
    assert_eq!(
        field(&schema, "labels"),
        json!({"type": "object", "additionalProperties": {"type": "string"}})
    );
}

#[test]
fn keywords_of_lists_maps_and_values_are_copied() {
    let (schema, source) = (widget(), v2());
    for name in ["mode", "open", "ports", "any"] {
        let source = source["definitions"]["org.example.v1.WidgetSpec"]["properties"][name].clone();
        assert_eq!(field(&schema, name), source, "{name}");
    }
}

#[test]
fn a_number_or_string_has_one_form_in_both_versions() {
    let expected = json!({"format": "int-or-string", INT_OR_STRING: true});
    assert_eq!(widget()["definitions"]["util.IntOrString"], expected);
    let schema = from_v3(&v3(), "example.org", "v1", "Widget").unwrap();
    assert_eq!(schema.definitions["util.IntOrString"], expected);
    assert_eq!(widget()["definitions"][QUANTITY], json!({}));
}

#[test]
fn a_reference_to_nothing_is_left_out() {
    let schema = widget();
    assert_eq!(
        field(&schema, "lost"),
        json!({"description": "Refers nowhere."})
    );
    assert!(field(&schema, "port").get("$ref").is_some());
}

#[test]
fn definitions_that_refer_to_each_other_appear_once() {
    let schema = from_v2(&v2(), "", "v1", "Props").unwrap();
    let names: Vec<_> = schema.definitions.keys().collect();
    assert_eq!(names, ["schema.Props", "schema.PropsOrArray"]);
    assert_eq!(
        schema.definitions["schema.Props"]["properties"]["properties"]["additionalProperties"],
        json!({"$ref": "#/definitions/schema.Props"})
    );
}

fn v3() -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    json!({"openapi": "3.0.0", "components": {"schemas": {
        "org.example.v1.Widget": {
            "type": "object",
            "properties": {
                "spec": {"allOf": [reference("org.example.v1.WidgetSpec")], "default": {}, "description": "Outer."},
                "port": {"allOf": [reference("util.IntOrString")]},
                "two": {"allOf": [reference("util.IntOrString"), {"description": "Second."}]},
                "typed": {"type": "string", "allOf": [{"type": "string", "format": "byte"}]},
                "described": {"allOf": [{"type": "string", "description": "Inner.", "default": "inner"}]},
                "both": {"description": "Outer.", "allOf": [{"type": "string", "description": "Inner."}]},
            },
            GROUP_VERSION_KIND: kinds(&[("example.org", "v1", "Widget")]),
        },
        "org.example.v1.WidgetSpec": {"type": "object", "nullable": true},
        "util.IntOrString": {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
        "Unrelated": {"type": "object"},
    }}})
}

#[test]
fn version_3_is_returned_in_the_form_of_version_2() {
    let schema = from_v3(&v3(), "example.org", "v1", "Widget").unwrap();
    assert_eq!(schema.root.target, "#/definitions/org.example.v1.Widget");
    assert_eq!(schema.definitions.len(), 3);
    assert_eq!(
        schema.definitions["org.example.v1.Widget"]["properties"],
        json!({
            "spec": {"$ref": "#/definitions/org.example.v1.WidgetSpec", "default": {}, "description": "Outer."},
            "port": {"$ref": "#/definitions/util.IntOrString"},
            "two": {"allOf": [{"$ref": "#/definitions/util.IntOrString"}, {"description": "Second."}]},
            "typed": {"type": "string", "allOf": [{"type": "string", "format": "byte"}]},
            "described": {"type": "string", "description": "Inner.", "default": "inner"},
            "both": {"type": "string", "description": "Outer."},
        })
    );
    // the references of one version mean nothing in the other
    assert_eq!(from_v2(&v3(), "example.org", "v1", "Widget"), None);
    assert_eq!(from_v3(&v2(), "example.org", "v1", "Widget"), None);
}

#[test]
fn names_with_a_slash_are_found() {
    let document = json!({"definitions": {
        "a/b~c": {"type": "string"},
        "Root": {
            "properties": {"field": {"$ref": "#/definitions/a~1b~0c"}},
            GROUP_VERSION_KIND: kinds(&[("", "v1", "Root")]),
        },
    }});
    let schema = from_v2(&document, "", "v1", "Root").unwrap();
    assert_eq!(schema.definitions["a/b~c"], json!({"type": "string"}));
    assert_eq!(
        schema.definitions["Root"]["properties"]["field"]["$ref"],
        "#/definitions/a~1b~0c"
    );
}

#[test]
fn more_definitions_than_the_limit_are_left_out_with_their_references() {
    for (count, expected) in [(10, 10), (MAX_DEFINITIONS + 100, MAX_DEFINITIONS)] {
        let mut definitions: Map<String, Value> = (1..count)
            .map(|number| {
                let next = json!({"$ref": format!("#/definitions/{}", number + 1)});
                (number.to_string(), json!({"properties": {"next": next}}))
            })
            .collect();
        definitions.insert(
            "0".to_owned(),
            json!({
                "items": {"$ref": "#/definitions/1"},
                GROUP_VERSION_KIND: kinds(&[("", "v1", "Chain")]),
            }),
        );
        let document = json!({"definitions": definitions});
        let schema = from_v2(&document, "", "v1", "Chain").unwrap();
        assert_eq!(schema.definitions.len(), expected);
        for reference in references(&serde_json::to_value(&schema).unwrap()) {
            let name = reference.strip_prefix(V2_REFERENCE).unwrap();
            assert!(schema.definitions.contains_key(name), "{reference}");
        }
    }
}

#[test]
fn schemas_deeper_than_the_limit_allow_any_value() {
    let nested = |depth: usize| {
        let innermost = json!({"type": "string"});
        (1..depth).fold(
            innermost,
            |inner, _| json!({"type": "array", "items": inner}),
        )
    };
    for (depth, is_whole) in [(MAX_SCHEMA_DEPTH, true), (MAX_SCHEMA_DEPTH + 1, false)] {
        let mut root = nested(depth);
        let reduced = root.clone();
        root[GROUP_VERSION_KIND] = kinds(&[("", "v1", "Deep")]);
        let schema = from_v2(&json!({"definitions": {"Deep": root}}), "", "v1", "Deep").unwrap();
        assert_eq!(schema.definitions["Deep"] == reduced, is_whole, "{depth}");
    }
}

#[test]
fn malformed_schemas_allow_any_value() {
    let document = json!({"definitions": {"Odd": {
        "$ref": 3,
        "properties": {"list": {"items": [{"type": "string"}]}, "none": null, "yes": true},
        "allOf": [true],
        GROUP_VERSION_KIND: kinds(&[("", "v1", "Odd")]),
    }}});
    let schema = from_v2(&document, "", "v1", "Odd").unwrap();
    assert_eq!(
        schema.definitions["Odd"],
        json!({"properties": {"list": {"items": {}}, "none": {}, "yes": {}}})
    );
}

#[test]
fn the_index_gives_the_url_of_a_group_version() {
    let index = json!({"paths": {
        "api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=AB12"},
        "apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=CD%2B34&v=1"},
        "apis/example.org/v1": {"serverRelativeURL": "/openapi/v3/apis/example.org/v1"},
        "apis/number.org/v1": {"serverRelativeURL": 1},
    }});
    for (group, version, expected) in [
        ("", "v1", Some("/openapi/v3/api/v1?hash=AB12")),
        (
            "apps",
            "v1",
            Some("/openapi/v3/apis/apps/v1?hash=CD%2B34&v=1"),
        ),
        ("example.org", "v1", Some("/openapi/v3/apis/example.org/v1")),
        ("apps", "v2", None),
        ("number.org", "v1", None),
    ] {
        assert_eq!(
            v3_path(&index, group, version).as_deref(),
            expected,
            "{group}/{version}"
        );
    }
    assert_eq!(v3_path(&json!({"paths": ["api/v1"]}), "", "v1"), None);
}

#[test]
fn urls_outside_the_documents_of_version_3_are_refused() {
    let accepted = |url: &str| {
        let index = json!({"paths": {"api/v1": {"serverRelativeURL": url}}});
        v3_path(&index, "", "v1").is_some()
    };
    assert!(accepted("/openapi/v3/api/v1?hash=1"));
    for url in [
        "",
        "/openapi/v3",
        "/openapi/v3/",
        "/openapi/v30/api/v1",
        "/api/v1/secrets",
        "openapi/v3/api/v1",
        "//evil.example/openapi/v3/api/v1",
        "https://evil.example/openapi/v3/api/v1",
        "/openapi/v3/../../api/v1/secrets",
        "/openapi/v3/./api/v1",
        "/openapi/v3//evil.example",
        "/openapi/v3/%2e%2e/api/v1",
        "/openapi/v3/..%2fapi",
        "/openapi/v3/..\\api",
        "/openapi/v3/api/v1@evil.example",
        "/openapi/v3/api/v1#part",
        "/openapi/v3/api/v1?hash=1#part",
        "/openapi/v3/api/v1?a=/../",
        "/openapi/v3/api/v1 HTTP/1.1",
        "/openapi/v3/api/v1\r\nX: y",
        "/openapi/v3/api/v\u{e9}",
        "/openapi/v3/api/v1?next=https://evil.example",
        " /openapi/v3/api/v1",
    ] {
        assert!(!accepted(url), "{url:?}");
    }
    let long = |length: usize| format!("{V3_PREFIX}{}", "a".repeat(length - V3_PREFIX.len()));
    assert!(accepted(&long(MAX_V3_PATH_BYTES)));
    assert!(!accepted(&long(MAX_V3_PATH_BYTES + 1)));
}
