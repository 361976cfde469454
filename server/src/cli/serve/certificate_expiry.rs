//! Metrics of the expiry of certificate files: measured at startup, every half minute, and at once
//! on SIGHUP.
//!
//! Files that the process itself reads only at startup (`keystone.ca_file` and the like) are
//! measured only then, so that a renewed file does not hide that the process still uses the old
//! one.
use self::Content::{Authorities, Chain};
use super::Context;
use crate::config::{Config, ConfigSchema, Role, TakesEffect};
use anyhow::Context as _;
use portico_runtime::metrics::CERTIFICATE_EXPIRY;
use portico_runtime::tls::certificates;
use secrecy::ExposeSecret as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;
use url::Url;
use x509_parser::prelude::{FromDer as _, X509Certificate};

const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// The content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A certificate with its chain: all must be valid.
    Chain,
    /// Authorities: one that expires after its successor was added is not a fault.
    Authorities,
}

/// A file with certificates.
#[derive(Debug, PartialEq, Eq)]
struct CertificateFile {
    /// The configuration key that names the file, as the metric's label.
    label: String,
    path: PathBuf,
    content: Content,
    /// Whether the process reads the file again when it changes.
    is_followed: bool,
}

pub(super) fn follow(context: &Context<'_>) -> anyhow::Result<()> {
    let mut files = files(context.config, context.roles);
    files.iter().for_each(measure);
    files.retain(|file| file.is_followed);
    if files.is_empty() {
        return Ok(());
    }
    let mut hangup = signal(SignalKind::hangup()).context("receive SIGHUP")?;
    context.lifecycle.spawn_background(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
                _ = hangup.recv() => {}
            }
            let looked = spawn_blocking(move || {
                files.iter().for_each(measure);
                files
            });
            let Ok(same) = looked.await else {
                tracing::error!("certificates are not measured any more: a task failed");
                return;
            };
            files = same;
        }
    });
    Ok(())
}

/// Measures a file. An unusable file is logged by its user; the last value stays.
fn measure(file: &CertificateFile) {
    if let Some(expiry) = expiry(&file.path, file.content) {
        metrics::gauge!(CERTIFICATE_EXPIRY, "certificate" => file.label.clone()).set(expiry as f64);
    }
}

/// Returns the expiry in seconds since 1970.
fn expiry(path: &Path, content: Content) -> Option<i64> {
    let pem = std::fs::read(path).ok()?;
    let all = certificates(path, &pem).ok()?;
    let ends = all.iter().filter_map(|certificate| {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        Some(certificate.validity().not_after.timestamp())
    });
    match content {
        Content::Chain => ends.min(),
        Content::Authorities => ends.max(),
    }
}

/// Returns the files that the roles use.
fn files(config: &Config, roles: &[Role]) -> Vec<CertificateFile> {
    let schema = ConfigSchema::new();
    let mut files = Vec::new();
    // a number in a key is the index of a list's item, which is shown by its name
    let mut add = |key: &str, item: &str, path: Option<&PathBuf>, content| {
        files.extend(path.map(|path| CertificateFile {
            label: key.replacen(".0.", &format!(".{item}."), 1),
            path: path.clone(),
            content,
            is_followed: schema.takes_effect(key) == TakesEffect::File,
        }));
    };
    let has = |role| roles.contains(&role);
    if let Some(gateway) = config.gateway.as_ref().filter(|_| has(Role::Gateway)) {
        add(
            "gateway.tls_cert_file",
            "",
            gateway.tls_cert_file.as_ref(),
            Chain,
        );
        for (index, pair) in gateway.tls_certificates.iter().enumerate() {
            let key = "gateway.tls_certificates.0.cert_file";
            add(key, &index.to_string(), Some(&pair.cert_file), Chain);
        }
        for provider in &gateway.providers {
            let file = provider.ca_file.as_ref();
            add(
                "gateway.providers.0.ca_file",
                &provider.id,
                file,
                Authorities,
            );
        }
        for app in &config.apps {
            let (id, upstream) = (&app.id, &app.upstream);
            add(
                "apps.0.upstream.ca_file",
                id,
                upstream.ca_file.as_ref(),
                Authorities,
            );
            let file = upstream.client_cert_file.as_ref();
            add("apps.0.upstream.client_cert_file", id, file, Chain);
        }
        for (option, path, content) in in_url(config) {
            add(&format!("store.url.{option}"), "", Some(&path), content);
        }
    }
    if let Some(kube_auth) = config.kube_auth.as_ref().filter(|_| has(Role::KubeAuth)) {
        add(
            "kube_auth.tls_cert_file",
            "",
            Some(&kube_auth.tls_cert_file),
            Chain,
        );
        add(
            "kube_auth.client_ca_file",
            "",
            Some(&kube_auth.client_ca_file),
            Authorities,
        );
    }
    if has(Role::Gateway) || has(Role::Panel) {
        for cluster in &config.clusters {
            // two projects may use the same name; an ID is unique
            let (id, file) = (cluster.id.to_string(), cluster.ca_file.as_ref());
            add("clusters.0.ca_file", &id, file, Authorities);
        }
    }
    let keystone = config.keystone.as_ref();
    let file = keystone.and_then(|keystone| keystone.ca_file.as_ref());
    add("keystone.ca_file", "", file, Authorities);
    let traces = &config.telemetry.traces;
    let file = traces
        .ca_file
        .as_ref()
        .filter(|_| traces.endpoint.is_some());
    add("telemetry.traces.ca_file", "", file, Authorities);
    files
}

