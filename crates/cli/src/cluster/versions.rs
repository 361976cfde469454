//! `portico cluster versions`: of the cloud without a cluster, else of a cluster with what runs in it.
use super::arguments::{ClusterOutput, SharedArgs};
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::kubernetes::{self, ApiError, Kubernetes};
use super::nodes::readiness;
use super::upgrade::{self, TargetView};
use super::views::{print_list, print_object};
use crate::output::{OutputFormat, TableRow, list};
use clap::Args;
use portico_cluster_operations::upgrades;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Where the components of a cluster run.
const WORKLOADS: [&str; 2] = [
    "/apis/apps/v1/namespaces/kube-system/deployments",
    "/apis/apps/v1/namespaces/kube-system/daemonsets",
];

/// Show the versions of Portico, of the cloud's Magnum and of its templates, or those of a cluster
///
/// Of a cluster are shown its version, the templates that it can be upgraded to, and, where this machine has
/// access to it through Portico, the kubelets and the components in kube-system. With -o json, that is one object
/// with `version`, `templates`, `components` and, if they could not be read, `not_checked`; -o name has the templates.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster versions         # Portico, Magnum, and the Kubernetes of the templates
  portico cluster versions shop
  portico cluster versions shop -o jsonpath='{.components[*].version}'")]
