//! Checks the certificates of Portico's listeners and the CA files: validity, names, chain, key.
use super::keys::open_mode;
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use jiff::Timestamp;
use portico_runtime::tls::{TlsError, certificates, private_key};
use rustls::client::verify_server_name;
use rustls::crypto::ring::default_provider;
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{CertificateDer, ServerName};
use std::path::{Path, PathBuf};
use x509_parser::prelude::{FromDer as _, Validity, X509Certificate, X509Error};

const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Warns if less time is left; an automatically renewed certificate always has more.
const WARNING_SECONDS: i64 = 14 * DAY_SECONDS;

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    let now = context.clock.now().as_second();
    if let Some(files) = context.gateway().and_then(|section| section.tls_files()) {
        let subject = "gateway TLS";
        let mut leaves = chain(
            &mut findings,
            subject,
            &files.cert_file,
            &files.key_file,
            now,
        );
        for pair in &files.more {
            leaves.extend(chain(
                &mut findings,
                subject,
                &pair.cert_file,
                &pair.key_file,
                now,
            ));
        }
        if !leaves.is_empty() {
            findings.extend(missing_names(&leaves, &names(context)));
        }
    }
    if let Some(section) = context.kube_auth() {
        let subject = "kube-auth TLS";
        let (certificate, key) = (&section.tls_cert_file, &section.tls_key_file);
        chain(&mut findings, subject, certificate, key, now);
        authority(
            &mut findings,
            "kube-auth clients",
            &section.client_ca_file,
            now,
        );
    }
    for cluster in &context.config.clusters {
        if let Some(file) = &cluster.ca_file {
            authority(&mut findings, &super::clusters::subject(cluster), file, now);
        }
    }
    if let Some(file) = context.keystone().and_then(|one| one.ca_file.as_ref()) {
        authority(&mut findings, "Keystone", file, now);
    }
    for provider in context.gateway().iter().flat_map(|one| &one.providers) {
        if let Some(file) = &provider.ca_file {
            let subject = format!("provider {}", provider.id);
            authority(&mut findings, &subject, file, now);
        }
    }
    findings
}

/// Returns the hosts that browsers request from the gateway's listener.
fn names(context: &Context) -> Vec<String> {
    let Some(section) = context.gateway() else {
        return Vec::new();
    };
    let host = section.public_url.host_str().map(str::to_owned);
    let mut names: Vec<String> = host.into_iter().collect();
    for app in &context.config.apps {
        let url = app.origin(&section.public_url, &section.apps_domain);
        names.extend(url.host_str().map(str::to_owned));
    }
    names.sort();
    names.dedup();
    names
}

fn missing_names(leaves: &[CertificateDer<'_>], names: &[String]) -> Vec<Finding> {
    let covers = |name: &ServerName<'_>| {
        leaves.iter().any(|leaf| {
            ParsedCertificate::try_from(leaf)
                .is_ok_and(|leaf| verify_server_name(&leaf, name).is_ok())
        })
    };
    names
        .iter()
        .filter(|name| {
            let parsed = ServerName::try_from(name.trim_matches(['[', ']']).to_owned());
            !parsed.is_ok_and(|name| covers(&name))
        })
        .map(|name| Finding::fault(Fault::CertificateWrongName, "gateway TLS", name))
        .collect()
}

/// Checks a chain and its key; returns the leaf.
fn chain(
    findings: &mut Vec<Finding>,
    subject: &str,
    cert_file: &Path,
    key_file: &Path,
    now: i64,
) -> Vec<CertificateDer<'static>> {
    let before = findings.len();
    if let Some(mode) = open_mode(key_file) {
        let seen = format!("{} has mode {mode:04o}", key_file.display());
        findings.push(Finding::fault(Fault::KeyFilePermissions, subject, seen));
    }
    let read = || -> Result<_, TlsError> {
        let chain = certificates(cert_file, &contents(cert_file)?)?;
        let key = private_key(key_file, &contents(key_file)?)?;
        Ok((chain, key))
    };
    let (chain, key) = match read() {
        Ok(read) => read,
        Err(error) => {
            let seen = error.to_string();
            findings.push(Finding::fault(Fault::CertificateUnusable, subject, seen));
            return Vec::new();
        }
    };
    let name = cert_file.display().to_string();
    match CertifiedKey::from_der(chain.clone(), key, &default_provider()) {
        Ok(_) => {}
        Err(rustls::Error::InconsistentKeys(_)) => {
            let seen = format!("{} and {name}", key_file.display());
            findings.push(Finding::fault(Fault::CertificateKeyMismatch, subject, seen));
        }
        Err(error) => {
            let seen = format!("{name}: {error}");
            findings.push(Finding::fault(Fault::CertificateUnusable, subject, seen));
        }
    }
    validity(findings, subject, cert_file, &chain, now);
    links(findings, subject, cert_file, &chain);
    if findings.len() == before {
        findings.push(Finding::ok(subject, name));
    }
    chain.into_iter().take(1).collect()
}

