//! Discovery of a cluster's kinds: aggregated discovery if the API server supports it, otherwise
//! the classic one (a call per group version).
use super::{Api, KubeError, api::Call, path};
use futures::{StreamExt, stream};
use portico_domain::panel::{ObjectRef, ResourceKind, ResourceRef};
use serde_json::Value;
use std::sync::Arc;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const MAX_CONCURRENT_REQUESTS: usize = 8;

/// Every kind of a cluster, preferred versions first.
#[derive(Debug, Default)]
pub struct Catalog {
    kinds: Vec<ResourceKind>,
}

impl Catalog {
    pub fn new(kinds: Vec<ResourceKind>) -> Self {
        Self { kinds }
    }

    /// Returns one kind for each group and plural: the preferred version that has it.
    pub fn listable(&self) -> Vec<ResourceKind> {
        let mut seen = std::collections::HashSet::new();
        let mut found: Vec<_> = self
            .kinds
            .iter()
            .filter(|kind| kind.verbs.iter().any(|verb| verb == "list"))
            .filter(|kind| seen.insert((kind.group.clone(), kind.plural.clone())))
            .cloned()
            .collect();
        // in the order in which users look them up: `endpoints` beside `EndpointSlice`, case
        // ignored
        found.sort_by_cached_key(|kind| (kind.kind.to_lowercase(), kind.group.clone()));
        found
    }

    /// Returns every kind in every version that has a verb.
    pub fn with_verb(&self, verb: &str) -> impl Iterator<Item = &ResourceKind> {
        let has = move |kind: &&ResourceKind| kind.verbs.iter().any(|known| known == verb);
        self.kinds.iter().filter(has)
    }

    /// Returns the kind of a URL, in exactly that version.
    pub fn find(&self, resource: &ResourceRef) -> Option<&ResourceKind> {
        self.kinds.iter().find(|kind| {
            kind.group == resource.group
                && kind.version == resource.version
                && kind.plural == resource.plural
        })
    }

    /// Returns the plural of the kind in an owner reference or an event.
    pub fn by_kind(&self, group: &str, version: &str, kind: &str) -> Option<&ResourceKind> {
        self.kinds
            .iter()
            .find(|known| known.group == group && known.version == version && known.kind == kind)
    }

    /// Does the same for any version: events name versions that are no longer served, and some in
    /// the core group none at all.
    pub fn by_group_and_kind(&self, group: &str, kind: &str) -> Option<&ResourceKind> {
        self.kinds
            .iter()
            .find(|known| known.group == group && known.kind == kind)
    }

    /// Returns the first kind with a plural, in any group.
    pub fn by_plural(&self, plural: &str) -> Option<&ResourceKind> {
        self.kinds.iter().find(|kind| kind.plural == plural)
    }

    /// Returns the preferred version of a group and plural.
    pub fn preferred(&self, group: &str, plural: &str) -> Option<&ResourceKind> {
        self.kinds
            .iter()
            .find(|kind| kind.group == group && kind.plural == plural)
    }
}

/// Returns the reference of a kind.
pub fn reference(kind: &ResourceKind) -> ResourceRef {
    ResourceRef::new(&kind.group, &kind.version, &kind.plural)
}

/// Returns the kinds of the cluster, cached for five minutes per user.
pub async fn catalog(api: &Api) -> Result<Arc<Catalog>, KubeError> {
    let slot = (api.cluster, api.subject);
    if let Some(catalog) = api.caches.catalogs.get(&slot).await {
        return Ok(catalog);
    }
    read_catalog(api).await
}

/// Does the same for a list of kinds that a user opens: kinds that were read more than a few seconds ago are
/// read again, so that the list has a custom resource that was just defined. While they cannot be read, those
/// of before are returned, and the API server is not waited for again within these seconds.
pub async fn recent_catalog(api: &Api) -> Result<Arc<Catalog>, KubeError> {
    let slot = (api.cluster, api.subject);
    if api.caches.recent_catalogs.get(&slot).await.is_some() {
        return catalog(api).await;
    }
    match read_catalog(api).await {
        Ok(catalog) => Ok(catalog),
        Err(error) => {
            let known = api.caches.catalogs.get(&slot).await.ok_or(error)?;
            api.caches.recent_catalogs.insert(slot, ()).await;
            Ok(known)
        }
    }
}

