//! The pinned profile of a cloud: where Keystone and the gateway are, who signed their
//! certificates, and the clusters with their sealing keys. `portico login --cloud` writes it; no
//! kubeconfig, `KUBERNETES_EXEC_INFO`, environment or `clouds.yaml` changes it. It holds no secret.
use crate::direct_error::DirectError;
use crate::{
    api::{Cluster, Gateway},
    error::CommandError,
    private_file, profile,
};
use portico_assertion::keys::{PublicKey, PublishedKey};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use url::Url;
use uuid::Uuid;

/// The content of `clouds/<hash>.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The name in `clouds.yaml`, or `envvars`.
    pub cloud: String,
    pub gateway: Url,
    /// PEM of the authority of the gateway's certificate, if it is a private one.
    pub gateway_ca: Option<String>,
    pub auth_url: Url,
    /// PEM of the authority of Keystone's certificate, if it is a private one.
    pub auth_ca: Option<String>,
    pub clusters: Vec<PinnedCluster>,
}

/// A cluster as the gateway described it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedCluster {
    pub id: Uuid,
    pub name: String,
    pub api_url: String,
    /// Base64 of the PEM, as kubeconfigs hold it.
    pub ca_data: Option<String>,
    pub sealing_key: PublishedKey,
    /// The projects whose tokens found it.
    pub projects: Vec<String>,
}

fn directory() -> Result<PathBuf, CommandError> {
    Ok(profile::config_home()?.join("clouds"))
}

/// Returns the path of a cloud's pin.
pub fn path(cloud: &str) -> Result<PathBuf, CommandError> {
    Ok(directory()?.join(format!("{}.json", profile::file_hash(&[cloud]))))
}

impl Pin {
    /// Returns the pin of a cloud, if there is one.
    pub fn find(cloud: &str) -> Result<Option<Self>, CommandError> {
        let path = path(cloud)?;
        let found = private_file::read(&path)?
            .map(|text| Self::parse(&text, &path))
            .transpose()?;
        // eight bytes of a hash name the file
        Ok(found.filter(|pin| pin.cloud == cloud))
    }

    /// Returns every pinned cloud of this machine.
    pub fn all() -> Result<Vec<Self>, CommandError> {
        let mut pins = Vec::new();
        for path in private_file::json_files(&directory()?)? {
            if let Some(text) = private_file::read(&path)? {
                pins.push(Self::parse(&text, &path)?);
            }
        }
        Ok(pins)
    }

    /// Returns the pin of a cloud.
    pub fn load(cloud: &str) -> Result<Self, CommandError> {
        Self::find(cloud)?.ok_or_else(|| DirectError::NotPinned(cloud.to_owned()).into())
    }

    fn parse(text: &str, path: &Path) -> Result<Self, CommandError> {
        serde_json::from_str(text).map_err(|error| CommandError::Content {
            path: path.to_owned(),
            detail: format!(
                "not a pinned cloud of this version ({error}); remove it and sign in again"
            ),
        })
    }

