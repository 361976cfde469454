//! What this tab remembers of the addresses that it has shown.
use super::address::{NAMESPACE, cluster_base, list_kind, object_of, parameter};
use crate::kind_names;
use std::fmt::Write;

/// Maximum number of lists whose view is stored.
const MAX_LISTS: usize = 60;
/// Maximum number of objects that are offered as recent ones.
const MAX_RECENT: usize = 8;

/// What this tab remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Cluster and its chosen namespaces.
    namespaces: Vec<(String, String)>,
    /// Address of a list and its last query, the last visited one first.
    queries: Vec<(String, String)>,
    /// Objects' pages, the last visited one first.
    pub recent: Vec<String>,
}

impl Memory {
    pub fn namespaces(&self, cluster: &str) -> Option<&str> {
        let (_, names) = self.namespaces.iter().find(|(known, _)| known == cluster)?;
        Some(names)
    }

    pub fn query(&self, path: &str) -> &str {
        let known = self.queries.iter().find(|(known, _)| known == path);
        known.map_or("", |(_, query)| query)
    }

    fn choose(&mut self, cluster: &str, namespaces: Option<&str>) {
        self.namespaces.retain(|(known, _)| known != cluster);
        if let Some(names) = namespaces {
            self.namespaces.push((cluster.to_owned(), names.to_owned()));
        }
    }

    /// Notes what a visited address says.
    pub fn visit(&mut self, path: &str, query: &str) {
        if let Some(object) = object_of(path) {
            self.recent.retain(|known| *known != object.path);
            self.recent.insert(0, object.path);
            self.recent.truncate(MAX_RECENT);
            return;
        }
        let (Some(kind), Some(cluster)) = (list_kind(path), cluster_base(path)) else {
            return;
        };
        let chosen = parameter(query, NAMESPACE);
        match kind_names::is_namespaced(&kind) {
            Some(true) => self.choose(cluster, chosen),
            Some(false) => {}
            None if chosen.is_some() => self.choose(cluster, chosen),
            // a kind that may have no namespaces: they are given up only where they were in force
            None => {
                let before = parameter(self.query(path), NAMESPACE);
                if before.is_some() && before == self.namespaces(cluster) {
                    self.choose(cluster, None);
                }
            }
        }
        self.queries.retain(|(known, _)| known != path);
        self.queries.insert(0, (path.to_owned(), query.to_owned()));
        self.queries.truncate(MAX_LISTS);
    }

    /// One line per fact; an address has no space and no line break.
    pub fn write(&self) -> String {
        let mut text = String::new();
        for (cluster, names) in &self.namespaces {
            let _ = writeln!(text, "n {cluster} {names}");
        }
        for (path, query) in &self.queries {
            let _ = writeln!(text, "l {path} {query}");
        }
        for path in &self.recent {
            let _ = writeln!(text, "r {path}");
        }
        text
    }

    pub fn read(text: &str) -> Self {
        let mut memory = Self::default();
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (kind, first) = (words.next(), words.next().unwrap_or_default().to_owned());
            let second = words.next().unwrap_or_default().to_owned();
            match kind {
                Some("n") => memory.namespaces.push((first, second)),
                Some("l") => memory.queries.push((first, second)),
                Some("r") => memory.recent.push(first),
                _ => {}
            }
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "/projects/p/clusters/8c6a4c1b-7a3e-4a76-9f0e-2d1c5b3a9e10";

    fn at(page: &str) -> String {
        format!("{CLUSTER}/{page}")
    }

    #[test]
    fn finding_p25_chosen_namespaces_stay_until_a_list_of_all_is_shown() {
        let mut memory = Memory::default();
        memory.visit(&at("resources/core/v1/pods"), "namespace=a%2Cb&q=web");
        assert_eq!(memory.namespaces(CLUSTER), Some("a%2Cb"));
        // neither a kind without namespaces nor an object's page changes them
        memory.visit(&at("resources/core/v1/nodes"), "");
        memory.visit(&at("namespaces/c/core/v1/pods/web-0"), "");
        memory.visit(CLUSTER, "");
        assert_eq!(memory.namespaces(CLUSTER), Some("a%2Cb"));
        memory.visit(&at("resources/apps/v1/deployments"), "q=x");
        assert_eq!(memory.namespaces(CLUSTER), None);
    }

    #[test]
    fn a_custom_kind_without_namespaces_leaves_the_choice_alone() {
        let mut memory = Memory::default();
        let custom = at("resources/data.example.org/v1/backups");
        memory.visit(&at("resources/core/v1/pods"), "namespace=a");
        memory.visit(&custom, "");
        assert_eq!(memory.namespaces(CLUSTER), Some("a"));
        memory.visit(&custom, "namespace=b");
        assert_eq!(memory.namespaces(CLUSTER), Some("b"));
        memory.visit(&custom, "");
        assert_eq!(memory.namespaces(CLUSTER), None);
    }

    #[test]
    fn a_list_is_found_again_as_it_was_left() {
        let mut memory = Memory::default();
        let query = "namespace=a&q=web&sort=-age&offset=200";
        memory.visit(&at("resources/core/v1/pods"), query);
        memory.visit(&at("namespaces/a/core/v1/pods/web-0"), "");
        assert_eq!(memory.query(&at("resources/core/v1/pods")), query);
        assert_eq!(memory.recent, [at("namespaces/a/core/v1/pods/web-0")]);
        assert_eq!(Memory::read(&memory.write()), memory);
    }
}
