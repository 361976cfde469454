//! The kubeconfig entries of one cluster.
use super::document::{CLUSTERS, CONTEXTS, Document, USERS, mapping};
use crate::{CommandError, api::Cluster, exec_info};
use serde_norway::{Mapping, Value};
use std::path::Path;

/// The source of the plugin's tokens.
pub enum Plugin {
    /// This gateway, with the session of `portico login`.
    Gateway(String),
    /// Keystone, with the settings of this pinned cloud.
    Cloud { name: String, gateway: String },
}

/// Cluster, user and context of one cluster.
pub struct Entry<'a> {
    pub context: &'a str,
    pub cluster: &'a Cluster,
    pub plugin: Plugin,
    pub namespace: Option<&'a str>,
    /// kubectl understands client.authentication.k8s.io/v1.
    pub v1: bool,
    pub command: String,
}

impl Plugin {
    /// Returns the name of cluster and user, which is distinct from the names of other programs'
    /// entries.
    fn name_of(&self, cluster: &str) -> String {
        let host = |url: &str| url.split("://").last().unwrap_or(url).to_owned();
        match self {
            Self::Gateway(gateway) => format!("portico/{}/{cluster}", host(gateway)),
            Self::Cloud { name, gateway } => format!("portico/{name}@{}/{cluster}", host(gateway)),
        }
    }

    fn arguments<'a>(&'a self, cluster: &'a str) -> [&'a str; 5] {
        match self {
            Self::Gateway(gateway) => ["credential", "--gateway", gateway, "--cluster", cluster],
            Self::Cloud { name, .. } => ["credential", "--cloud", name, "--cluster", cluster],
        }
    }

    fn hint(&self) -> String {
        let login = match self {
            Self::Gateway(gateway) => format!("portico login {gateway}"),
            Self::Cloud { name, gateway } => format!("portico login --cloud {name} {gateway}"),
        };
        format!(
            "portico is missing: install it as described in your cloud's documentation, then run \
             `{login}`."
        )
    }

    /// Returns whether the plugin may prompt. A session at the gateway is renewed by `portico
    /// login`; OS_* are for programs.
    fn interactive_mode(&self) -> &'static str {
        match self {
            Self::Cloud { name, .. } if name != "envvars" => "IfAvailable",
            _ => "Never",
        }
    }
}

impl Entry<'_> {
    /// Writes cluster, user and context to the document, in place of those of an earlier run.
    pub fn merge(&self, document: &mut Document, path: &Path) -> Result<(), CommandError> {
        document.set_default("apiVersion", "v1");
        document.set_default("kind", "Config");
        let mut name = self.plugin.name_of(&self.cluster.name);
        let id = self.cluster.id.to_string();
        if document
            .get(USERS, &name)
            .is_some_and(|user| is_of_another(user, &id))
        {
            // two clusters may have one name: the other context must not lead to this one
            name = format!("{name}@{id}");
        }
        if let Some(known) = document.context(self.context)
            && !is_ours(&known.user)
        {
            return Err(CommandError::ContextTaken {
                context: self.context.to_owned(),
                path: path.to_owned(),
            });
        }
        document.put(CLUSTERS, &name, self.cluster_value());
        document.put(USERS, &name, self.user_value());
        let mut context = mapping([
            ("cluster", name.as_str().into()),
            ("user", name.as_str().into()),
        ]);
        if let Some(namespace) = self.namespace {
            context.insert("namespace".into(), namespace.into());
        }
        document.put(CONTEXTS, self.context, context);
        document.set_current_context(self.context);
        Ok(())
    }

    fn cluster_value(&self) -> Mapping {
        let mut cluster = mapping([("server", self.cluster.api_url.as_str().into())]);
        if let Some(ca) = &self.cluster.ca_data {
            cluster.insert("certificate-authority-data".into(), ca.as_str().into());
        }
        cluster
    }

    fn user_value(&self) -> Mapping {
        let id = self.cluster.id.to_string();
        let arguments = self.plugin.arguments(&id);
        let arguments: Vec<Value> = arguments.into_iter().map(Value::from).collect();
        let version = if self.v1 {
            exec_info::V1
        } else {
            exec_info::V1BETA1
        };
        let mut exec = mapping([
            ("apiVersion", version.into()),
            ("command", self.command.as_str().into()),
            ("args", Value::Sequence(arguments)),
            ("installHint", self.plugin.hint().into()),
        ]);
        if self.v1 {
            exec.insert(
                "interactiveMode".into(),
                self.plugin.interactive_mode().into(),
            );
        }
        if matches!(self.plugin, Plugin::Cloud { .. }) {
            // the plugin then verifies that the token goes to the pinned API server
            exec.insert("provideClusterInfo".into(), true.into());
        }
        mapping([("exec", Value::Mapping(exec))])
    }
}

/// Returns whether a user of Portico's gets tokens for another cluster than the one with this ID.
fn is_of_another(user: &Value, cluster: &str) -> bool {
    let arguments = user.get("exec").and_then(|exec| exec.get("args"));
    let arguments = arguments.and_then(Value::as_sequence);
    arguments.is_some_and(|all| all.iter().all(|one| one.as_str() != Some(cluster)))
}

