//! Addresses of the pages of clusters that Magnum makes. The list is one route of the router and all other
//! pages are a second one, because each route costs every first page; the part that it loads tells them
//! apart.
//!
//! `…/managed-clusters` is the list, `…/managed-clusters/create` the form, and
//! `…/managed-clusters/<uuid>` one cluster, with its further pages in the query: `?view=delete`.
//! `…/managed-clusters/templates` is the list of templates, with `?view=<uuid>` one of them.
use super::{escaped, launchpad};
use portico_domain::panel::lifecycle::JournalFilter;
use uuid::Uuid;

/// The segment of the form for a new cluster.
const CREATE: &str = "create";
/// The segment of the cluster templates.
const TEMPLATES: &str = "templates";
const DELETE: &str = "delete";
const LEFTOVERS: &str = "leftovers";
const CONFIGURATION: &str = "configuration";
const JOURNAL: &str = "journal";
const NODE_GROUPS: &str = "node-groups";
const NODES: &str = "nodes";
const UPGRADE: &str = "upgrade";
const CERTIFICATES: &str = "certificates";
const OWNERSHIP: &str = "ownership";
const SETTLE: &str = "settle";

/// One of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagedClustersPage {
    List,
    /// The form for a new cluster.
    Create,
    /// Progress, details and failure of a cluster.
    Cluster(Uuid),
    /// Inventory and confirmation of a deletion.
    Delete(Uuid),
    /// What is left after a deletion.
    Leftovers(Uuid),
    /// What the API server of a cluster needs that others made.
    Configuration(Uuid),
    /// What was requested, and what was observed.
    Journal(Uuid),
    /// Sizes, bounds, labels, new groups, deletion.
    NodeGroups(Uuid),
    /// Servers and readiness of the nodes, and the removal of one.
    Nodes(Uuid),
    /// Targets, checks and approval of an upgrade.
    Upgrade(Uuid),
    /// The authority of a cluster, its rotation, and the signing of requests.
    Certificates(Uuid),
    /// The owner of a cluster, and the rotation of its credential.
    Ownership(Uuid),
    /// The way out of a failed change.
    Settle(Uuid),
    /// The cluster templates.
    Templates,
    /// Details, copy, flags and deletion of a template.
    Template(Uuid),
}

impl ManagedClustersPage {
    /// Returns the page of an address: its segment, empty for the list, and the value of `view` in its
    /// query. `None`: there is no such page.
    pub fn parse(segment: &str, view: &str) -> Option<Self> {
        match segment {
            "" => return Some(Self::List),
            CREATE => return Some(Self::Create),
            TEMPLATES if view.is_empty() => return Some(Self::Templates),
            TEMPLATES => return Uuid::parse_str(view).ok().map(Self::Template),
            _ => {}
        }
        let cluster = Uuid::parse_str(segment).ok()?;
        match view {
            "" => Some(Self::Cluster(cluster)),
            DELETE => Some(Self::Delete(cluster)),
            LEFTOVERS => Some(Self::Leftovers(cluster)),
            CONFIGURATION => Some(Self::Configuration(cluster)),
            JOURNAL => Some(Self::Journal(cluster)),
            NODE_GROUPS => Some(Self::NodeGroups(cluster)),
            NODES => Some(Self::Nodes(cluster)),
            UPGRADE => Some(Self::Upgrade(cluster)),
            CERTIFICATES => Some(Self::Certificates(cluster)),
            OWNERSHIP => Some(Self::Ownership(cluster)),
            SETTLE => Some(Self::Settle(cluster)),
            _ => None,
        }
    }

    /// Returns the address of the page in a project.
    pub fn address(self, project: &str) -> String {
        let base = list(project);
        match self {
            Self::List => base,
            Self::Create => format!("{base}/{CREATE}"),
            Self::Cluster(cluster) => format!("{base}/{cluster}"),
            Self::Delete(cluster) => format!("{base}/{cluster}?view={DELETE}"),
            Self::Leftovers(cluster) => format!("{base}/{cluster}?view={LEFTOVERS}"),
            Self::Configuration(cluster) => format!("{base}/{cluster}?view={CONFIGURATION}"),
            Self::Journal(cluster) => format!("{base}/{cluster}?view={JOURNAL}"),
            Self::NodeGroups(cluster) => format!("{base}/{cluster}?view={NODE_GROUPS}"),
            Self::Nodes(cluster) => format!("{base}/{cluster}?view={NODES}"),
            Self::Upgrade(cluster) => format!("{base}/{cluster}?view={UPGRADE}"),
            Self::Certificates(cluster) => format!("{base}/{cluster}?view={CERTIFICATES}"),
            Self::Ownership(cluster) => format!("{base}/{cluster}?view={OWNERSHIP}"),
            Self::Settle(cluster) => format!("{base}/{cluster}?view={SETTLE}"),
            Self::Templates => format!("{base}/{TEMPLATES}"),
            Self::Template(template) => format!("{base}/{TEMPLATES}?view={template}"),
        }
    }
}

