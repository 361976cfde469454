use crate::advice::{self, Advice};
use crate::error::StoreError;
use crate::redis::Redis;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;

/// `[store]`: where Portico stores sessions.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// `sqlite:///path/portico.db`; for several replicas `postgres://user@host/database`, or
    /// `redis://user:password@host:6379/0`, with TLS `rediss://`. Redis takes
    /// `?ca_file=/path/ca.pem` (default: the system's authorities) and `prefix=portico:` for its
    /// keys.
    #[serde(serialize_with = "without_password")]
    #[schemars(with = "String")]
    pub url: SecretString,
    /// Files with the sealing keys (32 bytes, base64 each). The first key seals, and all of them
    /// open. The list and the files are read again while Portico runs. To rotate, add a new key
    /// last on every replica, then move it to the front, and remove the old one when no session
    /// sealed with it is left.
    #[schemars(extend("x-portico-takes-effect" = "reload"))]
    pub key_files: Vec<PathBuf>,
    /// Maximum number of connections to a SQL database. Redis uses one connection.
    #[serde(default = "default_connections")]
    pub max_connections: u32,
}

impl StoreConfig {
    /// Checks the URL without opening a connection.
    ///
    /// # Errors
    /// If the URL is not one of a supported store.
    pub fn validate(&self) -> Result<(), StoreError> {
        let url = self.url.expose_secret();
        if Redis::is_url(url) {
            return Redis::check_url(url);
        }
        let schemes = ["sqlite:", "postgres://", "postgresql://"];
        if schemes.iter().any(|scheme| url.starts_with(scheme)) {
            Ok(())
        } else {
            Err(StoreError::Url(
                "must start with sqlite://, postgres://, redis:// or rediss://".to_owned(),
            ))
        }
    }

    /// Returns the advice that follows from the URL alone.
    pub fn advice(&self) -> Vec<Advice> {
        advice::on_url(self.url.expose_secret())
    }

    /// Returns whether the store is a SQL database, which enrolled clusters need.
    pub fn is_sql(&self) -> bool {
        !Redis::is_url(self.url.expose_secret())
    }

    /// Returns whether only one process may use the store: a file on its own machine.
    pub fn is_for_one_process(&self) -> bool {
        self.url.expose_secret().starts_with("sqlite:")
    }
}

fn default_connections() -> u32 {
    8
}

fn without_password<S: Serializer>(url: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hide_password(url.expose_secret()))
}

fn hide_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((credentials, host)) => {
            if scheme.starts_with("redis") {
                // some clients read a single part as the user and others as the password
                return format!("{scheme}://<hidden>@{host}{}", &rest[end..]);
            }
            let user = credentials.split(':').next().unwrap_or_default();
            let hidden = if credentials.contains(':') {
                ":<hidden>"
            } else {
                ""
            };
            format!("{scheme}://{user}{hidden}@{host}{}", &rest[end..])
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_url_has_no_password() {
        let cases = [
            (
                "postgres://portico:p@ss@db:5432/portico",
                "postgres://portico:<hidden>@db:5432/portico",
            ),
            (
                "postgres://portico@db/portico",
                "postgres://portico@db/portico",
            ),
            (
                "sqlite:///var/lib/portico.db",
                "sqlite:///var/lib/portico.db",
            ),
            ("sqlite:portico.db", "sqlite:portico.db"),
            ("redis://cache:6379/3", "redis://cache:6379/3"),
            (
                "rediss://:secret@cache/0?ca_file=/ca.pem",
                "rediss://<hidden>@cache/0?ca_file=/ca.pem",
            ),
            ("redis://portico:secret@cache/0", "redis://<hidden>@cache/0"),
            ("redis://secret@cache", "redis://<hidden>@cache"),
        ];
        for (url, printed) in cases {
            assert_eq!(hide_password(url), printed);
        }
    }
}
