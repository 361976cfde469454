//! Which driver of Magnum made a cluster, and what the cloud's Magnum offers.
use std::{borrow::Cow, collections::BTreeMap, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Drivers that behave alike. Read from and written as its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Family {
    /// The Heat drivers of Magnum up to 22 (`k8s_fedora_coreos_v1`).
    Heat,
    /// `magnum-capi-helm` (`k8s_capi_helm_v1`).
    CapiHelm,
    /// `magnum-cluster-api` (`k8s_cluster_api_ubuntu_v1` and others).
    ClusterApi,
    /// A driver that implements every operation of Magnum's API. Never detected: the operator's
    /// configuration names such drivers.
    Complete,
    /// Any other driver.
    Unknown,
}

impl Family {
    /// The families that an operator or a user can name: all but [`Self::Unknown`].
    pub const ALL: [Self; 4] = [Self::Heat, Self::CapiHelm, Self::ClusterApi, Self::Complete];

    /// Returns the word in configurations and options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Heat => "heat",
            Self::CapiHelm => "capi_helm",
            Self::ClusterApi => "cluster_api",
            Self::Complete => "complete",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the words of all families, for messages: `heat, capi_helm, cluster_api or complete`.
    pub fn words() -> String {
        let words = Self::ALL.map(Self::word);
        let [others @ .., last] = words;
        format!("{} or {last}", others.join(", "))
    }

    /// Returns the name to show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heat => "Heat",
            Self::CapiHelm => "magnum-capi-helm",
            Self::ClusterApi => "magnum-cluster-api",
            Self::Complete => "driver with all operations",
            Self::Unknown => "unknown driver",
        }
    }

    /// Returns whether Cluster API makes the machines.
    pub fn is_cluster_api(self) -> bool {
        matches!(self, Self::CapiHelm | Self::ClusterApi)
    }
}

/// A text that is not the word of a family.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a family of drivers: write {words}", words = Family::words())]
pub struct FamilyError(String);

impl FromStr for Family {
    type Err = FamilyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|family| family.word() == text)
            .ok_or_else(|| FamilyError(text.to_owned()))
    }
}

impl TryFrom<String> for Family {
    type Error = FamilyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Family> for String {
    fn from(family: Family) -> Self {
        family.word().to_owned()
    }
}

impl JsonSchema for Family {
    fn schema_name() -> Cow<'static, str> {
        "Family".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = Self::ALL.map(Self::word);
        json_schema!({
            "description": "Drivers that behave alike.",
            "type": "string",
            "enum": words,
        })
    }
}

/// From what the driver was concluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The operator's configuration.
    Configuration,
    /// The field `driver` of the template (Magnum 23).
    TemplateField,
    /// The form of the cluster's `cluster_id` or `stack_id`.
    ClusterId,
    /// A label that only one driver reads.
    Label,
    /// The distribution of the template's image.
    Distribution,
    /// Nothing was conclusive.
    Nothing,
}

/// What is known about a cluster or a template. The caller fills it from Magnum's objects.
#[derive(Clone, Debug, Default)]
pub struct DriverHints<'a> {
    /// `driver` of the template.
    pub template_driver: Option<&'a str>,
    /// `cluster_id` (from API version 1.13) or `stack_id` of the cluster.
    pub cluster_id: Option<&'a str>,
    /// `name` of the cluster.
    pub cluster_name: Option<&'a str>,
    /// `cluster_distro` of the template.
    pub distribution: Option<&'a str>,
    /// Labels of the cluster or of the template.
    pub labels: Option<&'a BTreeMap<String, String>>,
}

/// A detected driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// How it behaves.
    pub family: Family,
    /// From what that was concluded.
    pub evidence: Evidence,
}