async fn read_catalog(api: &Api) -> Result<Arc<Catalog>, KubeError> {
    let slot = (api.cluster, api.subject);
    let catalog = Arc::new(Catalog::new(discover(api).await?));
    api.caches.catalogs.insert(slot, Arc::clone(&catalog)).await;
    api.caches.recent_catalogs.insert(slot, ()).await;
    Ok(catalog)
}

/// Looks a kind up; an unknown one (a new CRD) triggers another discovery.
pub async fn kind(api: &Api, resource: &ResourceRef) -> Result<ResourceKind, KubeError> {
    if let Some(kind) = catalog(api).await?.find(resource) {
        return Ok(kind.clone());
    }
    api.caches
        .catalogs
        .invalidate(&(api.cluster, api.subject))
        .await;
    catalog(api).await?.find(resource).cloned().ok_or_else(|| {
        KubeError::NotFound(format!(
            "the cluster has no {} in {}/{}",
            resource.plural,
            resource.group_segment(),
            resource.version
        ))
    })
}

/// API groups that the API server itself serves in some version of Kubernetes, up to 1.37; the others are
/// custom resources or those of aggregated API servers.
const BUILT_IN_GROUPS: [&str; 25] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "lifecycle.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Returns whether the API server itself serves a kind, so that access reviews decide alone about
/// what a user sees: kinds of built-in groups, and custom resources. Whether a kind is a custom
/// resource is known once any user of the cluster could read its definition; until then, and for five
/// minutes after the last such user, the answer is no.
///
/// # Errors
/// Those of the request, except a refusal and a missing definition.
pub async fn is_served_by_api_server(api: &Api, resource: &ResourceRef) -> Result<bool, KubeError> {
    if BUILT_IN_GROUPS.contains(&resource.group.as_str()) {
        return Ok(true);
    }
    let name = format!("{}.{}", resource.plural, resource.group);
    let caches = &api.caches;
    let known = (api.cluster, name);
    if caches.custom_resources.get(&known).await.is_some() {
        return Ok(true);
    }
    let unknown = (api.cluster, api.subject, known.1.clone());
    if caches.unknown_resources.get(&unknown).await.is_some() {
        return Ok(false);
    }
    let definition = ObjectRef {
        resource: ResourceRef::new("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
        namespace: None,
        name: known.1.clone(),
    };
    match api.get(&path::object(&definition)?).await {
        Ok(_) => {
            caches.custom_resources.insert(known, ()).await;
            Ok(true)
        }
        Err(KubeError::Refused(_) | KubeError::NotFound(_)) => {
            caches.unknown_resources.insert(unknown, ()).await;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

async fn discover(api: &Api) -> Result<Vec<ResourceKind>, KubeError> {
    let roots = ["/api", "/apis"].map(|path| Call {
        accept: AGGREGATED,
        ..Call::get(path)
    });
    let [core, groups] = roots.map(|call| api.json(call));
    let (core, groups) = tokio::try_join!(core, groups)?;
    if core["kind"] == "APIGroupDiscoveryList" && groups["kind"] == "APIGroupDiscoveryList" {
        let mut kinds = aggregated(&core);
        kinds.extend(aggregated(&groups));
        return Ok(kinds);
    }
    let group_versions = classic_versions(&groups);
    let lists: Vec<_> = stream::iter(group_versions)
        .map(|(group, version)| async move {
            let path = if group.is_empty() {
                format!("/api/{version}")
            } else {
                format!("/apis/{group}/{version}")
            };
            match api.get(&path).await {
                Ok(list) => Ok(classic(&group, &version, &list)),
                // an aggregated API whose server is down must not hide the other groups
                Err(error @ (KubeError::Server { .. } | KubeError::NotFound(_))) => {
                    tracing::debug!(path, %error, "group version left out of discovery");
                    Ok(Vec::new())
                }
                Err(error) => Err(error),
            }
        })
        .buffered(MAX_CONCURRENT_REQUESTS)
        .collect()
        .await;
    lists
        .into_iter()
        .collect::<Result<Vec<_>, _>>()
        .map(|lists| lists.into_iter().flatten().collect())
}

/// Returns group versions in order, each group's preferred one first.
fn classic_versions(groups: &Value) -> Vec<(String, String)> {
    let mut found = vec![(String::new(), "v1".to_owned())];
    for group in array(groups, "groups") {
        let name = text(group, "name");
        let preferred = group
            .pointer("/preferredVersion/version")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let versions = || array(group, "versions").map(|version| text(version, "version"));
        found.extend(
            versions()
                .filter(|version| version == preferred)
                .chain(versions().filter(|version| version != preferred))
                .map(|version| (name.clone(), version)),
        );
    }
    found
}

fn classic(group: &str, version: &str, list: &Value) -> Vec<ResourceKind> {
    array(list, "resources")
        .filter(|resource| !text(resource, "name").contains('/'))
        .map(|resource| ResourceKind {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: text(resource, "name"),
            kind: text(resource, "kind"),
            namespaced: resource["namespaced"] == true,
            verbs: strings(resource, "verbs"),
            short_names: strings(resource, "shortNames"),
        })
        .collect()
}

fn aggregated(list: &Value) -> Vec<ResourceKind> {
    let mut found = Vec::new();
    for group in array(list, "items") {
        let name = group
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        for version in array(group, "versions") {
            for resource in array(version, "resources") {
                found.push(ResourceKind {
                    group: name.to_owned(),
                    version: text(version, "version"),
                    plural: text(resource, "resource"),
                    kind: resource
                        .pointer("/responseKind/kind")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                    namespaced: resource["scope"] == "Namespaced",
                    verbs: strings(resource, "verbs"),
                    short_names: strings(resource, "shortNames"),
                });
            }
        }
    }
    found
}

fn array<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Value, name: &str) -> Vec<String> {
    array(value, name)
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_preferred_version_wins_and_a_kind_that_only_an_old_version_has_is_kept() {
        let groups = json!({"groups": [{"name": "batch", "preferredVersion": {"version": "v1"},
            "versions": [{"version": "v1beta1"}, {"version": "v1"}]}]});
        assert_eq!(
            classic_versions(&groups)[1..],
            [
                ("batch".to_owned(), "v1".to_owned()),
                ("batch".to_owned(), "v1beta1".to_owned())
            ]
        );
        let jobs = json!({"resources": [
            {"name": "jobs", "kind": "Job", "namespaced": true, "verbs": ["list", "get"]},
            {"name": "jobs/status", "kind": "Job", "namespaced": true, "verbs": ["get"]}]});
        let cron = json!({"resources": [
            {"name": "cronjobs", "kind": "CronJob", "namespaced": true, "verbs": ["list"], "shortNames": ["cj"]}]});
        let mut kinds = classic("batch", "v1", &jobs);
        kinds.extend(classic("batch", "v1beta1", &cron));
        let catalog = Catalog::new(kinds);
        let listed: Vec<_> = catalog
            .listable()
            .into_iter()
            .map(|kind| (kind.plural, kind.version))
            .collect();
        assert_eq!(
            listed,
            [
                ("cronjobs".to_owned(), "v1beta1".to_owned()),
                ("jobs".to_owned(), "v1".to_owned())
            ]
        );
    }

    #[test]
    fn finding_p9_kinds_are_sorted_without_regard_to_capitals() {
        let kinds = ["CSIDriver", "ConfigMap", "crontab", "APIService", "Binding"];
        let resources: Vec<_> = kinds
            .iter()
            .map(|kind| json!({"name": kind.to_lowercase(), "kind": kind, "verbs": ["list"]}))
            .collect();
        let catalog = Catalog::new(classic("", "v1", &json!({ "resources": resources })));
        let listed: Vec<_> = catalog
            .listable()
            .into_iter()
            .map(|kind| kind.kind)
            .collect();
        assert_eq!(
            listed,
            ["APIService", "Binding", "ConfigMap", "crontab", "CSIDriver"]
        );
    }

    #[test]
    fn aggregated_discovery_gives_the_same_shape() {
        let list = json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "apps"},
            "versions": [{"version": "v1", "resources": [{"resource": "deployments",
                "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                "scope": "Namespaced", "verbs": ["list"], "shortNames": ["deploy"]}]}]}]});
        let kinds = aggregated(&list);
        assert_eq!(kinds.len(), 1);
        assert!(kinds[0].namespaced);
        assert_eq!(kinds[0].kind, "Deployment");
    }
}

#[cfg(test)]
#[path = "discovery_recorded_tests.rs"]
mod recorded_tests;
