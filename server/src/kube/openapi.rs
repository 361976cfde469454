//! The schema of one kind, from a cluster's OpenAPI documents: version 2 has all kinds in one
//! document, version 3 has one document for each group version.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet, VecDeque},
};

/// Maximum number of definitions in the schema of one kind; references to more are left out.
pub const MAX_DEFINITIONS: usize = 2_000;
/// Maximum number of schemas nested in one definition, not counting references; a deeper schema is
/// replaced by one that allows any value.
pub const MAX_SCHEMA_DEPTH: usize = 50;
/// Maximum length of the URL of a document of version 3, in bytes.
pub const MAX_V3_PATH_BYTES: usize = 512;

const V2_REFERENCE: &str = "#/definitions/";
const V3_REFERENCE: &str = "#/components/schemas/";
const V3_PREFIX: &str = "/openapi/v3/";
const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
/// Keywords that are copied with their value.
const COPIED_KEYWORDS: [&str; 14] = [
    "default",
    "description",
    "enum",
    "format",
    "nullable",
    "required",
    "type",
    "x-kubernetes-embedded-resource",
    INT_OR_STRING,
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
];

/// The schema of one kind, and the definitions that it refers to. Each `$ref` in it is
/// `#/definitions/<name>` of a definition that is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindSchema {
    pub root: Reference,
    pub definitions: BTreeMap<String, Value>,
}

/// A reference to a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(rename = "$ref")]
    pub target: String,
}

/// Returns the schema of a kind from the document of `/openapi/v2`, or `None` if the document does
/// not define the kind.
pub fn from_v2(document: &Value, group: &str, version: &str, kind: &str) -> Option<KindSchema> {
    let source = document.get("definitions")?.as_object()?;
    collect(source, V2_REFERENCE, [group, version, kind])
}

/// Returns the schema of a kind from the document of `/openapi/v3/apis/<group>/<version>`, or
/// `None` if the document does not define the kind.
pub fn from_v3(document: &Value, group: &str, version: &str, kind: &str) -> Option<KindSchema> {
    let source = document.pointer("/components/schemas")?.as_object()?;
    collect(source, V3_REFERENCE, [group, version, kind])
}

/// Returns the URL of a group version's document from the index at `/openapi/v3`, with its query.
///
/// An aggregated API server writes a part of the index, and the URL is requested with the user's
/// credential. So only a plain path below `/openapi/v3/` is accepted: without a host, `.` and `..`
/// segments, empty segments and percent encoding.
pub fn v3_path(index: &Value, group: &str, version: &str) -> Option<String> {
    let key = if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    };
    let url = index
        .get("paths")?
        .get(&key)?
        .get("serverRelativeURL")?
        .as_str()?;
    is_document_url(url).then(|| url.to_owned())
}

fn is_document_url(url: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let Some(rest) = path.strip_prefix(V3_PREFIX) else {
        return false;
    };
    let is_segment =
        |segment: &str| !matches!(segment, "" | "." | "..") && segment.bytes().all(unreserved);
    url.len() <= MAX_V3_PATH_BYTES
        && rest.split('/').all(is_segment)
        && query
            .bytes()
            .all(|byte| unreserved(byte) || b"=&%".contains(&byte))
}

fn collect(
    source: &Map<String, Value>,
    prefix: &'static str,
    group_version_kind: [&str; 3],
) -> Option<KindSchema> {
    let mut collector = Collector {
        source,
        prefix,
        admitted: HashSet::new(),
        queue: VecDeque::new(),
    };
    let root = find(source, group_version_kind)?;
    collector.admit(root);
    let mut definitions = BTreeMap::new();
    // a queue, not recursion: definitions refer to each other in circles
    while let Some((name, schema)) = collector.queue.pop_front() {
        let mut reduced = collector.reduce(schema, 0);
        if name == QUANTITY {
            // the API server also accepts numbers, which version 2 cannot express
            reduced.remove("type");
        }
        definitions.insert(name.to_owned(), Value::Object(reduced));
    }
    Some(KindSchema {
        root: Reference {
            target: format!("{V2_REFERENCE}{}", escape(root)),
        },
        definitions,
    })
}

