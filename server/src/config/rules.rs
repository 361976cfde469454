//! Validation across sections: values that are valid alone but do not fit together.
use super::schema::ConfigSchema;
use super::{Config, Role, enrolment::EnrolmentConfig};
use gateway::config::GatewayConfig;
use portico_domain::cluster::ClusterRecord;
use portico_runtime::config::{ConfigError, Problem};
use serde_json::Value;
use std::collections::HashMap;
use std::net::SocketAddr;
use url::Url;

impl Config {
    /// Checks everything that the roles need and collects every problem, not only the first.
    ///
    /// # Errors
    /// All problems.
    pub fn validate(&self, roles: &[Role]) -> Result<(), ConfigError> {
        let mut problems = Vec::new();
        self.check_sections(roles, &mut problems);
        self.check_values(&mut problems);
        self.check_addresses(roles, &mut problems);
        check_clusters(&self.clusters, &mut problems);
        if problems.is_empty() {
            Ok(())
        } else {
            Err(ConfigError::Invalid(problems))
        }
    }

    /// Returns the roles whose sections are present.
    pub fn configured_roles(&self) -> Vec<Role> {
        Role::ALL
            .into_iter()
            .filter(|role| match role {
                Role::Gateway => self.gateway.is_some(),
                Role::Panel => self.panel.is_some(),
                Role::KubeAuth => self.kube_auth.is_some(),
            })
            .collect()
    }

    /// Returns the public address, from the panel's section or the gateway's.
    pub fn public_url(&self) -> Option<&Url> {
        let of_panel = self
            .panel
            .as_ref()
            .and_then(|panel| panel.public_url.as_ref());
        of_panel.or_else(|| self.gateway.as_ref().map(|gateway| &gateway.public_url))
    }

    fn check_sections(&self, roles: &[Role], problems: &mut Vec<Problem>) {
        let sections = [
            ("store", self.store.is_some(), &[Role::Gateway][..]),
            (
                "keystone",
                self.keystone.is_some(),
                &[Role::Gateway, Role::KubeAuth],
            ),
            ("gateway", self.gateway.is_some(), &[Role::Gateway]),
            ("panel", self.panel.is_some(), &[Role::Panel]),
            ("kube_auth", self.kube_auth.is_some(), &[Role::KubeAuth]),
        ];
        for (section, present, needed_by) in sections {
            let needs: Vec<String> = needed_by
                .iter()
                .filter(|role| roles.contains(role))
                .map(ToString::to_string)
                .collect();
            if !present && !needs.is_empty() {
                problems.push(Problem::new(
                    section,
                    format!("the section is missing; needed by: {}", needs.join(", ")),
                ));
            }
        }
        let reads_clusters = self.enrolment.is_some() && roles.contains(&Role::Panel);
        if reads_clusters && self.store.is_none() && !roles.contains(&Role::Gateway) {
            problems.push(Problem::new(
                "store",
                "the section is missing; with [enrolment], the panel reads the enrolled clusters \
                 from it",
            ));
        }
        let section = self.enrolment.as_ref();
        if section.is_some_and(EnrolmentConfig::is_enrolling)
            && roles.contains(&Role::Panel)
            && self.keystone.is_none()
        {
            problems.push(Problem::new(
                "keystone",
                "the section is missing; with enrolment.roles, the panel finds Magnum with it",
            ));
        }
        if roles.contains(&Role::Panel) && self.panel.is_some() {
            if self.public_url().is_none() {
                problems.push(Problem::new(
                    "panel.public_url",
                    "missing, and there is no gateway.public_url to take instead",
                ));
            }
            let own = self
                .panel
                .as_ref()
                .and_then(|panel| panel.public_url.as_ref());
            let has_tls = |gateway: &GatewayConfig| gateway.tls_cert_file.is_some();
            if own.is_some_and(|url| url.scheme() == "http")
                && self.gateway.as_ref().is_some_and(has_tls)
            {
                problems.push(Problem::new(
                    "panel.public_url",
                    "is http://, but gateway.tls_cert_file makes the gateway serve HTTPS: write \
                     https://, or remove panel.public_url, which then is gateway.public_url",
                ));
            }
            let keys = self
                .panel
                .as_ref()
                .map(|panel| &panel.assertion_public_key_files);
            if keys.is_some_and(Vec::is_empty) && !roles.contains(&Role::Gateway) {
                problems.push(Problem::new(
                    "panel.assertion_public_key_files",
                    "name the gateway's public key (assertion.pub): the panel runs without the \
                     gateway here",
                ));
            }
        }
    }

