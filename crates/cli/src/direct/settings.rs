//! The settings of one cloud and its user, from `clouds.yaml` or the `OS_*` variables.
use super::clouds_yaml::{self, Variables};
use crate::direct_error::DirectError;
use crate::profile;
use secrecy::{ExposeSecret, SecretString};
use serde_norway::{Mapping, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use url::Url;

/// The name of the cloud that the `OS_*` variables describe; openstacksdk uses the same.
pub const ENVIRONMENT: &str = "envvars";

/// The supported keys, in `auth`, beside it, and as `OS_…` in capitals.
const KEYS: [&str; 25] = [
    "auth_type",
    "auth_url",
    "username",
    "user_id",
    "password",
    "passcode",
    "user_domain_name",
    "user_domain_id",
    "project_name",
    "project_id",
    "tenant_name",
    "tenant_id",
    "project_domain_name",
    "project_domain_id",
    "default_domain_name",
    "default_domain_id",
    "application_credential_id",
    "application_credential_name",
    "application_credential_secret",
    "token",
    "cacert",
    "verify",
    "insecure",
    "region_name",
    "interface",
];
/// The keys that the environment may add to a cloud of `clouds.yaml`.
const FROM_ENVIRONMENT: [&str; 3] = ["password", "passcode", "application_credential_secret"];

/// The settings of one cloud. All values are treated as secrets, since some are.
#[derive(Debug)]
pub struct Settings {
    values: BTreeMap<&'static str, SecretString>,
    variables: Variables,
    /// The source of the settings, for messages.
    pub source: String,
}

/// Returns the variables of this process.
pub fn variables() -> Variables {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("OS_") || name == "HOME" || name == "XDG_CONFIG_HOME")
        // an openrc file from Windows leaves a carriage return at the end of each value
        .map(|(name, value)| (name, value.trim_end_matches(['\r', '\n']).to_owned()))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// Returns the cloud that the environment selects, if any.
pub fn cloud_of_environment(variables: &Variables) -> Option<String> {
    variables.get("OS_CLOUD").cloned().or_else(|| {
        let named = ["OS_AUTH_URL", "OS_APPLICATION_CREDENTIAL_ID"];
        let any = named.iter().any(|name| variables.contains_key(*name));
        any.then(|| ENVIRONMENT.to_owned())
    })
}

impl Settings {
    /// Returns the settings of `cloud`; checks only that they can be read.
    pub fn load(cloud: &str, variables: Variables) -> Result<Self, DirectError> {
        if cloud == ENVIRONMENT {
            return Ok(Self {
                values: from_environment(&variables, &KEYS),
                variables,
                source: "the environment (OS_*)".to_owned(),
            });
        }
        let entry = clouds_yaml::entry(cloud, &variables)?;
        let mut settings = Self {
            values: from_mapping(&entry.cloud),
            source: format!("the cloud {cloud} in {}", entry.path.display()),
            variables,
        };
        settings.add_from_environment(cloud);
        Ok(settings)
    }

    /// Adds a secret that the file leaves out from the environment, unless the environment is about
    /// another cloud or user: it would be sent to the wrong Keystone then.
    fn add_from_environment(&mut self, cloud: &str) {
        let says = |name: &str| self.variables.get(name);
        let other_cloud = says("OS_CLOUD").is_some_and(|named| named != cloud);
        let normal = |text: &str| keystone_url(text).ok();
        let other_keystone = says("OS_AUTH_URL")
            .is_some_and(|named| self.get("auth_url").and_then(normal) != normal(named));
        let other_user =
            says("OS_USERNAME").is_some_and(|named| self.get("username") != Some(named));
        if other_cloud || other_keystone || other_user {
            return;
        }
        for (key, value) in from_environment(&self.variables, &FROM_ENVIRONMENT) {
            self.values.entry(key).or_insert(value);
        }
    }

    /// Returns one value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(ExposeSecret::expose_secret)
    }

    /// Returns one value as a secret.
    pub fn secret(&self, key: &str) -> Option<SecretString> {
        self.values.get(key).cloned()
    }

    /// Returns the requested project, by ID or name.
    pub fn project(&self) -> Option<&str> {
        self.project_id().or_else(|| self.project_name())
    }

    /// Returns the project's ID, under its current or its old key.
    pub fn project_id(&self) -> Option<&str> {
        self.get("project_id").or_else(|| self.get("tenant_id"))
    }

    /// Returns the project's name, under its current or its old key.
    pub fn project_name(&self) -> Option<&str> {
        self.get("project_name").or_else(|| self.get("tenant_name"))
    }

    /// Replaces the requested project by another one: its ID (32 hexadecimal digits) or its name.
    pub fn choose_project(&mut self, project: &str) {
        for key in ["project_id", "project_name", "tenant_id", "tenant_name"] {
            self.values.remove(key);
        }
        let is_id = project.len() == 32 && project.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = if is_id { "project_id" } else { "project_name" };
        self.values.insert(key, SecretString::from(project));
    }

    /// Returns Keystone's URL, if one is given.
    pub fn auth_url(&self) -> Result<Option<Url>, DirectError> {
        self.get("auth_url").map(keystone_url).transpose()
    }

    /// Returns the CA file of Keystone's certificate.
    pub fn authority(&self) -> Result<Option<PathBuf>, DirectError> {
        let off = |key, word| {
            self.get(key)
                .is_some_and(|value| value.eq_ignore_ascii_case(word))
        };
        if off("verify", "false") || off("insecure", "true") || off("insecure", "1") {
            return Err(DirectError::Insecure(self.source.clone()));
        }
        let path = self.get("cacert");
        Ok(path.map(|path| clouds_yaml::expand(path, &self.variables)))
    }
}