/// Returns the name of the definition of a kind. Definitions such as `DeleteOptions` are of many
/// kinds; the one of the fewest is the most specific.
fn find<'a>(source: &'a Map<String, Value>, wanted: [&str; 3]) -> Option<&'a str> {
    let is_wanted = |entry: &Value| {
        ["group", "version", "kind"].map(|field| entry.get(field).and_then(Value::as_str))
            == wanted.map(Some)
    };
    source
        .iter()
        .filter_map(|(name, schema)| {
            let kinds = schema.get(GROUP_VERSION_KIND)?.as_array()?;
            kinds.iter().any(is_wanted).then_some((kinds.len(), name))
        })
        .min()
        .map(|(_, name)| name.as_str())
}

struct Collector<'a> {
    source: &'a Map<String, Value>,
    prefix: &'static str,
    admitted: HashSet<&'a str>,
    queue: VecDeque<(&'a str, &'a Value)>,
}

impl<'a> Collector<'a> {
    /// Queues a definition on its first reference. Returns whether it will be in the result.
    fn admit(&mut self, name: &str) -> bool {
        if self.admitted.contains(name) {
            return true;
        }
        let Some((name, schema)) = self.source.get_key_value(name) else {
            return false;
        };
        if self.admitted.len() >= MAX_DEFINITIONS {
            return false;
        }
        self.admitted.insert(name);
        self.queue.push_back((name, schema));
        true
    }

    /// Returns the reference in the form of the result.
    fn reference(&mut self, reference: &str) -> Option<String> {
        let escaped = reference.strip_prefix(self.prefix)?;
        self.admit(&unescape(escaped))
            .then(|| format!("{V2_REFERENCE}{escaped}"))
    }

    /// Returns the keywords of a schema that a form and a check of an object need.
    fn reduce(&mut self, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let mut reduced = Map::new();
        let Some(schema) = schema.as_object().filter(|_| depth < MAX_SCHEMA_DEPTH) else {
            return reduced;
        };
        for (keyword, value) in schema {
            let value = match keyword.as_str() {
                "$ref" => value
                    .as_str()
                    .and_then(|reference| self.reference(reference))
                    .map(Value::String),
                "properties" => value.as_object().map(|properties| {
                    let reduced = properties.iter().map(|(name, property)| {
                        let property = self.reduce(property, depth + 1);
                        (name.clone(), Value::Object(property))
                    });
                    Value::Object(reduced.collect())
                }),
                "additionalProperties" if value.is_boolean() => Some(value.clone()),
                "items" | "additionalProperties" => {
                    Some(Value::Object(self.reduce(value, depth + 1)))
                }
                "allOf" => value.as_array().map(|parts| {
                    let reduced = parts
                        .iter()
                        .map(|part| Value::Object(self.reduce(part, depth + 1)));
                    Value::Array(reduced.collect())
                }),
                copied if COPIED_KEYWORDS.contains(&copied) => Some(value.clone()),
                _ => None,
            };
            if let Some(value) = value {
                reduced.insert(keyword.clone(), value);
            }
        }
        flatten(&mut reduced);
        mark_int_or_string(&mut reduced);
        reduced
    }
}

/// Replaces an `allOf` of one schema by that schema. Version 3 writes `allOf` where version 2 has a
/// `$ref` with a description beside it; the outer description and default apply.
fn flatten(schema: &mut Map<String, Value>) {
    let part = match schema.get("allOf").and_then(Value::as_array) {
        Some(parts) if parts.len() == 1 => parts[0].as_object(),
        _ => None,
    };
    let Some(part) = part else { return };
    let may_differ = ["default", "description"];
    let is_simple = part
        .keys()
        .all(|keyword| may_differ.contains(&keyword.as_str()) || !schema.contains_key(keyword));
    if is_simple {
        let part = part.clone();
        schema.remove("allOf");
        for (keyword, value) in part {
            schema.entry(keyword).or_insert(value);
        }
    }
}

/// Gives fields that are a number or a string one form. Version 2 has only the format and the type
/// `string`, which is wrong for the numbers; version 3 has `oneOf`.
fn mark_int_or_string(schema: &mut Map<String, Value>) {
    if schema.get("format").and_then(Value::as_str) == Some("int-or-string") {
        schema.remove("type");
        schema.insert(INT_OR_STRING.to_owned(), Value::Bool(true));
    }
}

/// Returns a name as a segment of a JSON pointer (RFC 6901).
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescape(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

#[cfg(test)]
#[path = "openapi_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "openapi_recorded_tests.rs"]
mod recorded_tests;
