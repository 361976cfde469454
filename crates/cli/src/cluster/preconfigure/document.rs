//! The file that describes what a cloud must have before clusters are created: `kind: Bootstrap`.
use crate::cluster::arguments::SharedArgs;
use crate::cluster::error::ClusterError;
use crate::cluster::specification;
use crate::direct::CloudChoice;
use portico_lifecycle::spec::DocumentVersion;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use url::Url;

/// What a cloud must have before clusters are created.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "apiVersion")]
    _api_version: DocumentVersion,
    #[serde(rename = "kind")]
    _kind: Kind,
    #[serde(default)]
    spec: Bootstrap,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Kind {
    Bootstrap,
}

/// What is needed. An absent value means that any will do. It has no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Bootstrap {
    /// A name in `clouds.yaml`.
    pub cloud: Option<String>,
    pub project: Option<String>,
    pub region: Option<String>,
    /// Name or ID, as the following ones.
    pub external_network: Option<String>,
    pub template: Option<String>,
    /// The driver of Magnum for a template that `--fix` makes, such as `k8s_capi_helm_v1`; absent: that of the image.
    pub driver: Option<String>,
    pub image: Option<String>,
    pub keypair: Option<String>,
    pub control_plane: Nodes,
    pub workers: Nodes,
    pub dns_zone: Option<String>,
    /// The URL of the proxy of the nodes, without a password.
    pub proxy: Option<String>,
    /// The registry that the nodes use.
    pub registry: Option<String>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Nodes {
    /// Absent: 1.
    pub replicas: Option<u32>,
    pub flavor: Option<String>,
}

impl Bootstrap {
    /// Reads a file in YAML or JSON; `-` is standard input.
    ///
    /// # Errors
    /// [`ClusterError::Usage`] with the path and the field.
    pub fn of_file(path: &Path) -> Result<Self, ClusterError> {
        let value = specification::parse(path)?;
        Self::read(value)
            .map_err(|cause| ClusterError::Usage(format!("{}: {cause}", path.display())))
    }

    fn read(value: Value) -> Result<Self, String> {
        let document: Document =
            serde_json::from_value(value).map_err(|error| error.to_string())?;
        let spec = document.spec;
        let proxy = spec.proxy.as_deref().map(Url::parse);
        match proxy {
            Some(Err(error)) => return Err(format!("spec.proxy is not a URL: {error}")),
            Some(Ok(url)) if url.password().is_some() => {
                return Err(
                    "spec.proxy has a password, and this file is not for secrets: remove it"
                        .to_owned(),
                );
            }
            _ => {}
        }
        Ok(spec)
    }

    /// Returns the JSON Schema of the file.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Document).to_value()
    }

    /// Returns the cloud and the project: those of the options, else those of the file.
    pub fn choice(&self, shared: &SharedArgs) -> CloudChoice {
        let of = |option: &Option<String>, file: &Option<String>| {
            option.clone().or_else(|| file.clone())
        };
        CloudChoice {
            cloud: of(&shared.cloud, &self.cloud),
            project: of(&shared.project, &self.project),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(spec: Value) -> Result<Bootstrap, String> {
        Bootstrap::read(
            json!({"apiVersion": "portico.dev/v1alpha1", "kind": "Bootstrap", "spec": spec}),
        )
    }

    #[test]
    fn a_file_describes_what_is_needed() {
        let spec = read(
            json!({"cloud": "acme", "externalNetwork": "public", "keypair": "ops",
                               "controlPlane": {"replicas": 3, "flavor": "m1.medium"}}),
        );
        let spec = spec.unwrap();
        assert_eq!(spec.control_plane.replicas, Some(3));
        assert_eq!(spec.external_network.as_deref(), Some("public"));
        assert_eq!(spec.workers, Nodes::default());
        let shared = SharedArgs {
            cloud: Some("other".to_owned()),
            ..SharedArgs::default()
        };
        assert_eq!(spec.choice(&shared).cloud.as_deref(), Some("other"));
        assert_eq!(
            spec.choice(&SharedArgs::default()).cloud.as_deref(),
            Some("acme")
        );
    }

    #[test]
    fn the_example_of_the_documentation_is_read() {
        let page = include_str!("../../../../../docs/clusters/preconfiguration.md");
        let (_, rest) = page.split_once("```yaml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let value = portico_runtime::yaml::from_user_file(example).unwrap();
        let spec = Bootstrap::read(value).unwrap();
        assert_eq!(spec.template.as_deref(), Some("k8s-1.32"));
        assert_eq!(spec.workers.replicas, Some(3));
    }

    #[test]
    fn secrets_and_unknown_fields_are_refused() {
        let error = read(json!({"password": "x"})).unwrap_err();
        assert!(error.contains("password"), "{error}");
        let error = read(json!({"proxy": "http://u:p@proxy:3128"})).unwrap_err();
        assert!(error.contains("not for secrets"), "{error}");
        assert!(read(json!({"proxy": "http://proxy:3128"})).is_ok());
        assert!(read(json!({"proxy": "proxy"})).is_err());
        let other = json!({"apiVersion": "portico.dev/v1alpha1", "kind": "Cluster", "spec": {}});
        assert!(Bootstrap::read(other).is_err());
    }
}
