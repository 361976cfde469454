//! Parsing of `redis://user:password@host:port/database?prefix=…&ca_file=…`.
use crate::error::StoreError;
use ::redis::io::tcp::TcpSettings;
use ::redis::{Client, IntoConnectionInfo as _, TlsCertificates};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

const DEFAULT_PREFIX: &str = "portico:";
const MAX_PREFIX_BYTES: usize = 64;
/// A server that has not acknowledged data for this long is considered gone, even if the connection
/// was not closed.
const USER_TIMEOUT: Duration = Duration::from_secs(6);

/// The address of a Redis server, and the prefix of its keys.
pub(super) struct Address {
    pub client: Client,
    pub prefix: String,
}

/// Returns whether a URL is for Redis.
pub(super) fn is_redis(url: &str) -> bool {
    url.starts_with("redis://") || url.starts_with("rediss://")
}

/// The parts of a URL, before anything is opened.
pub(super) struct Parsed {
    url: Url,
    prefix: String,
    ca_file: Option<PathBuf>,
}

/// Parses the URL. No error message repeats it, since it may hold a password.
pub(super) fn parse(url: &str) -> Result<Parsed, StoreError> {
    let invalid = |reason: &str| StoreError::Url(reason.to_owned());
    let mut url = Url::parse(url).map_err(|error| StoreError::Url(error.to_string()))?;
    let mut prefix = DEFAULT_PREFIX.to_owned();
    let mut ca_file = None;
    for (name, value) in url.query_pairs() {
        match name.as_ref() {
            "prefix" => prefix = value.into_owned(),
            "ca_file" => ca_file = Some(PathBuf::from(value.into_owned())),
            other => {
                return Err(StoreError::Url(format!(
                    "unknown option {other}: Redis takes prefix and ca_file"
                )));
            }
        }
    }
    url.set_query(None);
    if prefix.len() > MAX_PREFIX_BYTES || !prefix.chars().all(allowed_in_prefix) {
        return Err(invalid(
            "prefix must be at most 64 letters, digits and - _ . : characters",
        ));
    }
    let secured = url.scheme() == "rediss";
    if ca_file.is_some() && !secured {
        return Err(invalid("ca_file is for rediss:// only"));
    }
    let host = url.host_str().filter(|host| !host.is_empty());
    host.ok_or_else(|| invalid("names no host"))?;
    url.clone()
        .into_connection_info()
        .map_err(|error| StoreError::Url(error.to_string()))?;
    Ok(Parsed {
        url,
        prefix,
        ca_file,
    })
}

/// Makes a client from a URL; reads its CA file.
pub(super) fn read(url: &str) -> Result<Address, StoreError> {
    let parsed = parse(url)?;
    let unusable = |error: ::redis::RedisError| StoreError::Url(error.to_string());
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_user_timeout(USER_TIMEOUT);
    let info = parsed
        .url
        .into_connection_info()
        .map_err(unusable)?
        .set_tcp_settings(settings);
    let client = match parsed.ca_file {
        None => Client::open(info).map_err(unusable)?,
        Some(path) => {
            let pem = std::fs::read(&path)
                .map_err(|error| StoreError::Url(format!("{}: {error}", path.display())))?;
            let certificates = TlsCertificates {
                client_tls: None,
                root_cert: Some(pem),
            };
            Client::build_with_tls(info, certificates).map_err(unusable)?
        }
    };
    Ok(Address {
        client,
        prefix: parsed.prefix,
    })
}

/// Returns whether a character has no meaning in a pattern of key names.
fn allowed_in_prefix(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_.:".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> String {
        read(url).err().map(|error| error.to_string()).unwrap()
    }

    #[test]
    fn keys_start_with_the_prefix_of_the_url() {
        assert_eq!(read("redis://127.0.0.1/2").unwrap().prefix, "portico:");
        let other = read("redis://127.0.0.1/2?prefix=blue:").unwrap();
        assert_eq!(other.prefix, "blue:");
        assert_eq!(other.client.get_connection_info().redis_settings().db(), 2);
        assert!(refused("redis://127.0.0.1/0?prefix=*").contains("prefix"));
    }

    #[test]
    fn an_unknown_option_is_refused_without_the_password() {
        for url in [
            "redis://u:hunter2@127.0.0.1/0?perfix=x",
            "redis://u:hunter2@127.0.0.1/zero",
            "redis://u:hunter2@127.0.0.1/0?ca_file=/ca.pem",
            "rediss://u:hunter2@127.0.0.1/0?ca_file=/no/such/file",
            "redis://u:hunter2@/0",
        ] {
            let message = refused(url);
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}
