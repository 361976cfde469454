//! Questions at a terminal. Each answer replaces an option.
use super::arguments::InitArgs;
use super::cluster_spec::{ClusterSpec, api_url, cluster_name};
use super::error::InitError;
use super::roles::{RoleSpec, role_id};
use super::settings::{
    DEFAULT_STORE, certificates, default_apps_domain, default_kube_auth_url, kube_auth_url_problem,
};
use dialoguer::console::Term;
use dialoguer::theme::ColorfulTheme;
use dialoguer::{Confirm, Input};
use std::path::PathBuf;
use url::Url;
use uuid::Uuid;

/// Asks on standard error; standard output is for the report.
pub(super) struct Questions {
    terminal: Term,
    theme: ColorfulTheme,
}

impl Questions {
    pub fn new() -> Self {
        Self {
            terminal: Term::stderr(),
            theme: ColorfulTheme::default(),
        }
    }

    /// Completes the options of a new installation.
    ///
    /// # Errors
    /// If the terminal is closed.
    pub fn complete(&self, args: &mut InitArgs) -> Result<(), InitError> {
        if args.keystone_url.is_none() {
            let url = self.url("Keystone's URL (https://HOST/v3)", None, keystone_url)?;
            if url.scheme() == "https" && args.keystone_ca_file.is_none() {
                args.keystone_ca_file = self.file("Keystone's certificate authority")?;
            }
            args.keystone_url = Some(url);
        }
        if args.public_url.is_none() {
            args.public_url = Some(self.url("Public URL of Portico", None, public_url)?);
        }
        if args.apps_domain.is_none() {
            let default = args.public_url.as_ref().and_then(default_apps_domain);
            let domain = self.text("Domain of the apps", default, |text| domain(text).map(drop))?;
            args.apps_domain = Some(domain);
        }
        if args.store.is_none() {
            let question = "Store (sqlite://, postgres:// or rediss://)";
            args.store = Some(self.text(question, Some(DEFAULT_STORE.to_owned()), store)?);
        }
        if args.kube_auth_url.is_none() {
            let default = args.public_url.as_ref().and_then(default_kube_auth_url);
            let question = "kube-auth's URL, as the API servers reach it";
            args.kube_auth_url = Some(self.url(question, default, kube_auth_url)?);
        }
        for (what, role) in [
            ("administer clusters", &mut args.admin_role),
            ("read and write in namespaces", &mut args.developer_role),
            ("read in namespaces", &mut args.viewer_role),
        ] {
            if role.id.is_none() {
                *role = self.role(what, role)?;
            }
        }
        if args.clusters.is_empty() {
            self.clusters(args)?;
        }
        Ok(())
    }

    /// Asks for clusters until there are no more.
    ///
    /// # Errors
    /// If the terminal is closed.
    pub fn clusters(&self, args: &mut InitArgs) -> Result<(), InitError> {
        while self.confirm(
            if args.clusters.is_empty() {
                "Add a cluster?"
            } else {
                "Add another cluster?"
            },
            args.clusters.is_empty(),
        )? {
            let cluster = self.cluster()?;
            args.clusters.push(cluster);
        }
        Ok(())
    }

    /// Asks a yes-or-no question.
    ///
    /// # Errors
    /// If the terminal is closed.
    pub fn confirm(&self, question: &str, default: bool) -> Result<bool, InitError> {
        let asked = Confirm::with_theme(&self.theme)
            .with_prompt(question)
            .default(default);
        Ok(asked.interact_on(&self.terminal)?)
    }