    fn check_values(&self, problems: &mut Vec<Problem>) {
        if let Err(error) = self.log.filter() {
            problems.push(Problem::new("log.level", error.to_string()));
        }
        if let Err(error) = self.telemetry.traces.validate() {
            problems.push(Problem::new("", error.to_string()));
        }
        if let Some(store) = &self.store
            && store.key_files.is_empty()
        {
            problems.push(Problem::new(
                "store.key_files",
                "name at least one key; `portico keys generate` makes one",
            ));
        }
        if let Some(Err(error)) = self.store.as_ref().map(|section| section.validate()) {
            problems.push(Problem::new("", error.to_string()));
        }
        if let Some(enrolment) = &self.enrolment {
            if let Err(error) = enrolment.validate() {
                problems.push(Problem::new("", error.to_string()));
            }
            if self.store.as_ref().is_some_and(|store| !store.is_sql()) {
                problems.push(Problem::new(
                    "enrolment",
                    "enrolled clusters need a store in SQLite or PostgreSQL: Redis may lose them",
                ));
            }
        }
        if let Err(error) = self.magnum.validate() {
            problems.push(Problem::new("", error.to_string()));
        }
        if let Some(Err(error)) = self.keystone.as_ref().map(|section| section.validate()) {
            problems.push(Problem::new("", error.to_string()));
        }
        if let Some(Err(error)) = self
            .gateway
            .as_ref()
            .map(|section| section.validate(&self.apps))
        {
            problems.push(Problem::new("", error.to_string()));
        }
        let metrics = self
            .panel
            .as_ref()
            .and_then(|panel| panel.kube_auth_metrics_url.as_ref());
        if metrics.is_some_and(|url| !matches!(url.scheme(), "http" | "https")) {
            problems.push(Problem::new(
                "panel.kube_auth_metrics_url",
                "must start with http:// or https://",
            ));
        }
        if let Err(error) = self.admin.validate() {
            problems.push(Problem::new("admin.hosts", error.to_string()));
        }
        if let Some(Err(error)) = self.panel.as_ref().map(|panel| panel.streams.validate()) {
            problems.push(Problem::new("", error.to_string()));
        }
        let prometheus = self
            .panel
            .as_ref()
            .and_then(|panel| panel.prometheus.as_ref());
        if let Some(Err(error)) = prometheus.map(|section| section.validate(&self.clusters)) {
            problems.push(Problem::new("", error.to_string()));
        }
        if let Some(Err(error)) = self.kube_auth.as_ref().map(|section| section.validate()) {
            problems.push(Problem::new("", error.to_string()));
        }
    }

    /// Returns the addresses that the roles listen on.
    pub fn addresses(&self, roles: &[Role]) -> Vec<(&'static str, SocketAddr)> {
        let mut addresses = vec![("admin.listen", self.admin.listen)];
        for role in roles {
            let address = match role {
                Role::Gateway => self
                    .gateway
                    .as_ref()
                    .map(|one| ("gateway.listen", one.listen)),
                Role::Panel => self.panel.as_ref().map(|one| ("panel.listen", one.listen)),
                Role::KubeAuth => self
                    .kube_auth
                    .as_ref()
                    .map(|one| ("kube_auth.listen", one.listen)),
            };
            addresses.extend(address);
        }
        addresses
    }

    fn check_addresses(&self, roles: &[Role], problems: &mut Vec<Problem>) {
        let mut taken: HashMap<SocketAddr, &'static str> = HashMap::new();
        for (key, address) in self.addresses(roles) {
            if let Some(other) = taken.insert(address, key) {
                // the problem names a key that is set, if there is one
                let schema = ConfigSchema::new();
                let is_default = |key| {
                    let default = schema.default_of(key).and_then(Value::as_str);
                    default.and_then(|text| text.parse().ok()) == Some(address)
                };
                let (key, other) = if is_default(key) && !is_default(other) {
                    (other, key)
                } else {
                    (key, other)
                };
                let by_default = if is_default(other) {
                    format!(" by default: choose another address, or set {other}")
                } else {
                    String::new()
                };
                problems.push(Problem::new(
                    key,
                    format!("{address} is also that of {other}{by_default}"),
                ));
            }
        }
    }
}

fn check_clusters(clusters: &[ClusterRecord], problems: &mut Vec<Problem>) {
    for (index, cluster) in clusters.iter().enumerate() {
        let mut problem = |key: &str, message: String| {
            problems.push(Problem::new(format!("clusters.{index}.{key}"), message));
        };
        let earlier = &clusters[..index];
        if earlier.iter().any(|other| other.id == cluster.id) {
            problem("id", format!("{} appears twice", cluster.id));
        }
        if cluster.name.trim().is_empty() {
            problem("name", "must not be empty".to_owned());
        }
        let same_name = |other: &ClusterRecord| {
            other.name == cluster.name && other.owner_project == cluster.owner_project
        };
        if earlier.iter().any(same_name) {
            problem(
                "name",
                format!("{} appears twice in its project", cluster.name),
            );
        }
        for (key, ids) in [
            (
                "owner_project",
                std::slice::from_ref(&cluster.owner_project),
            ),
            ("accepted_projects", &cluster.accepted_projects),
            ("accepted_domains", &cluster.accepted_domains),
            ("accepted_roles", &cluster.accepted_roles),
        ] {
            if ids.iter().any(|id| id.trim().is_empty()) {
                problem(key, "an ID must not be empty".to_owned());
            }
        }
        if cluster.authorization_policy_file.is_some()
            && cluster.authorization_policy_config_map.is_some()
        {
            problem(
                "authorization_policy_config_map",
                "authorization_policy_file is set too: take one of them out".to_owned(),
            );
        }
        let url = Url::parse(&cluster.api_url).ok();
        if !url.is_some_and(|url| url.scheme() == "https" && url.username().is_empty()) {
            problem(
                "api_url",
                format!("`{}` must be https://host:port", cluster.api_url),
            );
        }
    }
}