/// Returns the options of `store.url` that name certificates.
fn in_url(config: &Config) -> Vec<(&'static str, PathBuf, Content)> {
    let url = config.store.as_ref().map(|store| store.url.expose_secret());
    let Some(url) = url.and_then(|url| Url::parse(url).ok()) else {
        return Vec::new();
    };
    let options = url.query_pairs().filter_map(|(name, value)| {
        let (name, content) = match name.as_ref() {
            "ca_file" => ("ca_file", Content::Authorities),
            "sslrootcert" => ("sslrootcert", Content::Authorities),
            "sslcert" => ("sslcert", Content::Chain),
            _ => return None,
        };
        Some((name, PathBuf::from(value.into_owned()), content))
    });
    options.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    fn until(year: i32) -> String {
        let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn finding_o16_a_chain_ends_with_its_first_certificate_and_authorities_with_their_last() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("both.crt");
        std::fs::write(&path, format!("{}{}", until(2031), until(2030))).unwrap();
        let year = |year| date_time_ymd(year, 1, 1).unix_timestamp();
        assert_eq!(expiry(&path, Content::Chain), Some(year(2030)));
        assert_eq!(expiry(&path, Content::Authorities), Some(year(2031)));
        std::fs::write(&path, "not a certificate").unwrap();
        assert_eq!(expiry(&path, Content::Chain), None);
        assert_eq!(expiry(&dir.path().join("missing"), Content::Chain), None);
    }

    #[test]
    fn finding_o16_the_certificates_of_a_role_are_named_by_their_keys() {
        let config: Config = toml::from_str(
            r#"
[store]
url = "postgres://portico@db/portico?sslmode=verify-full&sslrootcert=/db-ca.crt"
key_files = ["1.key"]
[keystone]
url = "https://keystone.example.org/v3"
ca_file = "/keystone-ca.crt"
[gateway]
public_url = "https://portico.example.org"
apps_domain = "apps.example.org"
assertion_key_file = "assertion.pem"
panel_url = "http://127.0.0.1:9190"
panel_sealing_key_file = "panel.pub"
tls_cert_file = "/gateway.crt"
tls_key_file = "/gateway.key"
tls_certificates = [{ cert_file = "/apps.crt", key_file = "/apps.key" }]
[kube_auth]
tls_cert_file = "/kube-auth.crt"
tls_key_file = "/kube-auth.key"
client_ca_file = "/clients-ca.crt"
key_files = ["k.key"]
[[apps]]
id = "grafana"
name = "Grafana"
project = "p1"
url = "https://127.0.0.1:3000"
upstream = { ca_file = "/apps-ca.crt" }
"#,
        )
        .unwrap();
        let named = |roles: &[Role], followed: bool| -> Vec<String> {
            let files = files(&config, roles);
            let of = files
                .into_iter()
                .filter(|file| file.is_followed == followed);
            of.map(|file| file.label).collect()
        };
        assert_eq!(
            named(&[Role::Gateway], true),
            [
                "gateway.tls_cert_file",
                "gateway.tls_certificates.0.cert_file",
                "apps.grafana.upstream.ca_file"
            ]
        );
        assert_eq!(
            named(&[Role::Gateway], false),
            ["store.url.sslrootcert", "keystone.ca_file"]
        );
        assert_eq!(
            named(&[Role::KubeAuth], true),
            ["kube_auth.tls_cert_file", "kube_auth.client_ca_file"]
        );
        assert_eq!(named(&[Role::Panel], false), ["keystone.ca_file"]);
    }
}
