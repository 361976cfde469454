//! An API server of the test's own in front of a webhook of the test's own: the flags, the
//! policy and the outages are the test's.
use crate::reviews::{CLUSTER, seal_until};
use crate::webhook_server::WebhookServer;
use crate::world::World;
use portico_domain::cluster::ClusterRecord;
use portico_kube_auth::{ReviewKind, WebhookConfig, webhook_kubeconfig};
use portico_openstack::keystone::IssuedToken;
use portico_test_support::webhook::{Webhook, cluster};
use portico_testkit::{Cluster, KubeApiServer};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub struct Lab {
    pub webhook: Webhook,
    /// Taken away to take kube-auth away.
    pub served: Option<WebhookServer>,
    pub api_server: KubeApiServer,
    /// The authorization policy, read again when it changes.
    pub policy_file: PathBuf,
    _dir: TempDir,
}

impl Lab {
    /// For the world's project. With a policy, RBAC is asked first and kube-auth next.
    pub async fn start(world: &World, policy: Option<&str>, flags: &[&str]) -> Self {
        Self::of(
            world,
            cluster(1, &world.project, &[]),
            policy,
            flags,
            Duration::from_secs(1),
        )
        .await
    }

    pub async fn of(
        world: &World,
        mut record: ClusterRecord,
        policy: Option<&str>,
        flags: &[&str],
        cache_ttl: Duration,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let policy_file = dir.path().join("policy");
        if let Some(policy) = policy {
            std::fs::write(&policy_file, policy).unwrap();
            record.authorization_policy_file = Some(policy_file.clone());
        }
        let url = world.env.get("KEYSTONE_URL").unwrap();
        let webhook = Webhook::new(vec![record.clone()], url, cache_ttl);
        let served = WebhookServer::open(&webhook).await;
        let (certificate, key) = served.authority.api_server(CLUSTER);
        let write = |name: &str, content: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let certificate = write("webhook.crt", &certificate);
        let key = write("webhook.key", &key);
        let authority = served.authority.pem();
        let url = format!("https://{}", served.address);
        // what `portico kube-auth config` prints
        let kubeconfig = |review, name: &str| {
            let config = WebhookConfig {
                review,
                url: &url,
                ca_pem: authority.as_bytes(),
                client_cert_file: certificate.to_str().unwrap(),
                client_key_file: key.to_str().unwrap(),
                config_file: name,
                cache_ttl: Duration::from_secs(10),
            };
            write(name, &webhook_kubeconfig(&record, &config))
                .display()
                .to_string()
        };
        let mut all = vec![
            format!(
                "--authentication-token-webhook-config-file={}",
                kubeconfig(ReviewKind::Authentication, "tokens.kubeconfig")
            ),
            "--authentication-token-webhook-version=v1".to_owned(),
        ];
        if policy.is_some() {
            all.extend([
                "--authorization-mode=RBAC,Webhook".to_owned(),
                format!(
                    "--authorization-webhook-config-file={}",
                    kubeconfig(ReviewKind::Authorization, "access.kubeconfig")
                ),
                "--authorization-webhook-version=v1".to_owned(),
                "--authorization-webhook-cache-authorized-ttl=1s".to_owned(),
                "--authorization-webhook-cache-unauthorized-ttl=1s".to_owned(),
            ]);
        }
        all.extend(flags.iter().map(|flag| (*flag).to_owned()));
        let api_server = KubeApiServer::start(&world.env, &all).await.unwrap();
        Self {
            webhook,
            served: Some(served),
            api_server,
            policy_file,
            _dir: dir,
        }
    }

    pub fn cluster(&self) -> Cluster {
        let unused = PathBuf::new();
        self.api_server.cluster(CLUSTER, &unused).unwrap()
    }

    pub fn token(&self, issued: &IssuedToken) -> String {
        let key = self.webhook.current.public();
        seal_until(key, CLUSTER, &issued.token, issued.details.expires_at)
    }
}

/// Waits until a question is answered so, by caches that end.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < Duration::from_secs(15), "{what}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
