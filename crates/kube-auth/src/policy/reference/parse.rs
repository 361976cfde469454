//! Parsing of JSON. Stricter than the reference where that only ignores faults: what would crash
//! it, or what it would leave out of a rule and so widen it, is an error, and so is a rule about
//! all users that does not say so explicitly.
use super::super::PolicyError;
use super::super::bounds::{check_json, check_rules};
use super::version1::{Match, NonResource, Resource};
use super::version2::{PathPermission, Permission};
use super::{Entry, Rules, Users};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

impl Rules {
    /// Reads a list of entries.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        check_json(text)?;
        let entries: Vec<Value> =
            serde_json::from_str(text).map_err(|error| PolicyError::Syntax(error.to_string()))?;
        check_rules(entries.len())?;
        let entry = |(index, value)| {
            entry(value).map_err(|problem| PolicyError::Rule {
                rule: index + 1,
                problem,
            })
        };
        entries
            .into_iter()
            .enumerate()
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn entry(value: Value) -> Result<Entry, String> {
    let mut entry = Entry::default();
    for (key, value) in object("the entry", value)? {
        // null is equivalent to absent
        if value.is_null() {
            continue;
        }
        match lowercase(&key).as_str() {
            "users" => entry.users = Some(users(value)?),
            "match" => entry.matches = matches(value)?,
            "resource" => entry.resource = Some(resource(value)?),
            "nonresource" => entry.nonresource = Some(nonresource(value)?),
            "resource_permissions" => {
                let new = |(on, verbs)| Permission::new(on, verbs);
                entry.resource_permissions = Some(permissions(&key, value)?.map(new).collect());
            }
            "nonresource_permissions" => {
                let new = |(path, verbs)| PathPermission { path, verbs };
                entry.nonresource_permissions = Some(permissions(&key, value)?.map(new).collect());
            }
            _ => return Err(unknown(&key, "the entry")),
        }
    }
    let version1 = entry.resource.is_some() || entry.nonresource.is_some();
    if version1 && entry.users.is_none() && entry.matches.is_empty() {
        return Err(
            "without match or users it would apply to everyone; if that is intended, write \
             {\"type\": \"user\", \"values\": [\"*\"]}"
                .to_owned(),
        );
    }
    let version2 = entry.resource_permissions.is_some() || entry.nonresource_permissions.is_some();
    // match is not evaluated then
    if version2 && entry.users.is_none() {
        return Err(
            "without users it would apply to everyone who can sign in: name the projects \
                    in {\"users\": {\"projects\": [...]}}"
                .to_owned(),
        );
    }
    Ok(entry)
}

fn users(value: Value) -> Result<Users, String> {
    let mut users = Users::default();
    for (key, value) in object("users", value)? {
        match key.as_str() {
            "roles" => users.roles = strings("users.roles", value)?,
            "projects" => users.projects = strings("users.projects", value)?,
            // the reference ignores this, and the entry applies to more users than it states
            _ => return Err(unknown(&key, "users, which knows roles and projects")),
        }
    }
    Ok(users)
}

fn matches(value: Value) -> Result<Vec<Match>, String> {
    let list: Vec<Value> = typed("match", "a list", value)?;
    list.into_iter()
        .map(|one| {
            let mut found = Match {
                kind: String::new(),
                values: Vec::new(),
            };
            for (key, value) in object("match", one)? {
                match lowercase(&key).as_str() {
                    "type" => found.kind = typed("match.type", "a string", value)?,
                    "values" => found.values = strings("match.values", value)?,
                    _ => return Err(unknown(&key, "match")),
                }
            }
            if found.values.iter().any(String::is_empty) {
                return Err(
                    "match.values must not hold \"\": k8s-keystone-auth takes it for every user; \
                     if that is intended, write \"*\""
                        .to_owned(),
                );
            }
            Ok(found)
        })
        .collect()
}

fn resource(value: Value) -> Result<Resource, String> {
    let (mut verbs, mut resources) = (Vec::new(), Vec::new());
    let (mut group, mut namespace) = (None, None);
    for (key, value) in object("resource", value)? {
        match lowercase(&key).as_str() {
            "verbs" => verbs = strings("resource.verbs", value)?,
            "resources" => resources = strings("resource.resources", value)?,
            "version" => group = typed("resource.version", "a string", value)?,
            "namespace" => namespace = typed("resource.namespace", "a string", value)?,
            _ => return Err(unknown(&key, "resource")),
        }
    }
    let needed = |what: &str, value: Option<String>| {
        value.ok_or_else(|| {
            format!(
                "resource.{what} is missing, on which k8s-keystone-auth crashes; \"*\" means all"
            )
        })
    };
    Ok(Resource {
        verbs,
        resources,
        group: needed("version", group)?,
        namespace: needed("namespace", namespace)?,
    })
}

fn nonresource(value: Value) -> Result<NonResource, String> {
    let (mut verbs, mut path) = (Vec::new(), None);
    for (key, value) in object("nonresource", value)? {
        match lowercase(&key).as_str() {
            "verbs" => verbs = strings("nonresource.verbs", value)?,
            "path" => path = typed("nonresource.path", "a string", value)?,
            _ => return Err(unknown(&key, "nonresource")),
        }
    }
    Ok(NonResource { verbs, path })
}

/// Returns verbs by what they are allowed on.
fn permissions(
    key: &str,
    value: Value,
) -> Result<impl Iterator<Item = (String, Vec<String>)>, String> {
    let list: Result<Vec<_>, String> = object(key, value)?
        .into_iter()
        .map(|(on, verbs)| {
            let verbs = strings(&format!("{key} {on:?}"), verbs)?;
            Ok((on, verbs))
        })
        .collect();
    Ok(list?.into_iter())
}

/// Lowercases a key: the reference's JSON decoder ignores the case of its own keys.
fn lowercase(key: &str) -> String {
    key.to_ascii_lowercase()
}

fn unknown(key: &str, place: &str) -> String {
    format!("unknown key {key:?} in {place}")
}

fn object(what: &str, value: Value) -> Result<Object, String> {
    typed(what, "an object", value)
}

fn strings(what: &str, value: Value) -> Result<Vec<String>, String> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    typed(what, "a list of strings", value)
}

fn typed<T: DeserializeOwned>(what: &str, kind: &str, value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|_| format!("{what} must be {kind}"))
}
