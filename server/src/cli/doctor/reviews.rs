//! The way back: whether each API server asks kube-auth, and how long a revoked token still works.
use super::report::Report;
use crate::cli::{cluster, people};
use crate::config::Config;
use crate::service::authentication::KubeAuthMetrics;
use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PublicKey, cluster_token};
use portico_domain::cluster::ClusterRecord;
use portico_domain::panel::FiguresView;
use reqwest::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What is promised with our flag on the API server: 30 s, its 10 s and 10 s of its own.
const PROMISED: Duration = Duration::from_secs(50);
/// At the API server's default of two minutes.
const LONGEST: Duration = Duration::from_secs(200);
const POLL: Duration = Duration::from_millis(500);
const LOOK_FOR: Duration = Duration::from_secs(10);

/// Shows each API server a token of nobody's, and looks whether kube-auth was asked about it.
pub(super) async fn asked(config: &Config, report: &mut Report) {
    if config.clusters.is_empty() {
        return;
    }
    let configured = config.panel.as_ref();
    let url = configured
        .and_then(|panel| panel.kube_auth_metrics_url.clone())
        .or_else(|| config.kube_auth.as_ref().and(config.own_metrics_url()));
    let metrics = match KubeAuthMetrics::new(url) {
        Ok(metrics) => metrics,
        Err(error) => return report.fail("kube-auth", error.to_string(), "report this"),
    };
    for cluster in &config.clusters {
        let subject = format!("cluster {}", cluster.name);
        match try_one(cluster, &metrics).await {
            Ok(true) => report.ok(&subject, "its API server asks kube-auth about tokens"),
            Ok(false) => report.fail(
                &subject,
                "its API server does not ask kube-auth about tokens",
                "`portico kube-auth config --cluster ID` prints what it needs; it must reach kube_auth.listen",
            ),
            Err(error) => report.warn(
                &subject,
                format!("cannot say whether its API server asks kube-auth: {error:#}"),
                "start kube-auth, and set panel.kube_auth_metrics_url where it runs elsewhere",
            ),
        }
    }
}

async fn try_one(cluster: &ClusterRecord, metrics: &KubeAuthMetrics) -> anyhow::Result<bool> {
    let before = reviews(metrics, cluster.id).await?;
    let client = super::network::client_of(cluster)?;
    let nobody = SecretString::from(format!("doctor-{}", Uuid::new_v4()));
    let end = Timestamp::now() + SignedDuration::from_mins(5);
    known(&client, cluster, &seal(cluster, &nobody, end)?).await?;
    // the API server may answer before kube-auth has counted
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

fn seal(cluster: &ClusterRecord, token: &SecretString, end: Timestamp) -> anyhow::Result<String> {
    let key = PublicKey::read(&cluster.sealing_key_file)?;
    let sealed = cluster_token::seal(&key, cluster.id, token, end, Timestamp::now())?;
    Ok(sealed.token.expose_secret().to_owned())
}

/// Whether the API server knows whose token it is.
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

/// Signs in as `OS_*` say, revokes that token, and measures how long the API server still takes it.
pub(super) async fn measure(config: &Config, name: &str, report: &mut Report) {
    let subject = format!("revocation at {name}");
    match measured(config, name).await {
        Ok(took) if took <= PROMISED => report.ok(
            &subject,
            format!("a revoked token worked for {:.1} s", took.as_secs_f64()),
        ),
        Ok(took) => report.fail(
            &subject,
            format!(
                "a revoked token worked for {:.1} s, more than the {} s that are promised",
                took.as_secs_f64(),
                PROMISED.as_secs()
            ),
            "start the API server with --authentication-token-webhook-cache-ttl=10s",
        ),
        Err(error) => report.fail(
            &subject,
            format!("{error:#}"),
            "set OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and OS_PROJECT_ID of somebody whom the cluster accepts",
        ),
    }
}

async fn measured(config: &Config, name: &str) -> anyhow::Result<Duration> {
    let cluster = cluster::find(config, name)?;
    let keystone = config.keystone.as_ref().context("[keystone] is missing")?;
    let (keystone, issued) = people::sign_in_at(keystone).await?;
    let token = seal(cluster, &issued.token, issued.details.expires_at)?;
    let client = super::network::client_of(cluster)?;
    let result = async {
        let started = Instant::now();
        while !known(&client, cluster, &token).await? {
            if started.elapsed() > LOOK_FOR {
                bail!("the API server does not know the token that was just made");
            }
            tokio::time::sleep(POLL).await;
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
        if revoked.elapsed() > LONGEST {
            bail!("a revoked token still works after {} s", LONGEST.as_secs());
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(revoked.elapsed())
}
