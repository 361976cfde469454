use crate::advice::{self, Advice};
use crate::error::StoreError;
use crate::redis::Redis;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;

/// `[store]`: where Portico remembers sessions.
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
    /// Files with the sealing keys (32 bytes, base64 each): the first seals, all open. This list
    /// and the files are read again while Portico runs. To rotate, put a new one last at every
    /// replica, then first, and drop the old one when no session of before is left.
    #[schemars(extend("x-portico-takes-effect" = "reload"))]
    pub key_files: Vec<PathBuf>,
    /// How many connections to a database are kept at most. Redis is asked over one.
    #[serde(default = "default_connections")]
    pub max_connections: u32,
}

impl StoreConfig {
    /// Checks the URL without opening anything.
    ///
    /// # Errors
    /// When it is of no kind that a store can be on.
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

    /// Returns what the URL alone tells that an operator should change.
    pub fn advice(&self) -> Vec<Advice> {
        advice::on_url(self.url.expose_secret())
    }

    /// Whether only one process may use the store: a file on its own machine.
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
                // a lone part is a user to some clients and a password to others
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