/// Returns the address of the list: all of it that pages outside of the part need.
pub fn list(project: &str) -> String {
    format!("{}/managed-clusters", launchpad(project))
}

/// Returns the address of the entries of a cluster's journal that match a filter.
pub fn journal(project: &str, cluster: Uuid, filter: &JournalFilter) -> String {
    let page = ManagedClustersPage::Journal(cluster).address(project);
    let parameters = parameters(filter).map(|one| format!("&{one}"));
    format!("{page}{}", parameters.collect::<String>())
}

/// Returns the address of the same entries as a file.
pub fn journal_file(project: &str, cluster: Uuid, filter: &JournalFilter) -> String {
    let file = format!("{}/{cluster}/journal.jsonl", list(project));
    let parameters: Vec<String> = parameters(filter).collect();
    if parameters.is_empty() {
        return file;
    }
    format!("{file}?{}", parameters.join("&"))
}

fn parameters(filter: &JournalFilter) -> impl Iterator<Item = String> {
    let all = filter.parameters().into_iter();
    all.map(|(name, value)| format!("{name}={}", escaped(&value)))
}

/// Returns the address of the form that continues an attempt to create a cluster.
pub fn continuation(project: &str, attempt: Uuid, name: &str) -> String {
    let form = ManagedClustersPage::Create.address(project);
    format!("{form}?attempt={attempt}&name={}", escaped(name))
}

/// Returns the address of the form with the values of a cluster whose creation failed, if this tab has
/// made it.
pub fn edit_and_retry(project: &str, cluster: Uuid) -> String {
    let form = ManagedClustersPage::Create.address(project);
    format!("{form}?from={cluster}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_found_at_its_address() {
        let id = Uuid::from_u128(7);
        for page in [
            ManagedClustersPage::List,
            ManagedClustersPage::Create,
            ManagedClustersPage::Cluster(id),
            ManagedClustersPage::Delete(id),
            ManagedClustersPage::Leftovers(id),
            ManagedClustersPage::Configuration(id),
            ManagedClustersPage::Journal(id),
            ManagedClustersPage::NodeGroups(id),
            ManagedClustersPage::Nodes(id),
            ManagedClustersPage::Upgrade(id),
            ManagedClustersPage::Certificates(id),
            ManagedClustersPage::Ownership(id),
            ManagedClustersPage::Settle(id),
            ManagedClustersPage::Templates,
            ManagedClustersPage::Template(id),
        ] {
            let address = page.address("p1");
            let rest = address.strip_prefix("/projects/p1/managed-clusters");
            let rest = rest.unwrap().trim_start_matches('/');
            let (segment, view) = rest.split_once("?view=").unwrap_or((rest, ""));
            assert_eq!(
                ManagedClustersPage::parse(segment, view),
                Some(page),
                "{address}"
            );
        }
    }

    #[test]
    fn an_unknown_page_is_none() {
        let id = Uuid::from_u128(7).to_string();
        for (segment, view) in [
            ("nope", ""),
            ("nope", "delete"),
            (id.as_str(), "nope"),
            ("templates", "nope"),
        ] {
            assert_eq!(ManagedClustersPage::parse(segment, view), None);
        }
    }

    #[test]
    fn an_attempt_is_continued_in_the_form() {
        assert_eq!(
            continuation("p1", Uuid::nil(), "a&b"),
            "/projects/p1/managed-clusters/create?attempt=00000000-0000-0000-0000-000000000000&name=a%26b"
        );
    }

    #[test]
    fn the_address_of_a_journal_holds_its_filter() {
        let id = Uuid::from_u128(7);
        let mut filter = JournalFilter::default();
        let page = journal("p1", id, &filter);
        assert_eq!(page, ManagedClustersPage::Journal(id).address("p1"));
        assert!(journal_file("p1", id, &filter).ends_with("/journal.jsonl"));
        filter.text = "a & b".to_owned();
        filter.since = Some(7);
        let page = journal("p1", id, &filter);
        assert!(
            page.ends_with("?view=journal&text=a%20%26%20b&since=7"),
            "{page}"
        );
        let file = journal_file("p1", id, &filter);
        assert!(
            file.ends_with("/journal.jsonl?text=a%20%26%20b&since=7"),
            "{file}"
        );
    }
}
