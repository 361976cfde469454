//! The profile of one gateway: its address, its pinned authority, and the session of `portico
//! login`. A kubeconfig or `KUBERNETES_EXEC_INFO` never changes it.
use super::{
    error::CommandError,
    private_file::{self, expose},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use url::{Host, Url};

/// The content of `profiles/<hash>.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub gateway: Url,
    /// PEM of a private authority, pinned at sign-in.
    pub ca: Option<String>,
    #[serde(serialize_with = "expose")]
    pub access_token: SecretString,
    /// Unix seconds.
    pub access_expires_at: i64,
    #[serde(serialize_with = "expose")]
    pub refresh_token: SecretString,
}

/// Checks a URL that the user typed: HTTPS, or HTTP on this machine; no path, user or query.
pub fn gateway_url(text: &str) -> Result<Url, CommandError> {
    let wrong = || CommandError::GatewayUrl(text.to_owned());
    let with_scheme = if text.contains("://") {
        text.to_owned()
    } else {
        format!("https://{text}")
    };
    let url = Url::parse(&with_scheme).map_err(|_| wrong())?;
    if url.host().is_none() {
        return Err(wrong());
    }
    let plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let scheme = url.scheme() == "https" || (url.scheme() == "http" && is_local(&url));
    if plain && scheme && url.username().is_empty() && url.password().is_none() {
        Ok(url)
    } else {
        Err(wrong())
    }
}

/// Returns whether requests to this URL never leave this machine.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Returns the URL without its trailing slash, as users type it.
pub fn display(gateway: &Url) -> String {
    gateway.as_str().trim_end_matches('/').to_owned()
}

/// Returns the name of the file that belongs to these parts.
pub fn file_hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn base(variable: &str, below_home: &str) -> Result<PathBuf, CommandError> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set(variable)
        .or_else(|| set("HOME").map(|home| home.join(below_home)))
        .map(|base| base.join("portico"))
        .ok_or(CommandError::NoHome)
}

/// Returns `$XDG_CONFIG_HOME/portico`.
pub fn config_home() -> Result<PathBuf, CommandError> {
    base("XDG_CONFIG_HOME", ".config")
}

/// Returns `$XDG_CACHE_HOME/portico`.
pub fn cache_home() -> Result<PathBuf, CommandError> {
    base("XDG_CACHE_HOME", ".cache")
}

/// Returns `$XDG_CONFIG_HOME/portico/profiles`.
fn profiles() -> Result<PathBuf, CommandError> {
    Ok(config_home()?.join("profiles"))
}

/// Returns `$XDG_CACHE_HOME/portico/tokens`.
pub fn token_cache() -> Result<PathBuf, CommandError> {
    Ok(cache_home()?.join("tokens"))
}

/// Deletes the cached cluster tokens of every gateway; they are fetched again when needed.
pub fn forget_tokens() -> Result<(), CommandError> {
    let directory = token_cache()?;
    let Ok(entries) = std::fs::read_dir(&directory) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            private_file::remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Returns the path of a gateway's profile.
pub fn path(gateway: &Url) -> Result<PathBuf, CommandError> {
    Ok(profiles()?.join(format!("{}.json", file_hash(&[gateway.as_str()]))))
}

impl Profile {
    /// Returns the profile of a gateway, if this machine has signed in there.
    pub fn load(gateway: &Url) -> Result<Option<Self>, CommandError> {
        Self::read(&path(gateway)?)
    }

    fn read(path: &Path) -> Result<Option<Self>, CommandError> {
        private_file::read(path)?
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| CommandError::Content {
                    path: path.to_owned(),
                    detail: format!("not a profile of this version ({error}); sign in again"),
                })
            })
            .transpose()
    }

    /// Returns the profile of `asked`, or the only one if none is given.
    pub fn choose(asked: Option<&str>) -> Result<Self, CommandError> {
        if let Some(asked) = asked {
            let gateway = gateway_url(asked)?;
            return Self::load(&gateway)?.ok_or_else(|| CommandError::NoSession {
                gateway: display(&gateway),
            });
        }
        let mut all = Self::all()?;
        match (all.pop(), all.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(CommandError::NoProfile),
            (Some(last), false) => {
                all.push(last);
                let names: Vec<String> = all
                    .iter()
                    .map(|profile| display(&profile.gateway))
                    .collect();
                Err(CommandError::SeveralProfiles(names.join(", ")))
            }
        }
    }

    /// Returns every profile of this machine.
    pub fn all() -> Result<Vec<Self>, CommandError> {
        let mut found = Vec::new();
        for path in private_file::json_files(&profiles()?)? {
            found.extend(Self::read(&path)?);
        }
        Ok(found)
    }

    /// Writes the profile; creates the directory if it is missing.
    pub fn save(&self) -> Result<(), CommandError> {
        private_file::private_directory(&profiles()?)?;
        let path = path(&self.gateway)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| CommandError::Content {
            path: path.clone(),
            detail: error.to_string(),
        })?;
        private_file::replace(&path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_origin_is_a_gateway() {
        for good in [
            "https://portico.example.org",
            "portico.example.org:8443",
            "http://localhost:8080",
            "http://[::1]:1",
        ] {
            assert!(gateway_url(good).is_ok(), "{good}");
        }
        for bad in [
            "http://portico.example.org",
            "https://a@b",
            "https://h/path",
            "https://h/?q",
            "ftp://h",
            "",
            "http://localhost.evil.example",
        ] {
            assert!(gateway_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn file_names_do_not_run_parts_together() {
        assert_ne!(file_hash(&["ab", "c"]), file_hash(&["a", "bc"]));
    }
}
