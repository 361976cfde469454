//! Checks whether each API server asks kube-auth for reviews, and how long a revoked token still
//! works.
use crate::cli::cluster;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::doctor::http;
use crate::config::Config;
use crate::service::authentication::KubeAuthMetrics;
use anyhow::{Context as _, bail};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PublicKey, cluster_token};
use portico_clock::Clock;
use portico_domain::cluster::ClusterRecord;
use portico_domain::panel::FiguresView;
use portico_runtime::error_chain;
use reqwest::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// The documented bound with Portico's flag on the API server: 30 s for kube-auth's cache, 10 s for
/// the API server's, and 10 s more.
const REVOCATION_BOUND: Duration = Duration::from_secs(50);
/// Longer than with the API server's default of two minutes.
const REVOCATION_TIMEOUT: Duration = Duration::from_secs(200);
const POLL_INTERVAL: Duration = Duration::from_millis(500);
const FIRST_REVIEW_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_CONCURRENT_CLUSTERS: usize = 4;

/// Sends each API server a token that belongs to no user, and checks whether kube-auth was asked
/// about it.
pub(super) async fn asked(config: &Config, clock: &Clock) -> Vec<Finding> {
    let configured = config.panel.as_ref();
    let url = configured
        .and_then(|panel| panel.kube_auth_metrics_url.clone())
        .or_else(|| config.kube_auth.as_ref().and(config.own_metrics_url()));
    let metrics = match KubeAuthMetrics::new(url, clock.clone()) {
        Ok(metrics) => metrics,
        Err(error) => {
            let seen = error.to_string();
            return vec![Finding::fault(Fault::ClusterUnobserved, "kube-auth", seen)];
        }
    };
    // a closure is not general enough here for the boxed future of a check
    let mut tries: Vec<BoxFuture<'_, Finding>> = Vec::new();
    for cluster in &config.clusters {
        tries.push(is_asked(cluster, &metrics, clock).boxed());
    }
    futures::stream::iter(tries)
        .buffered(MAX_CONCURRENT_CLUSTERS)
        .collect()
        .await
}

async fn is_asked(cluster: &ClusterRecord, metrics: &KubeAuthMetrics, clock: &Clock) -> Finding {
    let subject = super::clusters::subject(cluster);
    match try_one(cluster, metrics, clock.now()).await {
        Ok(true) => Finding::ok(subject, "its API server asks kube-auth about tokens"),
        Ok(false) => {
            let seen = cluster.api_url.as_str();
            Finding::fault(Fault::ClusterNotAsking, subject, seen)
        }
        Err(error) => {
            let seen = error_chain(&*error);
            Finding::fault(Fault::ClusterUnobserved, subject, seen)
        }
    }
}

async fn try_one(
    cluster: &ClusterRecord,
    metrics: &KubeAuthMetrics,
    now: Timestamp,
) -> anyhow::Result<bool> {
    let before = reviews(metrics, cluster.id).await?;
    let client = http::client(cluster.ca_file.as_deref())?;
    let unknown = SecretString::from(format!("doctor-{}", Uuid::new_v4()));
    let end = now + SignedDuration::from_mins(5);
    known(&client, cluster, &seal(cluster, &unknown, end, now)?).await?;
    // the API server may respond before kube-auth has counted the review
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_secs(2) {
        if reviews(metrics, cluster.id).await? > before {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(false)
}

async fn reviews(metrics: &KubeAuthMetrics, cluster: Uuid) -> anyhow::Result<u64> {
    match metrics.now(cluster).await {
        FiguresView::Known(figures) => Ok(figures.since_start.total()),
        FiguresView::Unavailable(reason) => bail!(reason),
        FiguresView::NotConfigured => bail!("where kube-auth's metrics are is not known here"),
    }
}

fn seal(
    cluster: &ClusterRecord,
    token: &SecretString,
    end: Timestamp,
    now: Timestamp,
) -> anyhow::Result<String> {
    let key = PublicKey::read(&cluster.sealing_key_file)?;
    let sealed = cluster_token::seal(&key, cluster.id, token, end, now)?;
    Ok(sealed.token.expose_secret().to_owned())
}

/// Returns whether the API server identifies the token's user.
async fn known(
    client: &reqwest::Client,
    cluster: &ClusterRecord,
    token: &str,
) -> anyhow::Result<bool> {
    let url = format!("{}/api", cluster.api_url.trim_end_matches('/'));
    let answer = client.get(url).bearer_auth(token).send().await;
    let answer = answer.map_err(reqwest::Error::without_url)?;
    Ok(answer.status() != StatusCode::UNAUTHORIZED)
}

/// Signs in with the `OS_*` variables, revokes that token, and measures how long the API server
/// still accepts it.
pub(super) async fn measure(config: &Config, name: &str, clock: &Clock) -> Vec<Finding> {
    vec![finding(
        format!("revocation at {name}"),
        measured(config, name, clock).await,
    )]
}

fn finding(subject: String, took: anyhow::Result<Duration>) -> Finding {
    match took {
        Ok(took) if took <= REVOCATION_BOUND => Finding::ok(
            subject,
            format!("a revoked token worked for {:.1} s", took.as_secs_f64()),
        ),
        Ok(took) => {
            let seen = format!(
                "{:.1} s, more than the {} s that are promised",
                took.as_secs_f64(),
                REVOCATION_BOUND.as_secs()
            );
            Finding::fault(Fault::RevocationSlow, subject, seen)
        }
        Err(error) => Finding::fault(Fault::RevocationSlow, subject, error_chain(&*error)),
    }
}

async fn measured(config: &Config, name: &str, clock: &Clock) -> anyhow::Result<Duration> {
    let cluster = cluster::find(config, name)?;
    let keystone = config.keystone.as_ref().context("[keystone] is missing")?;
    let (keystone, issued) = portico_cli::sign_in_at(keystone, clock).await?;
    let end = issued.details.expires_at;
    let token = seal(cluster, &issued.token, end, clock.now())?;
    let client = http::client(cluster.ca_file.as_deref())?;
    let result = async {
        let started = Instant::now();
        while !known(&client, cluster, &token).await? {
            if started.elapsed() > FIRST_REVIEW_TIMEOUT {
                bail!("the API server does not know the token that was just made");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        anyhow::Ok(())
    };
    let usable = result.await;
    keystone
        .revoke(&issued.token)
        .await
        .context("revoke the token")?;
    usable?;
    let revoked = Instant::now();
    while known(&client, cluster, &token).await? {
        if revoked.elapsed() > REVOCATION_TIMEOUT {
            bail!(
                "a revoked token still works after {} s",
                REVOCATION_TIMEOUT.as_secs()
            );
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(revoked.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_finds_a_revoked_token_that_works_for_longer_than_promised() {
        let of = |took| finding("revocation at prod".to_owned(), took);
        let slow = of(Ok(REVOCATION_BOUND + Duration::from_millis(100)));
        assert_eq!(slow.fault, Some(Fault::RevocationSlow));
        assert_eq!(
            of(Err(anyhow::anyhow!("no token"))).fault,
            Some(Fault::RevocationSlow)
        );
        assert_eq!(of(Ok(REVOCATION_BOUND)).fault, None);
    }
}
