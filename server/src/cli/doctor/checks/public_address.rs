//! Checks the public address: it resolves, responds, and leads to this gateway.
use super::certificates::fault_of_leaf;
use super::listeners::{JWKS, Listener, own_key_id, publishes};
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::http;
use crate::config::Role;
use jiff::Timestamp;
use portico_transport::TransportFault;
use reqwest::Response;
use reqwest::tls::TlsInfo;
use rustls_pki_types::CertificateDer;
use std::time::Duration;
use url::{Host, Url};

const SUBJECT: &str = "public_url";
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// A name below the apps' domain that belongs to no app.
const ANY_APP: &str = "portico-doctor";

pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let wanted = context.has(Role::Gateway) || context.has(Role::Panel);
    let Some(url) = context.config.public_url().filter(|_| wanted) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    if resolves(url).await {
        findings.extend(answer(context, url).await);
    } else {
        let host = url.host_str().unwrap_or_default();
        findings.push(Finding::fault(Fault::PublicUrlUnresolved, SUBJECT, host));
    }
    if let Some(section) = context.gateway() {
        let apps = Url::parse(&format!("https://{ANY_APP}.{}", section.apps_domain));
        // browsers resolve localhost and all names below it themselves
        if let Ok(apps) = apps
            && !section.apps_domain.ends_with("localhost")
            && !resolves(&apps).await
        {
            let seen = format!("*.{}", section.apps_domain);
            findings.push(Finding::fault(
                Fault::AppsDomainUnresolved,
                "apps_domain",
                seen,
            ));
        }
    }
    findings
}

async fn resolves(url: &Url) -> bool {
    let Some(Host::Domain(name)) = url.host() else {
        return true;
    };
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    let port = url.port_or_known_default().unwrap_or(443);
    let lookup = tokio::net::lookup_host((name, port));
    match tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await {
        Ok(Ok(mut addresses)) => addresses.next().is_some(),
        _ => false,
    }
}

fn fault_of_certificate(response: &Response, url: &Url, now: Timestamp) -> Option<String> {
    let shown = response.extensions().get::<TlsInfo>()?.peer_certificate()?;
    fault_of_leaf(&CertificateDer::from(shown), url.host_str()?, now)
}

async fn answer(context: &Context, url: &Url) -> Option<Finding> {
    // only the gateway knows which key it publishes
    let section = context.gateway()?;
    let own = own_key_id(&section.assertion_key_file)?;
    let address = url.join(JWKS).ok()?;
    let client = http::client(None).ok()?;
    let (response, untrusted) = match client.get(address.clone()).send().await {
        Ok(response) => (response, false),
        Err(error) => match http::fault_of(&error) {
            Some(TransportFault::UnknownAuthority) => {
                let client = http::builder()
                    .danger_accept_invalid_certs(true)
                    .tls_info(true);
                let response = client.build().ok()?.get(address).send().await.ok()?;
                let now = context.clock.now();
                // an unknown authority hides other faults of the certificate
                if let Some(seen) = fault_of_certificate(&response, url, now) {
                    return Some(Finding::fault(Fault::PublicUrlCertificate, SUBJECT, seen));
                }
                (response, true)
            }
            Some(fault) if fault.is_certificate() => {
                let seen = fault.to_string();
                return Some(Finding::fault(Fault::PublicUrlCertificate, SUBJECT, seen));
            }
            fault => {
                let seen = format!("{url}: {}", http::text_of(error));
                let finding = Finding::fault(Fault::PublicUrlUnreachable, SUBJECT, seen);
                return Some(match fault {
                    Some(fault) if fault != TransportFault::Refused => {
                        finding.remedy(fault.next_step())
                    }
                    _ => finding,
                });
            }
        },
    };
    let status = response.status();
    Some(match publishes(response, &own).await {
        Listener::Own if untrusted => {
            Finding::fault(Fault::PublicUrlUntrusted, SUBJECT, url.as_str())
        }
        Listener::Own => Finding::ok(SUBJECT, format!("{url} leads to this gateway")),
        _ => {
            let seen = format!("{url}: HTTP {status}, without the key of this gateway");
            Finding::fault(Fault::PublicUrlForeign, SUBJECT, seen)
        }
    })
}
