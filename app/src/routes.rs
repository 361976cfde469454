//! Every address of the panel: the patterns that the router matches, and a function for each that
//! builds one. No other code builds a path.
mod list_state;
pub mod managed_clusters;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use portico_domain::panel::{BoundName, CreationKind, ObjectRef, ResourceRef, RightQuestion};
use serde::Serialize;
use uuid::Uuid;

pub use list_state::ListState;

/// One page of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RouteEntry {
    pub name: &'static str,
    /// `:name` is a parameter, `:name?` an optional one.
    pub path: &'static str,
    pub title: &'static str,
}

/// Every page, in the order of the router.
pub const ROUTES: [RouteEntry; 14] = [
    entry("start", "/", "Projects"),
    entry("launchpad", "/projects/:project", "Launchpad"),
    entry(
        "cluster",
        "/projects/:project/clusters/:cluster",
        "Cluster overview",
    ),
    entry(
        "namespaces",
        "/projects/:project/clusters/:cluster/namespaces",
        "Namespaces",
    ),
    entry(
        "kinds",
        "/projects/:project/clusters/:cluster/kinds",
        "Kinds",
    ),
    entry(
        "create",
        "/projects/:project/clusters/:cluster/create",
        "Create from YAML",
    ),
    entry(
        "list",
        "/projects/:project/clusters/:cluster/resources/:group/:version/:plural",
        "Resource list",
    ),
    entry(
        "object",
        "/projects/:project/clusters/:cluster/namespaces/:namespace/:group/:version/:plural/:name/:tab?",
        "Object in a namespace",
    ),
    entry(
        "cluster_object",
        "/projects/:project/clusters/:cluster/cluster-scoped/:group/:version/:plural/:name/:tab?",
        "Object of the cluster",
    ),
    entry(
        "access",
        "/projects/:project/clusters/:cluster/access",
        "Access",
    ),
    entry(
        "authentication",
        "/projects/:project/clusters/:cluster/authentication",
        "Authentication",
    ),
    entry("app", "/projects/:project/apps/:app", "App"),
    entry(
        "managed_clusters",
        "/projects/:project/managed-clusters",
        "Clusters of the project",
    ),
    entry(
        "managed_cluster",
        "/projects/:project/managed-clusters/:page",
        "Cluster of the project",
    ),
];

const fn entry(name: &'static str, path: &'static str, title: &'static str) -> RouteEntry {
    RouteEntry { name, path, title }
}

/// Returns the table of pages, for tests and tools that visit them all.
pub fn route_table() -> Vec<RouteEntry> {
    ROUTES.to_vec()
}

/// A tab of an object's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Overview,
    Yaml,
    Edit,
    Events,
    Logs,
    Terminal,
}

impl Tab {
    /// Returns the last segment of the address; none for the overview.
    pub fn segment(self) -> Option<&'static str> {
        match self {
            Self::Overview => None,
            Self::Yaml => Some("yaml"),
            Self::Edit => Some("edit"),
            Self::Events => Some("events"),
            Self::Logs => Some("logs"),
            Self::Terminal => Some("terminal"),
        }
    }

    /// Returns the tab of a segment; `None` for one that does not exist.
    pub fn parse(segment: &str) -> Option<Self> {
        [
            Self::Overview,
            Self::Yaml,
            Self::Edit,
            Self::Events,
            Self::Logs,
            Self::Terminal,
        ]
        .into_iter()
        .find(|tab| tab.segment().unwrap_or_default() == segment)
    }
}

/// Characters that are escaped in a path segment; `:` is not, because it occurs in the names of
/// RBAC objects.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b':');

