//! `[magnum]`: what Magnum's API does not report.
use portico_cluster_operations::Drivers;
use portico_lifecycle::driver::Family;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Major releases of Magnum, so that a year such as 2025 is not taken for one.
const RELEASES: RangeInclusive<u16> = 1..=99;

/// `[magnum]`: what Magnum's API does not report about this cloud. The panel offers only what a driver
/// supports, and never sends what a driver would ignore or what would damage a cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagnumConfig {
    /// The major release of Magnum, such as `20` (OpenStack 2025.1). The Heat driver upgrades clusters
    /// up to release 17 only. Without it, upgrades of its clusters are not offered.
    #[serde(default)]
    pub release: Option<u16>,
    /// How drivers behave, by the name in the field `driver` of a template, for example
    /// `k8s_acme = "complete"`. Only needed for drivers that are not named as those of Magnum,
    /// magnum-capi-helm and magnum-cluster-api are; what such a driver supports is then not known.
    #[serde(default)]
    pub drivers: BTreeMap<String, Family>,
    /// Roles of the cloud that Magnum's policy treats as its own ones.
    #[serde(default)]
    pub roles: MagnumRoles,
}

/// `[magnum.roles]`: names of further Keystone roles to which the cloud's policy gives the rights that
/// Magnum's default policy gives to `reader`, `member` and `admin`. The panel offers what these roles
/// permit; Magnum's own answer decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MagnumRoles {
    /// Names of roles that may see clusters.
    #[serde(default)]
    pub reader: Vec<String>,
    /// Names of roles that may create, change and delete clusters.
    #[serde(default)]
    pub member: Vec<String>,
    /// Names of roles of administrators of the cloud.
    #[serde(default)]
    pub admin: Vec<String>,
}

impl MagnumRoles {
    /// Returns the roles of Magnum's default policy that a user has with these roles, besides them.
    pub fn of(&self, roles: &[String]) -> Vec<String> {
        let has = |names: &[String]| roles.iter().any(|role| names.contains(role));
        let (is_member, is_reader) = (has(&self.member), has(&self.reader));
        [
            ("reader", is_reader || is_member),
            ("member", is_member),
            ("admin", has(&self.admin)),
        ]
        .into_iter()
        .filter(|(_, is_held)| *is_held)
        .map(|(name, _)| name.to_owned())
        .collect()
    }
}

/// The fault in `magnum`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MagnumConfigError {
    #[error(
        "magnum.release = {0} is not a major release of Magnum: write the first number of its \
         version, such as 20 (OpenStack 2025.1)"
    )]
    Release(u16),
    #[error(
        "magnum.drivers has the name {0:?}: write it as `portico cluster templates` shows it in the \
         column DRIVER"
    )]
    DriverName(String),
}

impl MagnumConfig {
    /// Checks the values.
    ///
    /// # Errors
    /// The first fault.
    pub fn validate(&self) -> Result<(), MagnumConfigError> {
        if let Some(release) = self.release.filter(|release| !RELEASES.contains(release)) {
            return Err(MagnumConfigError::Release(release));
        }
        let mut names = self.drivers.keys();
        match names.find(|name| name.is_empty() || name.contains(char::is_whitespace)) {
            Some(name) => Err(MagnumConfigError::DriverName(name.clone())),
            None => Ok(()),
        }
    }

    /// Returns what the clients of the cloud take.
    pub fn drivers(&self) -> Drivers {
        Drivers::new(self.drivers.clone(), self.release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_the_cloud_have_the_rights_of_those_of_magnum() {
        let config: MagnumConfig =
            toml::from_str("[roles]\nmember = [\"k8s_admin\"]\nreader = [\"k8s_viewer\"]\n")
                .unwrap();
        let of = |role: &str| config.roles.of(&[role.to_owned()]);
        assert_eq!(of("k8s_admin"), ["reader", "member"]);
        assert_eq!(of("k8s_viewer"), ["reader"]);
        assert!(of("member").is_empty());
    }

    #[test]
    fn drivers_are_read_by_their_names() {
        let config: MagnumConfig =
            toml::from_str("release = 20\n[drivers]\nk8s_acme = \"capi_helm\"\n").unwrap();
        let drivers = config.drivers();
        assert_eq!(drivers.release, Some(20));
        assert_eq!(drivers.families().get("k8s_acme"), Some(&Family::CapiHelm));
        let unknown = toml::from_str::<MagnumConfig>("[drivers]\nk8s_acme = \"other\"\n");
        let error = unknown.unwrap_err().to_string();
        assert!(error.contains("capi_helm"), "{error}");
    }
}
