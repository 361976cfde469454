//! `[panel.prometheus]`: the Prometheus from which the panel reads the use of CPU and memory.
use portico_domain::cluster::ClusterRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
};
use url::Url;
use uuid::Uuid;

/// `[panel.prometheus]`: a server with Prometheus' HTTP API that scrapes the kubelets of the
/// clusters. The panel reads the use of CPU and memory from it, with a history. Without this section
/// it reads `metrics.k8s.io` of each cluster that has it, with the user's own token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrometheusConfig {
    /// The URL below which `api/v1/query` is, for example `http://10.0.0.5:9090`. Users never
    /// connect to it.
    pub url: Url,
    /// A file with a bearer token that is sent with each query. It is read for every query, so that
    /// it may be replaced at any time.
    #[serde(default)]
    #[schemars(extend("x-portico-takes-effect" = "file"))]
    pub bearer_token_file: Option<PathBuf>,
    /// The authority (PEM) of the server's certificate. Default: the public authorities.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The label that tells the clusters apart, for example `cluster`. Required with more than one
    /// cluster: every query is restricted to one value of it.
    #[serde(default)]
    pub cluster_label: Option<String>,
    /// The values of `cluster_label`, by the ID of the cluster. Default: the cluster's name.
    #[serde(default)]
    pub cluster_values: BTreeMap<Uuid, String>,
    /// The label with the name of a node.
    #[serde(default = "default_node_label")]
    pub node_label: String,
}

fn default_node_label() -> String {
    "node".to_owned()
}

/// The fault in `panel.prometheus`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrometheusConfigError {
    #[error("panel.prometheus.url must start with http:// or https:// and name a host")]
    Url,
    #[error("panel.prometheus.{0}: `{1}` is not a name of a label")]
    Label(&'static str, String),
    #[error(
        "panel.prometheus.cluster_label is missing: with several clusters, name the label that \
         tells them apart"
    )]
    NoClusterLabel,
    #[error("panel.prometheus.cluster_values: there is no cluster {0}")]
    UnknownCluster(Uuid),
    #[error(
        "panel.prometheus.cluster_values: `{0}` is the value of two clusters; give each its own"
    )]
    SharedValue(String),
}

impl PrometheusConfig {
    /// Checks the values against the clusters.
    ///
    /// # Errors
    /// The first fault.
    pub fn validate(&self, clusters: &[ClusterRecord]) -> Result<(), PrometheusConfigError> {
        if !matches!(self.url.scheme(), "http" | "https") || self.url.host().is_none() {
            return Err(PrometheusConfigError::Url);
        }
        let labels = [
            ("node_label", Some(&self.node_label)),
            ("cluster_label", self.cluster_label.as_ref()),
        ];
        for (key, label) in labels {
            if let Some(label) = label.filter(|label| !is_label_name(label)) {
                return Err(PrometheusConfigError::Label(key, label.clone()));
            }
        }
        let is_known = |id: &Uuid| clusters.iter().any(|cluster| cluster.id == *id);
        if let Some(unknown) = self.cluster_values.keys().find(|id| !is_known(id)) {
            return Err(PrometheusConfigError::UnknownCluster(*unknown));
        }
        if self.cluster_label.is_none() {
            return if clusters.len() > 1 {
                Err(PrometheusConfigError::NoClusterLabel)
            } else {
                Ok(())
            };
        }
        let mut seen = HashSet::new();
        for cluster in clusters {
            let value = self.cluster_value(cluster);
            if !seen.insert(value) {
                return Err(PrometheusConfigError::SharedValue(value.to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the value of `cluster_label` in the series of a cluster.
    pub fn cluster_value<'a>(&'a self, cluster: &'a ClusterRecord) -> &'a str {
        self.cluster_values
            .get(&cluster.id)
            .map_or(cluster.name.as_str(), String::as_str)
    }
}

/// Returns whether a text is a name of a label in PromQL (`[a-zA-Z_][a-zA-Z0-9_]*`).
fn is_label_name(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_inner) && text.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "6f0c1a52-0000-4000-8000-00000000000";

    fn cluster(number: u8, name: &str) -> ClusterRecord {
        serde_json::from_value(serde_json::json!({
            "id": format!("{ID}{number}"), "name": name, "owner_project": "p1",
            "api_url": "https://127.0.0.1:6443", "sealing_key_file": "key.pub",
        }))
        .unwrap()
    }

    fn config(label: Option<&str>) -> PrometheusConfig {
        PrometheusConfig {
            url: Url::parse("http://127.0.0.1:9090").unwrap(),
            bearer_token_file: None,
            ca_file: None,
            cluster_label: label.map(str::to_owned),
            cluster_values: BTreeMap::new(),
            node_label: default_node_label(),
        }
    }

    #[test]
    fn several_clusters_need_a_label_that_tells_them_apart() {
        let clusters = [cluster(1, "prod"), cluster(2, "dev")];
        let validate = |config: &PrometheusConfig| config.validate(&clusters);
        assert_eq!(config(None).validate(&clusters[..1]), Ok(()));
        assert_eq!(
            validate(&config(None)),
            Err(PrometheusConfigError::NoClusterLabel)
        );
        assert_eq!(validate(&config(Some("cluster"))), Ok(()));
        let mut shared = config(Some("cluster"));
        shared
            .cluster_values
            .insert(clusters[0].id, "dev".to_owned());
        assert_eq!(
            validate(&shared),
            Err(PrometheusConfigError::SharedValue("dev".to_owned()))
        );
    }

    #[test]
    fn labels_addresses_and_clusters_are_checked() {
        let clusters = [cluster(1, "prod")];
        for label in ["a\"b", "", "1a", "a b", "cluster=~"] {
            assert_eq!(
                config(Some(label)).validate(&clusters),
                Err(PrometheusConfigError::Label(
                    "cluster_label",
                    label.to_owned()
                ))
            );
        }
        let mut wrong = config(Some("cluster"));
        wrong.url = Url::parse("file:///prometheus").unwrap();
        assert_eq!(wrong.validate(&clusters), Err(PrometheusConfigError::Url));
        let mut unknown = config(Some("cluster"));
        let other = cluster(2, "dev").id;
        unknown.cluster_values.insert(other, "dev".to_owned());
        assert_eq!(
            unknown.validate(&clusters),
            Err(PrometheusConfigError::UnknownCluster(other))
        );
    }

    #[test]
    fn the_value_of_a_cluster_is_its_name_unless_another_is_configured() {
        let prod = cluster(1, "prod");
        let mut config = config(Some("cluster"));
        assert_eq!(config.cluster_value(&prod), "prod");
        config.cluster_values.insert(prod.id, "eu-1".to_owned());
        assert_eq!(config.cluster_value(&prod), "eu-1");
    }
}
