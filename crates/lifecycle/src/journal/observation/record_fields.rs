//! The fields of a record that are compared alike: single values, values by name, and lists.
use super::{Difference, MAX_TEXT_CHARS, OWNER_FIELD, differences::compare, text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of entries of a map or a list.
const MAX_ITEMS: usize = 200;

/// The words for a key, and whether only a request of a client changes the field.
struct Field {
    key: &'static str,
    words: &'static str,
    is_requested: bool,
}

const fn reported(key: &'static str, words: &'static str) -> Field {
    Field {
        key,
        words,
        is_requested: false,
    }
}

const fn requested(key: &'static str, words: &'static str) -> Field {
    Field {
        is_requested: true,
        ..reported(key, words)
    }
}

/// Of a cluster, in the order in which a user wants to know them.
const CLUSTER_VALUES: [Field; 12] = [
    requested("owner", OWNER_FIELD),
    reported("keypair", "Keypair"),
    reported("flavor", "Flavor"),
    reported("master_flavor", "Flavor of the control plane"),
    reported("network", "Network"),
    reported("subnet", "Subnet"),
    reported("floating_ips", "Floating IPs"),
    reported("load_balancer", "Load balancer of the control plane"),
    reported("docker_volume", "Docker volume in GiB"),
    reported("driver_id", "ID of the stack or the Cluster API cluster"),
    reported("discovery_url", "Discovery URL"),
    reported("runtime", "Version of the container runtime"),
];
const CLUSTER_MAPS: [Field; 3] = [
    reported("labels", "Label"),
    reported("faults", "Failure of"),
    reported("health_reasons", "Health of"),
];
const CLUSTER_LISTS: [Field; 2] = [
    reported("node_addresses", "Addresses of nodes"),
    reported("master_addresses", "Addresses of the control plane"),
];

/// Of a node group; its name follows the words.
const GROUP_VALUES: [Field; 9] = [
    requested("min", "Minimum"),
    requested("max", "Maximum"),
    reported("reason", "Reason"),
    reported("role", "Role"),
    reported("image", "Image"),
    reported("version", "Kubernetes version"),
    reported("docker_volume", "Docker volume in GiB"),
    reported("driver_id", "ID of the stack"),
    reported("id", "UUID"),
];
const GROUP_MAPS: [Field; 2] = [
    requested("node_labels", "Node label"),
    reported("labels", "Label"),
];
const GROUP_LISTS: [Field; 2] = [
    requested("node_taints", "Taints"),
    reported("addresses", "Addresses"),
];

/// Fields by key. A key that an observation lacks was not read, or not known to the version of Portico that
/// wrote the observation: it is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordFields {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<String, Option<String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    maps: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lists: BTreeMap<String, BTreeSet<String>>,
}

impl RecordFields {
    /// Returns whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.maps.is_empty() && self.lists.is_empty()
    }

    /// Sets a single value; `None` and an empty one: the record has none.
    pub fn value(&mut self, key: &str, value: Option<&str>) {
        let value = value.and_then(text);
        self.values.insert(key.to_owned(), value);
    }

    /// Sets values by name, of which the first 200 are compared.
    pub fn map(&mut self, key: &str, map: &BTreeMap<String, String>) {
        let items = map.iter().take(MAX_ITEMS);
        let items = items.map(|(name, value)| (cut(name), cut(value)));
        self.maps.insert(key.to_owned(), items.collect());
    }

    /// Sets a list whose order means nothing, of which the first 200 are compared.
    pub fn list(&mut self, key: &str, list: &[String]) {
        let items: BTreeSet<String> = list.iter().map(|item| cut(item)).collect();
        let items = items.into_iter().take(MAX_ITEMS).collect();
        self.lists.insert(key.to_owned(), items);
    }

    /// Returns a value that the record has.
    pub(super) fn known(&self, key: &str) -> Option<&String> {
        self.values.get(key)?.as_ref()
    }

    /// Returns these fields with those that only the previous observation has.
    pub(super) fn completed_by(mut self, before: &Self) -> Self {
        complete(&mut self.values, &before.values);
        complete(&mut self.maps, &before.maps);
        complete(&mut self.lists, &before.lists);
        self
    }

    /// Returns the size of the texts.
    pub(super) fn bytes(&self) -> usize {
        let values = self.values.values().flatten().map(String::len);
        let maps = self.maps.values().flatten();
        let maps = maps.map(|(name, value)| name.len() + value.len());
        let lists = self.lists.values().flatten().map(String::len);
        values.chain(maps).chain(lists).sum()
    }
}

/// Returns what differs between the fields of a cluster.
pub fn of_cluster(before: &RecordFields, after: &RecordFields) -> Vec<Difference> {
    let mut all = Vec::new();
    values(&mut all, &CLUSTER_VALUES, "", (before, after));
    maps(&mut all, &CLUSTER_MAPS, "", (before, after));
    lists(&mut all, &CLUSTER_LISTS, "", (before, after));
    all
}

/// Returns what differs between the fields of the node group `name`.
pub fn of_group(name: &str, before: &RecordFields, after: &RecordFields) -> Vec<Difference> {
    let of = format!(" of {name}");
    let mut all = Vec::new();
    values(&mut all, &GROUP_VALUES, &of, (before, after));
    maps(&mut all, &GROUP_MAPS, &of, (before, after));
    lists(&mut all, &GROUP_LISTS, &of, (before, after));
    all
}

fn values(
    all: &mut Vec<Difference>,
    fields: &[Field],
    of: &str,
    (before, after): (&RecordFields, &RecordFields),
) {
    for field in fields {
        let both = before
            .values
            .get(field.key)
            .zip(after.values.get(field.key));
        let Some((before, after)) = both else {
            continue;
        };
        // a reason that is cleared explains nothing
        if field.key == "reason" && after.is_none() {
            continue;
        }
        let words = format!("{}{of}", field.words);
        let (before, after) = (before.as_deref(), after.as_deref());
        compare(all, &words, before, after, field.is_requested);
    }
}

fn maps(
    all: &mut Vec<Difference>,
    fields: &[Field],
    of: &str,
    (before, after): (&RecordFields, &RecordFields),
) {
    for field in fields {
        let both = before.maps.get(field.key).zip(after.maps.get(field.key));
        let Some((before, after)) = both else {
            continue;
        };
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let words = format!("{} {name}{of}", field.words);
            let (before, after) = (before.get(name), after.get(name));
            let (before, after) = (before.map(String::as_str), after.map(String::as_str));
            compare(all, &words, before, after, field.is_requested);
        }
    }
}

/// Adds what a list lost and what it got.
fn lists(
    all: &mut Vec<Difference>,
    fields: &[Field],
    of: &str,
    (before, after): (&RecordFields, &RecordFields),
) {
    for field in fields {
        let both = before.lists.get(field.key).zip(after.lists.get(field.key));
        let Some((before, after)) = both else {
            continue;
        };
        let words = format!("{}{of}", field.words);
        let (lost, got) = (joined(before, after), joined(after, before));
        compare(
            all,
            &words,
            lost.as_deref(),
            got.as_deref(),
            field.is_requested,
        );
    }
}

/// Returns what only the first list has, as a text.
fn joined(list: &BTreeSet<String>, other: &BTreeSet<String>) -> Option<String> {
    let items: Vec<&str> = list.difference(other).map(String::as_str).collect();
    text(&items.join(", "))
}

fn complete<V: Clone>(own: &mut BTreeMap<String, V>, before: &BTreeMap<String, V>) {
    for (key, value) in before {
        own.entry(key.clone()).or_insert_with(|| value.clone());
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}