    /// Writes the pin.
    pub fn save(&self) -> Result<(), CommandError> {
        private_file::private_directory(&directory()?)?;
        let path = path(&self.cloud)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| CommandError::Content {
            path: path.clone(),
            detail: error.to_string(),
        })?;
        private_file::replace(&path, &text)
    }

    /// Refuses a Keystone that is not the pinned one, before anything is sent there.
    pub fn check_auth_url(&self, found: Option<&Url>, source: &str) -> Result<(), DirectError> {
        match found {
            Some(found) if *found != self.auth_url => Err(DirectError::AuthUrlChanged {
                source_name: source.to_owned(),
                cloud: self.cloud.clone(),
                found: found.to_string(),
                pinned: self.auth_url.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the gateway, with the pinned authority.
    pub fn gateway(&self) -> Result<Gateway, CommandError> {
        Gateway::new(self.gateway.clone(), self.gateway_ca.as_deref())
    }

    /// Returns a pinned cluster by its ID.
    pub fn cluster(&self, id: Uuid) -> Result<&PinnedCluster, DirectError> {
        let found = self.clusters.iter().find(|cluster| cluster.id == id);
        found.ok_or_else(|| self.unknown(&id.to_string()))
    }

    /// Returns the error for an unknown cluster.
    pub fn unknown(&self, asked: &str) -> DirectError {
        let names: Vec<&str> = self.clusters.iter().map(|c| c.name.as_str()).collect();
        DirectError::UnknownCluster {
            cluster: asked.to_owned(),
            cloud: self.cloud.clone(),
            known: if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            },
        }
    }

    /// Merges the gateway's list for a project; removes the project from clusters that are no
    /// longer listed.
    pub fn take_over(&mut self, listed: Vec<Cluster>, project: &str) {
        for known in &mut self.clusters {
            known.projects.retain(|known| known != project);
        }
        for cluster in listed {
            // gateways without direct mode publish no key: nothing can be sealed there
            let Some(sealing_key) = cluster.sealing_key else {
                continue;
            };
            let before = self
                .clusters
                .iter()
                .position(|known| known.id == cluster.id);
            let mut projects = before
                .map(|index| self.clusters.swap_remove(index).projects)
                .unwrap_or_default();
            projects.push(project.to_owned());
            self.clusters.push(PinnedCluster {
                id: cluster.id,
                name: cluster.name,
                api_url: cluster.api_url,
                ca_data: cluster.ca_data,
                sealing_key,
                projects,
            });
        }
        self.clusters.retain(|cluster| !cluster.projects.is_empty());
        self.clusters
            .sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    }

    /// Returns the key to seal to: the pinned gateway's current one, or the last known one if the
    /// gateway does not respond. A changed key replaces the pinned one.
    pub async fn sealing_key(&self, cluster: &PinnedCluster) -> Result<PublicKey, CommandError> {
        let current = match self.gateway()?.sealing_key(cluster.id).await {
            Ok(current) => current,
            Err(_) => cluster.sealing_key.clone(),
        };
        let key = current.key().map_err(|_| DirectError::SealingKey {
            cluster: cluster.name.clone(),
            cloud: self.cloud.clone(),
        })?;
        if current != cluster.sealing_key {
            self.keep_key(cluster.id, &current).await;
        }
        Ok(key)
    }

    /// Stores the key. If the home directory is not writable, the next run asks again; nothing else
    /// is lost.
    async fn keep_key(&self, cluster: Uuid, key: &PublishedKey) {
        let keep = async || -> Result<(), CommandError> {
            let _lock = private_file::lock(&path(&self.cloud)?).await?;
            let Some(mut pin) = Self::find(&self.cloud)? else {
                return Ok(());
            };
            for known in pin.clusters.iter_mut().filter(|known| known.id == cluster) {
                known.sealing_key = key.clone();
            }
            pin.save()
        };
        let _ = keep().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_assertion::PrivateKey;

    fn pin() -> Pin {
        Pin {
            cloud: "acme".to_owned(),
            gateway: "https://portico.example.org".parse().unwrap(),
            gateway_ca: None,
            auth_url: "https://k.example/v3".parse().unwrap(),
            auth_ca: None,
            clusters: Vec::new(),
        }
    }

    fn listed(id: u128, key: Option<&PrivateKey>) -> Cluster {
        Cluster {
            id: Uuid::from_u128(id),
            name: format!("c{id}"),
            api_url: "https://a:6443".to_owned(),
            ca_data: None,
            sealing_key: key.map(|key| PublishedKey::new(key.public())),
            project: None,
        }
    }

    #[test]
    fn another_keystone_is_refused_with_the_way_to_pin_it() {
        let pin = pin();
        let url = |text: &str| text.parse::<Url>().unwrap();
        assert!(pin.check_auth_url(None, "x").is_ok());
        assert!(
            pin.check_auth_url(Some(&url("https://k.example/v3")), "x")
                .is_ok()
        );
        let error = pin
            .check_auth_url(Some(&url("https://evil.example/v3")), "OS_AUTH_URL")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("nothing was sent") && error.contains("--repin"),
            "{error}"
        );
    }

    #[test]
    fn clusters_come_and_go_with_the_project_that_they_were_found_with() {
        let (old, new) = (PrivateKey::generate(), PrivateKey::generate());
        let mut pin = pin();
        pin.take_over(vec![listed(1, Some(&old)), listed(2, Some(&old))], "p");
        pin.take_over(vec![listed(2, Some(&new)), listed(3, None)], "q");
        assert_eq!(pin.clusters.len(), 2);
        let both = pin.cluster(Uuid::from_u128(2)).unwrap();
        assert_eq!(both.projects, ["p", "q"]);
        assert_eq!(&both.sealing_key.key().unwrap(), new.public());
        pin.take_over(Vec::new(), "p");
        let ids: Vec<Uuid> = pin.clusters.iter().map(|cluster| cluster.id).collect();
        assert_eq!(ids, [Uuid::from_u128(2)]);
        assert!(pin.cluster(Uuid::from_u128(1)).is_err());
    }
}
