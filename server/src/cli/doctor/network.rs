//! What must be reached: Keystone, each API server, our own listeners.
use super::report::Report;
use crate::cli::service_account;
use crate::config::{Config, Role};
use anyhow::Context as _;
use futures::future::join_all;
use portico_domain::cluster::ClusterRecord;
use portico_openstack::{KeystoneConfig, keystone};
use reqwest::redirect::Policy;
use std::time::Duration;
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn keystone(config: &Config, report: &mut Report) {
    let Some(section) = &config.keystone else {
        return;
    };
    let next = "check keystone.url and keystone.ca_file, and that this machine may reach it";
    let client = match keystone::Client::new(section) {
        Ok(client) => client,
        Err(error) => return report.fail("Keystone", error.to_string(), next),
    };
    match client.version().await {
        Ok(version) => report.ok(
            "Keystone",
            format!("{} answers ({})", section.url, version.id),
        ),
        Err(error) => return report.fail("Keystone", format!("{}: {error}", section.url), next),
    }
    service_account(section, client, report).await;
}

async fn service_account(section: &KeystoneConfig, client: keystone::Client, report: &mut Report) {
    let subject = "service account";
    let next = "check [keystone.service_account]: the name, the secret's file, and the scope";
    let account = match service_account::open(section, client) {
        Ok(None) => return,
        Ok(Some(account)) => account,
        Err(error) => return report.fail(subject, format!("{error:#}"), next),
    };
    match account.check().await {
        Ok(found) if found.is_admin() => report.fail(
            subject,
            format!("{} has the role admin", found.user.name),
            "give Portico a user with the role reader alone",
        ),
        Ok(found) => report.ok(subject, format!("{} can sign in", found.user.name)),
        Err(error) => report.fail(subject, error.to_string(), next),
    }
}

pub(super) async fn clusters(config: &Config, report: &mut Report) {
    let tries = config.clusters.iter().map(|cluster| async move {
        let tried = api_server(cluster).await;
        (cluster, tried)
    });
    for (cluster, tried) in join_all(tries).await {
        let subject = format!("cluster {}", cluster.name);
        match tried {
            Ok(said) => report.ok(&subject, format!("{} answers ({said})", cluster.api_url)),
            Err(error) => report.fail(
                &subject,
                format!("{}: {error:#}", cluster.api_url),
                "check clusters.api_url and clusters.ca_file, and that this machine may reach it",
            ),
        }
    }
}

/// A client that trusts the cluster's authority.
pub(super) fn client_of(cluster: &ClusterRecord) -> anyhow::Result<reqwest::Client> {
    let mut builder = reqwest::Client::builder()
        .timeout(PATIENCE)
        .redirect(Policy::none())
        .no_proxy();
    if let Some(path) = &cluster.ca_file {
        let pem = std::fs::read(path).with_context(|| path.display().to_string())?;
        builder = builder.tls_built_in_root_certs(false);
        for certificate in reqwest::Certificate::from_pem_bundle(&pem)? {
            builder = builder.add_root_certificate(certificate);
        }
    }
    Ok(builder.build()?)
}

async fn api_server(cluster: &ClusterRecord) -> anyhow::Result<String> {
    let url = format!("{}/version", cluster.api_url.trim_end_matches('/'));
    let answer = client_of(cluster)?
        .get(url)
        .send()
        .await
        .map_err(reqwest::Error::without_url)?;
    let status = answer.status();
    let body: serde_json::Value = answer.json().await.unwrap_or_default();
    // a server that shows its version to nobody still answers
    Ok(body["gitVersion"]
        .as_str()
        .map_or_else(|| format!("HTTP {}", status.as_u16()), str::to_owned))
}

/// Doctor also runs before the first start, so a closed port is worth a note only.
pub(super) async fn listeners(config: &Config, roles: &[Role], report: &mut Report) {
    for (key, address) in config.addresses(roles) {
        let name = key.trim_end_matches(".listen");
        match tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(_)) => report.ok(name, format!("something listens on {address}")),
            _ => report.warn(
                name,
                format!("nothing listens on {address}"),
                "start it, if it should run: `portico all`, or each role by itself",
            ),
        }
    }
}