/// Returns whether Portico wrote a cluster or user with this name.
pub fn is_ours(name: &str) -> bool {
    name.starts_with("portico/")
}

/// Returns the plain name if the shell finds this program under it, else its path.
pub fn command() -> String {
    let this = std::env::current_exe()
        .and_then(std::fs::canonicalize)
        .unwrap_or_else(|_| "portico".into());
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .map(|directory| directory.join("portico"))
            .find(|candidate| candidate.is_file())
            .and_then(|candidate| std::fs::canonicalize(candidate).ok())
            .is_some_and(|found| found == this)
    });
    if on_path {
        "portico".to_owned()
    } else {
        this.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::parsed;
    use super::*;

    fn cluster() -> Cluster {
        serde_json::from_str(
            r#"{"id":"6f0c1a52-0000-4000-8000-000000000001","name":"prod","api_url":"https://10.0.0.10:6443","ca_data":"Q0E="}"#,
        )
        .unwrap()
    }

    fn gateway() -> Plugin {
        Plugin::Gateway("https://portico.example.org".to_owned())
    }

    fn cloud(name: &str) -> Plugin {
        Plugin::Cloud {
            name: name.to_owned(),
            gateway: "https://portico.example.org".to_owned(),
        }
    }

    fn entry(cluster: &Cluster, plugin: Plugin, v1: bool) -> Entry<'_> {
        Entry {
            context: "prod",
            cluster,
            plugin,
            namespace: None,
            v1,
            command: "portico".to_owned(),
        }
    }

    fn user(plugin: Plugin, v1: bool) -> String {
        let cluster = cluster();
        serde_norway::to_string(&entry(&cluster, plugin, v1).user_value()).unwrap()
    }

    #[test]
    fn other_contexts_stay_as_they_are() {
        let mut document = parsed(
            "apiVersion: v1\nkind: Config\ncurrent-context: mine\npreferences: {colors: true}\n\
             clusters: [{name: mine, cluster: {server: https://a}}]\nusers: [{name: mine, user: {token: t}}]\n\
             contexts: [{name: mine, context: {cluster: mine, user: mine}}]\nx-of-a-tool: 1\n",
        );
        let cluster = cluster();
        let path = Path::new("f");
        for _ in 0..2 {
            let entry = entry(&cluster, gateway(), false);
            entry.merge(&mut document, path).unwrap();
        }
        let text = document.render(path).unwrap();
        insta::assert_snapshot!("beside_other_contexts", text);
        assert_eq!(document.contexts().len(), 2);
        assert_eq!(document.current_context(), Some("prod"));
    }

    #[test]
    fn a_second_cluster_with_the_same_name_does_not_change_the_context_of_the_first() {
        let mut document = parsed("{}");
        let path = Path::new("f");
        let first = cluster();
        let entry_of_first = entry(&first, gateway(), false);
        entry_of_first.merge(&mut document, path).unwrap();
        let mut second = cluster();
        second.id = "6f0c1a52-0000-4000-8000-000000000002".parse().unwrap();
        second.api_url = "https://192.0.2.7:6443".to_owned();
        let entry_of_second = Entry {
            context: "other",
            ..entry(&second, gateway(), false)
        };
        for _ in 0..2 {
            entry_of_second.merge(&mut document, path).unwrap();
        }
        let server = |context: &str| {
            let cluster = document.context(context).unwrap().cluster;
            let value = document.get(CLUSTERS, &cluster).unwrap();
            value.get("server").unwrap().as_str().unwrap().to_owned()
        };
        assert_eq!(server("prod"), first.api_url);
        assert_eq!(server("other"), second.api_url);
        assert_eq!(document.contexts().len(), 2);
    }

    #[test]
    fn a_context_of_another_program_is_not_taken() {
        let mut document = parsed("contexts: [{name: prod, context: {cluster: x, user: x}}]");
        let cluster = cluster();
        let merged = entry(&cluster, gateway(), false).merge(&mut document, Path::new("f"));
        assert!(matches!(merged, Err(CommandError::ContextTaken { .. })));
    }

    #[test]
    fn v1_states_whether_it_is_interactive() {
        for (name, plugin) in [
            ("gateway_with_v1", gateway()),
            ("variables_with_v1", cloud("envvars")),
            ("cloud_with_v1", cloud("acme")),
        ] {
            insta::assert_snapshot!(name, user(plugin, true));
        }
        insta::assert_snapshot!("gateway_with_v1beta1", user(gateway(), false));
    }

    #[test]
    fn in_direct_mode_kubectl_names_the_server_of_the_token() {
        insta::assert_snapshot!("cloud_with_v1beta1", user(cloud("acme"), false));
        assert!(!user(gateway(), false).contains("provideClusterInfo"));
        assert_ne!(gateway().name_of("prod"), cloud("acme").name_of("prod"));
        assert_ne!(cloud("a").name_of("prod"), cloud("b").name_of("prod"));
    }
}
