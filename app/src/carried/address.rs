//! Addresses of lists and objects, and the queries that links to them get. A query is carried as it is
//! in the address, without being read.
use crate::routes;
use portico_domain::panel::ResourceRef;
use uuid::Uuid;

/// The parameter with the chosen namespaces.
pub const NAMESPACE: &str = "namespace";
/// The parameters that describe a filter, an order or columns, which mean the same in another cluster.
const FILTERS: [&str; 6] = ["q", "labels", "fields", "status", "sort", "columns"];

/// Returns a parameter of a query as it is written; `None` if it is missing or empty.
pub fn parameter<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        (name == key && !value.is_empty()).then_some(value)
    })
}

/// Returns an address with a query; without one if it is empty.
pub fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    }
}

/// Returns a query with other namespaces. Others select other rows, so the place in the list is lost.
pub fn with_namespaces(query: &str, namespaces: Option<&str>) -> String {
    if parameter(query, NAMESPACE) == namespaces {
        return query.to_owned();
    }
    let chosen = namespaces.map(|names| format!("{NAMESPACE}={names}"));
    let others = query
        .split('&')
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !name.is_empty() && name != NAMESPACE && name != "offset"
        })
        .map(str::to_owned);
    chosen
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join("&")
}

/// Returns the kind of a list's address.
pub fn list_kind(path: &str) -> Option<ResourceRef> {
    let mut segments = path.strip_prefix("/projects/")?.split('/').skip(3);
    let kind = match segments.next()? {
        "resources" => ResourceRef::new(
            &routes::group_of(segments.next()?),
            segments.next()?,
            segments.next()?,
        ),
        "namespaces" => ResourceRef::core("namespaces"),
        _ => return None,
    };
    segments.next().is_none().then_some(kind)
}

/// An object's page as its address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPath {
    /// The address without a tab.
    pub path: String,
    pub resource: ResourceRef,
    /// Escaped as in the address, which for a namespace changes nothing.
    pub namespace: Option<String>,
    pub name: String,
}

/// Reads the address of an object's page, of any of its tabs.
pub fn object_of(path: &str) -> Option<ObjectPath> {
    let segments: Vec<&str> = path.strip_prefix("/projects/")?.split('/').collect();
    let (namespace, rest) = match segments.get(3..)? {
        ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
        ["cluster-scoped", rest @ ..] => (None, rest),
        _ => return None,
    };
    let (&[group, version, plural, name], tab) = rest.split_first_chunk()?;
    if tab.len() > 1 || name.is_empty() {
        return None;
    }
    let kept = segments.len() - tab.len();
    Some(ObjectPath {
        path: format!("/projects/{}", segments.get(..kept)?.join("/")),
        resource: ResourceRef::new(&routes::group_of(group), version, plural),
        namespace,
        name: percent_encoding::percent_decode_str(name)
            .decode_utf8_lossy()
            .into_owned(),
    })
}

/// Returns the address of a cluster's overview, with which all its addresses begin.
pub fn cluster_base(path: &str) -> Option<&str> {
    routes::cluster_of(path)?;
    let end = path
        .match_indices('/')
        .nth(4)
        .map_or(path.len(), |(at, _)| at);
    path.get(..end)
}

/// Returns the same kind of page in another cluster: a list stays that list with its filters, an
/// object's page leads to its list. Namespaces are those last chosen there, not the ones here.
pub fn in_cluster(path: &str, query: &str, project: &str, cluster: Uuid) -> String {
    let filters = query
        .split('&')
        .filter(|pair| FILTERS.contains(&pair.split('=').next().unwrap_or_default()))
        .collect::<Vec<_>>()
        .join("&");
    if let Some(object) = object_of(path) {
        return routes::list(project, cluster, &object.resource);
    }
    let base = routes::cluster(project, cluster);
    let page = cluster_base(path)
        .and_then(|here| path.strip_prefix(here))
        .unwrap_or_default();
    if list_kind(path).is_some() || page == "/kinds" {
        with_query(&format!("{base}{page}"), &filters)
    } else {
        format!("{base}{page}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = "/projects/p/clusters/8c6a4c1b-7a3e-4a76-9f0e-2d1c5b3a9e10";
    const OTHER: Uuid = Uuid::from_u128(7);

    fn at(page: &str) -> String {
        format!("{CLUSTER}/{page}")
    }

    #[test]
    fn addresses_of_lists_and_objects_are_read() {
        let kind = list_kind(&at("resources/apps/v1/deployments"));
        assert_eq!(kind, Some(ResourceRef::new("apps", "v1", "deployments")));
        assert_eq!(
            list_kind(&at("namespaces")),
            Some(ResourceRef::core("namespaces"))
        );
        let pod = object_of(&at("namespaces/shop/core/v1/pods/web-0/logs")).expect("an object");
        assert_eq!(pod.path, at("namespaces/shop/core/v1/pods/web-0"));
        assert_eq!(pod.resource, ResourceRef::core("pods"));
        assert_eq!(
            (pod.namespace.as_deref(), pod.name.as_str()),
            (Some("shop"), "web-0")
        );
        let role = object_of(&at(
            "cluster-scoped/rbac.authorization.k8s.io/v1/clusterroles/a%2Fb",
        ));
        assert_eq!(
            role.map(|role| (role.namespace, role.name)),
            Some((None, "a/b".into()))
        );
        for neither in [
            "",
            "kinds",
            "access",
            "namespaces/shop",
            "resources/apps/v1",
        ] {
            assert_eq!(list_kind(&at(neither)), None, "{neither}");
            assert_eq!(object_of(&at(neither)), None, "{neither}");
        }
        assert_eq!(list_kind("/projects/p"), None);
    }

    #[test]
    fn other_namespaces_keep_filters_and_drop_the_place_in_the_list() {
        let query = "namespace=a&q=web&offset=200";
        assert_eq!(with_namespaces(query, Some("a")), query);
        assert_eq!(with_namespaces(query, Some("b")), "namespace=b&q=web");
        assert_eq!(with_namespaces(query, None), "q=web");
        assert_eq!(with_namespaces("", None), "");
    }

    #[test]
    fn a_switch_of_the_cluster_keeps_the_kind_of_page() {
        let to = |page: &str, query: &str| in_cluster(&at(page), query, "p", OTHER);
        let base = routes::cluster("p", OTHER);
        assert_eq!(
            to("resources/core/v1/pods", "namespace=a&q=web&offset=200"),
            format!("{base}/resources/core/v1/pods?q=web")
        );
        assert_eq!(
            to("namespaces/shop/apps/v1/deployments/web/yaml", ""),
            format!("{base}/resources/apps/v1/deployments")
        );
        assert_eq!(to("access", "x=y"), format!("{base}/access"));
        assert_eq!(in_cluster(CLUSTER, "", "p", OTHER), base);
        assert_eq!(in_cluster("/projects/p/apps/grafana", "", "p", OTHER), base);
    }
}