/// Escapes a text for a segment or a value of an address.
pub fn escaped(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

pub fn launchpad(project: &str) -> String {
    format!("/projects/{}", escaped(project))
}

pub fn cluster(project: &str, cluster: Uuid) -> String {
    format!("{}/clusters/{cluster}", launchpad(project))
}

pub fn namespaces(project: &str, id: Uuid) -> String {
    format!("{}/namespaces", cluster(project, id))
}

pub fn kinds(project: &str, id: Uuid) -> String {
    format!("{}/kinds", cluster(project, id))
}

/// Returns the address of the editor for new objects, with a namespace for those that name none.
pub fn create(project: &str, id: Uuid, namespace: Option<&str>, sample: &str) -> String {
    let base = format!("{}/create", cluster(project, id));
    let pairs: Vec<String> = [
        ("namespace", namespace.unwrap_or_default()),
        ("sample", sample),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(key, value)| format!("{key}={}", escaped(value)))
    .collect();
    if pairs.is_empty() {
        base
    } else {
        format!("{base}?{}", pairs.join("&"))
    }
}

/// Returns the address of the form for a new object. `from` is the object that it is for: the
/// workload of a Service (`Deployment/web`), the Service of an Ingress (`web`).
pub fn create_form(
    project: &str,
    id: Uuid,
    namespace: Option<&str>,
    kind: CreationKind,
    from: &str,
) -> String {
    let mut address = format!("{}/create?form={}", cluster(project, id), kind.as_str());
    for (key, value) in [("namespace", namespace.unwrap_or_default()), ("from", from)] {
        if !value.is_empty() {
            address.push_str(&format!("&{key}={}", escaped(value)));
        }
    }
    address
}

pub fn access(project: &str, id: Uuid) -> String {
    format!("{}/access", cluster(project, id))
}

/// Returns the address of the answer to who has a permission.
pub fn who_can(project: &str, id: Uuid, question: &RightQuestion) -> String {
    let mut address = format!(
        "{}?verb={}&resource={}",
        access(project, id),
        escaped(&question.verb),
        escaped(&question.resource_name())
    );
    if let Some(namespace) = &question.namespace {
        address.push_str("&namespace=");
        address.push_str(&escaped(namespace));
    }
    address.push_str("#who-can");
    address
}

/// Returns the address of the answer to what a subject can do.
pub fn what_can(project: &str, id: Uuid, subject: &BoundName) -> String {
    format!(
        "{}?subject_kind={}&subject={}#what-can",
        access(project, id),
        subject.kind.as_str(),
        escaped(&subject.name)
    )
}

pub fn authentication(project: &str, id: Uuid) -> String {
    format!("{}/authentication", cluster(project, id))
}

pub fn app(project: &str, app: &str) -> String {
    format!("{}/apps/{}", launchpad(project), escaped(app))
}

fn kind_segments(resource: &ResourceRef) -> String {
    format!(
        "{}/{}/{}",
        escaped(resource.group_segment()),
        escaped(&resource.version),
        escaped(&resource.plural)
    )
}

pub fn list(project: &str, id: Uuid, resource: &ResourceRef) -> String {
    format!(
        "{}/resources/{}",
        cluster(project, id),
        kind_segments(resource)
    )
}

pub fn list_with(project: &str, id: Uuid, resource: &ResourceRef, state: &ListState) -> String {
    format!("{}{}", list(project, id, resource), state.query())
}

pub fn object(project: &str, id: Uuid, object: &ObjectRef) -> String {
    let scope = object.namespace.as_ref().map_or_else(
        || "cluster-scoped".to_owned(),
        |name| format!("namespaces/{}", escaped(name)),
    );
    format!(
        "{}/{scope}/{}/{}",
        cluster(project, id),
        kind_segments(&object.resource),
        escaped(&object.name)
    )
}

pub fn object_tab(project: &str, id: Uuid, reference: &ObjectRef, tab: Tab) -> String {
    let base = object(project, id, reference);
    match tab.segment() {
        Some(segment) => format!("{base}/{segment}"),
        None => base,
    }
}

/// Returns the address of the audit log's entries about an object.
pub fn activity(id: Uuid, object: &ObjectRef) -> String {
    format!(
        "/oauth2/audit?cluster={id}&object={}",
        escaped(&object.audit_name())
    )
}

/// Returns the address of a kubeconfig download without a secret.
pub fn kubeconfig(project: &str, id: Uuid) -> String {
    format!("{}/kubeconfig", cluster(project, id))
}

/// Returns the address of a program to download.
pub fn program(project: &str, file: &str) -> String {
    format!("{}/downloads/{}", launchpad(project), escaped(file))
}

/// Returns the address of the part of a page that offers the programs.
pub fn programs(project: &str, id: Uuid) -> String {
    format!("{}#programs", authentication(project, id))
}

/// Returns the address of the schema of a kind (JSON); `group`, `version` and `kind` are its query.
pub fn schema(project: &str, id: Uuid) -> String {
    format!("{}/schema", cluster(project, id))
}

/// Returns the address of the kinds that can be created (JSON).
pub fn schema_kinds(project: &str, id: Uuid) -> String {
    format!("{}/schema/kinds", cluster(project, id))
}

/// Returns the address of the tab's event stream (WebSocket).
pub fn stream(project: &str) -> String {
    format!("{}/stream", launchpad(project))
}

/// Returns the address of a terminal in a container (WebSocket).
pub fn exec(project: &str, id: Uuid, namespace: &str, pod: &str, container: &str) -> String {
    format!(
        "{}/namespaces/{}/pods/{}/exec?container={}",
        cluster(project, id),
        escaped(namespace),
        escaped(pod),
        escaped(container)
    )
}

/// Returns the address of a server function as the target of a plain HTML form, which cannot send
/// the project's header.
pub fn form_action(endpoint: &str, project: &str) -> String {
    format!("/api/{endpoint}?project={}", escaped(project))
}

/// Returns the gateway's address at which users sign in again and are redirected back.
pub fn sign_in(return_to: &str) -> String {
    format!("/oauth2/sign_in?rd={}", escaped(return_to))
}

/// Returns an address with its query, which may begin with a question mark.
pub fn with_search(path: &str, search: &str) -> String {
    match search.trim_start_matches('?') {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Returns the gateway's address at which users authenticate again, by the method of their session,
/// and are redirected back.
pub fn reauthenticate(return_to: &str) -> String {
    format!("/oauth2/reauthenticate?rd={}", escaped(return_to))
}

/// Returns the project of an address, as the gateway does.
pub fn project_of(path: &str) -> Option<String> {
    let segment = path.strip_prefix("/projects/")?.split('/').next()?;
    let decoded = percent_encoding::percent_decode_str(segment)
        .decode_utf8()
        .ok()?;
    (!decoded.is_empty()).then(|| decoded.into_owned())
}

/// Returns the cluster of an address.
pub fn cluster_of(path: &str) -> Option<Uuid> {
    let rest = path.strip_prefix("/projects/")?;
    let mut segments = rest.split('/').skip(1);
    (segments.next() == Some("clusters"))
        .then(|| segments.next())
        .flatten()
        .and_then(|id| Uuid::parse_str(id).ok())
}

/// Returns the group of an address's segment.
pub fn group_of(segment: &str) -> String {
    if segment == "core" {
        String::new()
    } else {
        segment.to_owned()
    }
}

#[cfg(test)]
mod tests;