/// Checks the authorities in a file.
fn authority(findings: &mut Vec<Finding>, subject: &str, file: &Path, now: i64) {
    let before = findings.len();
    match contents(file).and_then(|pem| certificates(file, &pem)) {
        Ok(all) => validity(findings, subject, file, &all, now),
        Err(error) => {
            let seen = error.to_string();
            findings.push(Finding::fault(Fault::CertificateUnusable, subject, seen));
        }
    }
    if findings.len() == before {
        findings.push(Finding::ok(subject, file.display().to_string()));
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable {
        path: PathBuf::from(path),
        source,
    })
}

fn validity(
    findings: &mut Vec<Finding>,
    subject: &str,
    file: &Path,
    all: &[CertificateDer<'_>],
    now: i64,
) {
    for certificate in all {
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else {
            let seen = format!("{}: not an X.509 certificate", file.display());
            findings.push(Finding::fault(Fault::CertificateUnusable, subject, seen));
            continue;
        };
        if let Some((fault, when)) = fault_of(certificate.validity(), now) {
            let seen = format!("{} ({}), {when}", file.display(), certificate.subject());
            findings.push(Finding::fault(fault, subject, seen));
        }
    }
}

fn fault_of(validity: &Validity, now: i64) -> Option<(Fault, String)> {
    let (start, end) = (
        validity.not_before.timestamp(),
        validity.not_after.timestamp(),
    );
    // short-lived ones are renewed late
    let soon = WARNING_SECONDS.min(end.saturating_sub(start) / 4);
    if now < start {
        let when = format!("from {} on", validity.not_before);
        Some((Fault::CertificateNotYetValid, when))
    } else if now >= end {
        let when = format!("on {}", validity.not_after);
        Some((Fault::CertificateExpired, when))
    } else if end - now < soon {
        let when = format!("on {}", validity.not_after);
        Some((Fault::CertificateExpiresSoon, when))
    } else {
        None
    }
}

/// Returns the fault of the certificate that a server presents for a host, apart from its
/// authority.
pub(super) fn fault_of_leaf(
    leaf: &CertificateDer<'_>,
    host: &str,
    now: Timestamp,
) -> Option<String> {
    let (_, parsed) = X509Certificate::from_der(leaf).ok()?;
    let in_time = fault_of(parsed.validity(), now.as_second());
    if let Some((fault, when)) =
        in_time.filter(|(fault, _)| *fault != Fault::CertificateExpiresSoon)
    {
        return Some(format!("{}, {when}", fault.cause()));
    }
    let wrong = !missing_names(std::slice::from_ref(leaf), &[host.to_owned()]).is_empty();
    wrong.then(|| format!("it is not for {host}"))
}

/// Checks whether each certificate is signed by the next one.
fn links(findings: &mut Vec<Finding>, subject: &str, file: &Path, chain: &[CertificateDer<'_>]) {
    for pair in chain.windows(2) {
        let [below, above] = pair else { continue };
        let (Ok((_, below)), Ok((_, above))) = (
            X509Certificate::from_der(below),
            X509Certificate::from_der(above),
        ) else {
            continue;
        };
        let verified = below.verify_signature(Some(above.public_key()));
        if matches!(verified, Err(X509Error::SignatureVerificationError)) {
            let seen = format!(
                "{}: {} is not signed by {}",
                file.display(),
                below.subject(),
                above.subject()
            );
            findings.push(Finding::fault(Fault::CertificateChainBroken, subject, seen));
        }
    }
}