impl Driver {
    /// Concludes the driver. `configured` maps driver names to families and precedes everything else.
    pub fn detect(hints: &DriverHints<'_>, configured: &BTreeMap<String, Family>) -> Self {
        let found = |family, evidence| Self { family, evidence };
        if let Some(name) = hints.template_driver {
            if let Some(family) = configured.get(name) {
                return found(*family, Evidence::Configuration);
            }
            return found(family_of_name(name), Evidence::TemplateField);
        }
        if let Some(id) = hints.cluster_id
            && let Some(family) = family_of_id(id, hints.cluster_name)
        {
            return found(family, Evidence::ClusterId);
        }
        if let Some(labels) = hints.labels
            && labels.contains_key("capi_helm_chart_version")
        {
            return found(Family::CapiHelm, Evidence::Label);
        }
        // both Cluster API drivers use images of Ubuntu: only CoreOS is conclusive
        if hints
            .distribution
            .is_some_and(|distribution| distribution.starts_with("fedora"))
        {
            return found(Family::Heat, Evidence::Distribution);
        }
        found(Family::Unknown, Evidence::Nothing)
    }
}

fn family_of_name(name: &str) -> Family {
    if name.starts_with("k8s_capi_helm") {
        Family::CapiHelm
    } else if name.starts_with("k8s_cluster_api") {
        Family::ClusterApi
    } else if name.starts_with("k8s_fedora") || name.starts_with("k8s_coreos") {
        Family::Heat
    } else {
        Family::Unknown
    }
}

/// A stack's UUID, `kube-xxxxx`, or `<name>-<id>`.
fn family_of_id(id: &str, name: Option<&str>) -> Option<Family> {
    if uuid::Uuid::try_parse(id).is_ok() {
        return Some(Family::Heat);
    }
    let is_random = |text: &str| {
        text.len() == 5
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    if id.strip_prefix("kube-").is_some_and(is_random) {
        return Some(Family::ClusterApi);
    }
    // magnum-capi-helm shortens the name and writes it in lower case
    let (start, suffix) = id.rsplit_once('-')?;
    let is_of_name = name.is_some_and(|name| {
        let name = name.to_lowercase().replace(['_', '.'], "-");
        !start.is_empty() && (name.starts_with(start) || start.starts_with(&name))
    });
    let is_suffix = suffix.len() >= 8 && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_of_name && is_suffix).then_some(Family::CapiHelm)
}

/// A version of Magnum's API (microversion): `1.<minor>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiVersion(pub u16);

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// A text that is not a version of Magnum's API.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version of Magnum's API such as 1.14")]
pub struct ApiVersionError(String);

impl FromStr for ApiVersion {
    type Err = ApiVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
        minor
            .map(Self)
            .ok_or_else(|| ApiVersionError(text.to_owned()))
    }
}

/// The Magnum of a cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// The highest version that both the cloud and Portico know.
    pub api: ApiVersion,
    /// The major release of Magnum, such as 20, where the operator's configuration names it: the API
    /// does not report it.
    pub release: Option<u16>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_read_by_its_word_and_written_as_it() {
        for family in Family::ALL {
            assert_eq!(family.word().parse(), Ok(family));
            let json = serde_json::to_string(&family).unwrap();
            assert_eq!(json, format!("\"{}\"", family.word()));
            assert_eq!(serde_json::from_str::<Family>(&json).unwrap(), family);
        }
    }

    #[test]
    fn a_word_that_is_not_a_family_is_answered_with_all_of_them() {
        for text in ["", "Heat", "capi", Family::Unknown.word()] {
            let error = text.parse::<Family>().unwrap_err().to_string();
            let words = "write heat, capi_helm, cluster_api or complete";
            assert!(error.ends_with(words), "{error}");
        }
    }

    #[test]
    fn the_schema_has_the_words_of_all_families() {
        let schema = schemars::schema_for!(Family).to_value();
        let words = serde_json::json!(["heat", "capi_helm", "cluster_api", "complete"]);
        assert_eq!(schema["enum"], words);
    }
}