fn from_environment(
    variables: &Variables,
    keys: &[&'static str],
) -> BTreeMap<&'static str, SecretString> {
    keys.iter()
        .filter_map(|key| {
            let value = variables.get(&format!("OS_{}", key.to_ascii_uppercase()))?;
            Some((*key, SecretString::from(value.as_str())))
        })
        .collect()
}

/// Reads a mapping; keys in `auth` take precedence over those beside it.
fn from_mapping(cloud: &Mapping) -> BTreeMap<&'static str, SecretString> {
    let auth = cloud.get("auth").and_then(Value::as_mapping);
    KEYS.iter()
        .filter_map(|key| {
            let value = auth
                .and_then(|auth| auth.get(key))
                .or_else(|| cloud.get(key));
            Some((*key, SecretString::from(scalar(value?)?)))
        })
        .collect()
}

/// Returns a scalar as text: a password of digits is a number in YAML.
fn scalar(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Normalises Keystone's URL for comparison and pinning: with `/v3`, over TLS unless it is on this
/// machine.
pub fn keystone_url(text: &str) -> Result<Url, DirectError> {
    let wrong = || DirectError::AuthUrl(text.to_owned());
    let mut url = Url::parse(text.trim()).map_err(|_| wrong())?;
    let protected = url.scheme() == "https" || (url.scheme() == "http" && profile::is_local(&url));
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let path = url.path().trim_end_matches('/').to_owned();
    if !protected || !plain || path.ends_with("/v2.0") {
        return Err(wrong());
    }
    let version = if path.ends_with("/v3") { "" } else { "/v3" };
    url.set_path(&format!("{path}{version}"));
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Variables {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn in_file(text: &str, more: &[(&str, &str)]) -> Settings {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("clouds.yaml");
        std::fs::write(&file, text).unwrap();
        let mut variables = environment(more);
        let path = file.display().to_string();
        variables.insert("OS_CLIENT_CONFIG_FILE".to_owned(), path);
        Settings::load("acme", variables).unwrap()
    }

    const ACME: &str =
        "clouds: {acme: {auth: {auth_url: 'https://k.example/', username: ada, tenant_name: p}}}";

    #[test]
    fn a_url_is_the_same_however_it_is_written() {
        let one = keystone_url("https://k.example:5000/v3").unwrap();
        for same in [
            "https://k.example:5000",
            "https://K.example:5000/",
            "https://k.example:5000/v3/",
            " https://k.example:5000/v3",
        ] {
            assert_eq!(keystone_url(same).unwrap(), one, "{same}");
        }
        assert_eq!(
            keystone_url("https://c.example/identity").unwrap().path(),
            "/identity/v3"
        );
        assert!(keystone_url("http://127.0.0.1:5000").is_ok());
        for wrong in [
            "http://k.example/v3",
            "https://u:p@k.example/v3",
            "https://k.example/v3?x",
            "https://k.example/v2.0",
            "ftp://k.example",
            "k.example",
            "",
        ] {
            assert!(keystone_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_environment_describes_a_cloud_of_its_own() {
        let variables = environment(&[
            ("OS_AUTH_URL", "https://k.example"),
            ("OS_USERNAME", "ada"),
            ("OS_PROJECT_ID", "p1"),
            ("OS_TENANT_NAME", "old"),
        ]);
        assert_eq!(cloud_of_environment(&variables).as_deref(), Some("envvars"));
        let settings = Settings::load(ENVIRONMENT, variables).unwrap();
        assert_eq!(settings.get("username"), Some("ada"));
        assert_eq!(settings.project(), Some("p1"));
        assert_eq!(settings.project_name(), Some("old"));
        let named = environment(&[("OS_CLOUD", "acme"), ("OS_AUTH_URL", "https://k")]);
        assert_eq!(cloud_of_environment(&named).as_deref(), Some("acme"));
        assert_eq!(cloud_of_environment(&Variables::new()), None);
    }

    #[test]
    fn a_missing_secret_comes_by_the_environment_if_it_is_about_this_cloud() {
        let password = |more: &[(&str, &str)]| {
            let mut all = vec![("OS_PASSWORD", "s3cret")];
            all.extend_from_slice(more);
            in_file(ACME, &all).get("password").map(str::to_owned)
        };
        assert_eq!(password(&[]).as_deref(), Some("s3cret"));
        assert_eq!(
            password(&[
                ("OS_AUTH_URL", "https://k.example/v3"),
                ("OS_USERNAME", "ada")
            ])
            .as_deref(),
            Some("s3cret")
        );
        assert_eq!(password(&[("OS_AUTH_URL", "https://other")]), None);
        assert_eq!(password(&[("OS_CLOUD", "other")]), None);
        assert_eq!(password(&[("OS_USERNAME", "otto")]), None);
        // user and project come from the file alone
        let settings = in_file(ACME, &[("OS_PROJECT_NAME", "q"), ("OS_AUTH_TYPE", "token")]);
        assert_eq!(settings.project(), Some("p"));
        assert_eq!(settings.get("auth_type"), None);
    }

    #[test]
    fn another_project_is_chosen_by_name_or_id() {
        let mut settings = in_file(ACME, &[]);
        settings.choose_project("shop");
        assert_eq!(settings.project_name(), Some("shop"));
        assert_eq!(settings.project_id(), None);
        let id = "915d66fac5204c35aa2ac52c13254e05";
        settings.choose_project(id);
        assert_eq!(
            (settings.project_id(), settings.project_name()),
            (Some(id), None)
        );
    }

    #[test]
    fn region_and_interface_are_read() {
        let text = "clouds: {acme: {region_name: one, interface: internal}}";
        let settings = in_file(text, &[]);
        assert_eq!(settings.get("region_name"), Some("one"));
        assert_eq!(settings.get("interface"), Some("internal"));
    }

    #[test]
    fn a_password_of_digits_is_a_password() {
        let text = "clouds: {acme: {auth: {password: 123456}, cacert: ~/ca.pem}}";
        let settings = in_file(text, &[("HOME", "/home/ada")]);
        assert_eq!(settings.get("password"), Some("123456"));
        let authority = settings.authority().unwrap();
        assert_eq!(authority, Some(PathBuf::from("/home/ada/ca.pem")));
    }

    #[test]
    fn the_check_of_certificates_cannot_be_turned_off() {
        for off in ["verify: false", "verify: 'False'", "insecure: true"] {
            let settings = in_file(&format!("clouds: {{acme: {{{off}}}}}"), &[]);
            assert!(settings.authority().is_err(), "{off}");
        }
    }
}