pub struct VersionsArgs {
    /// Name or UUID of a cluster. Default: the versions of the cloud
    pub cluster: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The version of a component.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct VersionView {
    component: String,
    version: String,
    note: Option<String>,
}

impl VersionView {
    fn new(component: &str, version: impl ToString, note: Option<String>) -> Self {
        Self {
            component: component.to_owned(),
            version: version.to_string(),
            note,
        }
    }
}

impl TableRow for VersionView {
    const HEADINGS: &'static [&'static str] = &["COMPONENT", "VERSION", "NOTE"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.component.clone(),
            self.version.clone(),
            self.note.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

/// The versions of a cluster.
#[derive(Debug, Serialize)]
struct ClusterVersions<'a> {
    uuid: Uuid,
    name: &'a str,
    /// Of Kubernetes, as Magnum reports it.
    version: Option<&'a str>,
    templates: Vec<TargetView>,
    /// Of the API server, the kubelets and what runs in kube-system.
    components: Vec<VersionView>,
    /// Why the components are not known.
    not_checked: Option<String>,
}

/// Shows versions.
///
/// # Errors
/// If Magnum cannot be asked or refuses. A cluster whose API cannot be asked is reported.
pub async fn versions(
    connection: &mut Connection,
    console: &mut Console,
    args: &VersionsArgs,
) -> Result<(), ClusterError> {
    let Some(cluster) = &args.cluster else {
        return of_cloud(connection, console, args).await;
    };
    let format = args.shared.output;
    let (target, templates) = upgrade::targets(connection, console, cluster).await?;
    if format.is_table() || format == ClusterOutput::Name {
        upgrade::print_targets(console, format, &target, &templates)?;
    }
    if format == ClusterOutput::Name {
        return Ok(());
    }
    let (components, not_checked) = match inside(connection, target.uuid).await {
        Ok(components) => (components, None),
        Err(cause) => (
            Vec::new(),
            Some(format!(
                "Kubelets and components were not checked: {cause}."
            )),
        ),
    };
    if !format.is_table() {
        let versions = ClusterVersions {
            uuid: target.uuid,
            name: &target.cluster.name,
            version: target.cluster.version.as_deref(),
            templates,
            components,
            not_checked,
        };
        return print_object(console, format, &versions, versions.name, || {
            Ok(String::new())
        });
    }
    match not_checked {
        Some(text) => {
            console.say(text);
            Ok(())
        }
        None => console.print(&format!("\n{}", list(OutputFormat::Table, &components)?)),
    }
}

async fn of_cloud(
    connection: &Connection,
    console: &mut Console,
    args: &VersionsArgs,
) -> Result<(), ClusterError> {
    let (clients, token) = (&connection.clients, &connection.token);
    let features = clients.magnum.features(token).await?;
    let release = connection.offer().await?.release;
    let note = match release {
        Some(release) => format!("Magnum {release}; Portico uses {}", features.version),
        None => format!("Portico uses {}", features.version),
    };
    let templates = upgrades::templates(clients, token).await?;
    if let Some(cut) = templates.cut {
        console.say(format!(
            "The list of templates is incomplete, because {cut}."
        ));
    }
    let mut rows = vec![
        VersionView::new("Portico", env!("CARGO_PKG_VERSION"), None),
        VersionView::new("Magnum API", features.offered, Some(note)),
    ];
    let mut of_version: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for template in templates.items.iter().filter(|one| !one.is_hidden) {
        let version = template.kubernetes_version();
        let version = version.map_or_else(|| "not known".to_owned(), |one| one.to_string());
        let names = of_version.entry(version).or_default();
        names.push(template.name.clone());
    }
    rows.extend(of_version.into_iter().map(|(version, names)| {
        let note = format!("templates: {}", names.join(", "));
        VersionView::new("Kubernetes", version, Some(note))
    }));
    print_list(console, args.shared.output, &rows, |row| {
        (&row.component, &row.version)
    })
}

/// Reads the versions inside of a cluster with the user's own access to it.
async fn inside(connection: &Connection, cluster: Uuid) -> Result<Vec<VersionView>, String> {
    let access = kubernetes::find(connection, cluster).await;
    let access = access.map_err(|error| error.to_string())?;
    let text = |error: ApiError| error.to_string();
    let api = Kubernetes::new(&access).map_err(text)?;
    let version = api.get("/version").await.map_err(text)?;
    let version = version.get("gitVersion").and_then(Value::as_str);
    let mut rows = vec![VersionView::new(
        "API server",
        version.unwrap_or("not reported"),
        None,
    )];
    // each of them may be forbidden to this user
    match readiness::read(connection, cluster).await {
        Ok(kubelets) => rows.extend(of_kubelets(kubelets)),
        Err(cause) => rows.push(VersionView::new("kubelet", "not checked", Some(cause))),
    }
    for path in WORKLOADS {
        match api.list(path, &[]).await {
            Ok(workloads) => rows.extend(workloads.iter().filter_map(component)),
            Err(error) => {
                rows.push(VersionView::new(
                    "components",
                    "not checked",
                    Some(text(error)),
                ));
            }
        }
    }
    Ok(rows)
}

/// Returns a row for each version of kubelets, with the nodes that have it.
fn of_kubelets(kubelets: Vec<readiness::Kubelet>) -> Vec<VersionView> {
    let mut of_version: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kubelet in kubelets {
        let version = kubelet.version.unwrap_or_else(|| "not reported".to_owned());
        of_version.entry(version).or_default().push(kubelet.name);
    }
    let rows = of_version.into_iter();
    rows.map(|(version, names)| VersionView::new("kubelet", version, Some(names.join(", "))))
        .collect()
}

/// Returns a workload with the version of the image of its first container; `None` without one.
fn component(workload: &Value) -> Option<VersionView> {
    let text = |path: &str| workload.pointer(path).and_then(Value::as_str);
    let image = text("/spec/template/spec/containers/0/image")?;
    Some(VersionView::new(
        text("/metadata/name")?,
        version_of(image).unwrap_or("not reported"),
        Some(image.to_owned()),
    ))
}

/// Returns the tag of an image; `None`: it has none.
fn version_of(image: &str) -> Option<&str> {
    let (image, _) = image.split_once('@').unwrap_or((image, ""));
    // a colon before a slash is that of a port
    let (_, tag) = image.rsplit_once(':')?;
    (!tag.contains('/')).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_version_of_a_component_is_the_tag_of_its_image() {
        for (image, expected) in [
            ("registry.k8s.io/coredns/coredns:v1.11.1", Some("v1.11.1")),
            ("registry:5000/coredns", None),
            ("registry:5000/coredns:v1@sha256:00", Some("v1")),
            ("coredns@sha256:00", None),
        ] {
            assert_eq!(version_of(image), expected, "{image}");
        }
        let pod = json!({"spec": {"containers": [{"image": "coredns:v1.11.1"}]}});
        let workload = json!({"metadata": {"name": "coredns"}, "spec": {"template": pod}});
        let found = component(&workload).unwrap();
        assert_eq!(found.component, "coredns");
        assert_eq!(found.version, "v1.11.1");
        assert_eq!(component(&json!({"metadata": {"name": "a"}})), None);
    }
}