    fn cluster(&self) -> Result<ClusterSpec, InitError> {
        let name = self.text("Its name", None, |text| cluster_name(text).map(drop))?;
        let project = self.text("ID of the Keystone project that owns it", None, |text| {
            let good = !text.trim().is_empty() && !text.contains(char::is_whitespace);
            good.then_some(())
                .ok_or_else(|| "`openstack project show NAME -f value -c id` prints it".to_owned())
        })?;
        let api_url = self.url("URL of its API server (https://HOST:6443)", None, api_url)?;
        let ca_file = self.file("Certificate authority of its API server")?;
        let id = self.text(
            "Its UUID (Magnum's, where Magnum made it)",
            Some(Uuid::new_v4().to_string()),
            |text| {
                Uuid::parse_str(text)
                    .map(drop)
                    .map_err(|_| "not a UUID".to_owned())
            },
        )?;
        Ok(ClusterSpec {
            id: id
                .parse()
                .map_err(|_| InitError::Options(vec![format!("id {id} is not a UUID")]))?,
            name,
            project,
            api_url,
            ca_file,
        })
    }

    fn role(&self, what: &str, role: &RoleSpec) -> Result<RoleSpec, InitError> {
        let question = format!("Keystone role of users who {what}");
        let name = self.text(&question, Some(role.name.clone()), |text| {
            text.parse::<RoleSpec>().map(drop)
        })?;
        let question = format!("ID of the role {name} (empty: not known yet)");
        let id = self.text(&question, Some(String::new()), |text| {
            if text.is_empty() {
                return Ok(());
            }
            role_id(text).map(drop)
        })?;
        let id = (!id.is_empty()).then_some(id);
        Ok(RoleSpec { name, id })
    }

    /// Asks for a file with certificates; an empty answer means none.
    fn file(&self, what: &str) -> Result<Option<PathBuf>, InitError> {
        let question = format!("{what} (PEM file; empty: the public ones)");
        let path = self.text(&question, Some(String::new()), |text| {
            if text.is_empty() {
                return Ok(());
            }
            certificates(text.as_ref()).map(drop)
        })?;
        Ok((!path.is_empty()).then(|| path.into()))
    }

    fn url(
        &self,
        question: &str,
        default: Option<Url>,
        check: impl Fn(&str) -> Result<Url, String>,
    ) -> Result<Url, InitError> {
        let default = default.map(|url| url.as_str().trim_end_matches('/').to_owned());
        let text = self.text(question, default, |text| check(text).map(drop))?;
        check(&text).map_err(|problem| InitError::Options(vec![problem]))
    }

    fn text(
        &self,
        question: &str,
        default: Option<String>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, InitError> {
        let may_be_empty = default.as_ref().is_some_and(String::is_empty);
        let mut input = Input::<String>::with_theme(&self.theme)
            .with_prompt(question)
            .allow_empty(may_be_empty)
            .validate_with(|text: &String| check(text.trim()));
        if let Some(default) = default.filter(|default| !default.is_empty()) {
            input = input.default(default);
        }
        Ok(input.interact_text_on(&self.terminal)?.trim().to_owned())
    }
}

fn url(text: &str, form: &str) -> Result<Url, String> {
    Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
        .ok_or_else(|| format!("must be {form}"))
}

fn keystone_url(text: &str) -> Result<Url, String> {
    let url = url(text, "https://HOST[:PORT][/PATH]/v3")?;
    if url.path().trim_end_matches('/').ends_with("/v3") {
        Ok(url)
    } else {
        Err("must end with /v3".to_owned())
    }
}

fn public_url(text: &str) -> Result<Url, String> {
    let url = url(text, "https://HOST[:PORT]")?;
    if url.path() == "/" {
        Ok(url)
    } else {
        Err("must not have a path".to_owned())
    }
}

fn kube_auth_url(text: &str) -> Result<Url, String> {
    let url = url(text, "https://HOST:PORT")?;
    kube_auth_url_problem(&url).map_or(Ok(url), Err)
}

fn domain(text: &str) -> Result<&str, String> {
    let label = |label: &str| {
        !label.is_empty()
            && label
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if text.split('.').all(label) {
        Ok(text)
    } else {
        Err("must be a domain in lower case, such as apps.portico.example.org".to_owned())
    }
}

fn store(text: &str) -> Result<(), String> {
    let schemes = [
        "sqlite:",
        "postgres://",
        "postgresql://",
        "redis://",
        "rediss://",
    ];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) {
        Ok(())
    } else {
        Err("must start with sqlite://, postgres:// or rediss://".to_owned())
    }
}
