//! Checks of the store's server and URL: what works but should be changed by an operator.
use std::net::IpAddr;
use url::{Host, Url};

/// A setting that can lose sessions, slow them down or disclose them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Advice {
    /// Statements, tokens and the password may cross the network without TLS.
    #[error(
        "the connection to {host} may be without TLS: passwords and sessions cross the network in \
         the clear; {remedy}"
    )]
    PlainText { host: String, remedy: &'static str },
    /// Redis evicts keys when it runs out of memory.
    #[error(
        "Redis has maxmemory-policy {policy}: it would drop sessions when memory is short, which \
         signs users out; set noeviction"
    )]
    Evicts { policy: String },
    /// Redis has no append-only file.
    #[error(
        "Redis has no append-only file: all users are signed out when it restarts, and an ended \
         session may come back; set appendonly yes"
    )]
    NotPersistent,
    /// Redis failed to write its append-only file.
    #[error("Redis could not write its append-only file: look at its disk")]
    CannotPersist,
    /// The server is a replica.
    #[error("this Redis is a replica, which takes no writes: name the primary's address")]
    Replica,
}

const SSL_MODE: &str = "append `?sslmode=verify-full&sslrootcert=FILE` to store.url";

/// Returns the advice that follows from the database URL alone.
pub(crate) fn on_url(url: &str) -> Vec<Advice> {
    let Ok(url) = Url::parse(url) else {
        return Vec::new();
    };
    match url.scheme() {
        "postgres" | "postgresql" => on_postgres(&url),
        "redis" => {
            let host = url.host_str().unwrap_or_default();
            let clear = !host.is_empty() && !is_loopback(host);
            let advice = || Advice::PlainText {
                host: host.to_owned(),
                remedy: "use rediss:// in store.url",
            };
            clear.then(advice).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn on_postgres(url: &Url) -> Vec<Advice> {
    let option = |names: &[&str]| {
        url.query_pairs()
            .find(|(name, _)| names.contains(&name.as_ref()))
            .map(|(_, value)| value.into_owned())
    };
    let host = option(&["host", "hostaddr"])
        .or_else(|| url.host().map(|host| host.to_string()))
        .unwrap_or_default();
    let mode = option(&["sslmode", "ssl-mode"]).unwrap_or_else(|| "prefer".to_owned());
    let encrypted = ["require", "verify-ca", "verify-full"].contains(&mode.as_str());
    // a path means a Unix socket on this machine
    if encrypted || host.is_empty() || host.starts_with(['/', '%']) || is_loopback(&host) {
        return Vec::new();
    }
    vec![Advice::PlainText {
        host,
        remedy: SSL_MODE,
    }]
}

/// Returns whether a host name or address is a loopback one.
fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => match Host::parse(host) {
            Ok(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o4_doctor_finds_a_database_in_the_clear_on_another_machine() {
        for url in [
            "postgres://portico:secret@db.example/portico",
            "postgresql://portico@10.0.0.5:5432/portico?sslmode=prefer",
            "postgres://portico@db.example/portico?sslmode=disable",
        ] {
            let advice = on_url(url);
            assert!(matches!(advice[..], [Advice::PlainText { .. }]), "{url}");
            let text = advice[0].to_string();
            assert!(
                text.contains("sslmode=verify-full") && !text.contains("secret"),
                "{text}"
            );
        }
        let redis = on_url("redis://:secret@cache.example/0");
        assert!(matches!(redis[..], [Advice::PlainText { .. }]), "{redis:?}");
        for url in [
            "redis://localhost/0",
            "redis://127.0.0.1/0",
            "redis://[::1]/0",
            "rediss://cache.example/0",
            "postgres://portico@127.0.0.1/portico",
            "postgres://portico@localhost:5432/portico",
            "postgres://portico@[::1]/portico",
            "postgres:///portico?host=/run/postgresql",
            "postgres://portico@db.example/portico?sslmode=verify-full&sslrootcert=/ca.pem",
            "postgres://portico@db.example/portico?sslmode=require",
            "sqlite:///var/lib/portico/portico.db",
        ] {
            assert_eq!(on_url(url), [], "{url}");
        }
    }
}
