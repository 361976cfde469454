//! A project of the run's own in the real Keystone and the real Magnum, and its clusters.
use anyhow::{Context as _, Result, bail, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{AuthOutcome, Client, Login, Scope, UserRef};
use portico_openstack::magnum::{self, Cluster, NewCluster, Resize, Status};
use portico_openstack::rest::{RestClient, ScopedToken, ServiceOptions};
use portico_testkit::{KeystoneAdmin, TestEnv, TestUser};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;
use uuid::Uuid;

/// The template of the simulated driver that can do everything.
const TEMPLATE: &str = "kubernetes-1.31";
const KEYPAIR: &str = "ops";
/// Each creation makes certificates and a user, so that more at once take longer.
const MAX_CONCURRENT_REQUESTS: usize = 4;
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Pause between two looks while the end of an operation is waited for.
const END_INTERVAL: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum time until all clusters have ended, or are deleted.
const ALL_TIMEOUT: Duration = Duration::from_secs(900);

/// The project, a member who uses it, and an administrator who sets its quota.
pub struct Tenant {
    keystone: KeystoneAdmin,
    magnum: magnum::Client,
    pub project: String,
    pub member: TestUser,
    administrator: TestUser,
    token: ScopedToken,
    administrators_token: ScopedToken,
}

impl Tenant {
    /// Creates them, with room for a number of clusters.
    pub async fn create(env: &TestEnv, clusters: u32) -> Result<Self> {
        env.get("MAGNUM_URL")
            .context("the stack runs without Magnum: stop it, and start it again")?;
        let keystone = KeystoneAdmin::sign_in(env).await?;
        let project = keystone.create_project("bench").await?;
        let member = keystone.create_user("bench").await?;
        let administrator = keystone.create_user("bench").await?;
        for (user, role) in [(&member, "member"), (&administrator, "admin")] {
            let role = keystone.role_id(role).await?;
            keystone.grant(&user.id, &project, &role).await?;
        }
        let token = sign_in(env, &member, &project).await?;
        let administrators_token = sign_in(env, &administrator, &project).await?;
        let magnum = magnum::Client::new(RestClient::new(ServiceOptions::default())?);
        magnum
            .create_quota(&administrators_token, &project, clusters)
            .await?;
        Ok(Self {
            keystone,
            magnum,
            project,
            member,
            administrator,
            token,
            administrators_token,
        })
    }

    /// Creates a cluster of one control plane node and one worker, with labels of the simulated
    /// driver, and waits until Magnum has ended that.
    pub async fn make(&self, name: &str, labels: &[(&str, &str)]) -> Result<Cluster> {
        let uuid = self.request(name, labels).await?;
        self.until(uuid, |cluster| !cluster.status.is_in_progress())
            .await
    }

    async fn request(&self, name: &str, labels: &[(&str, &str)]) -> Result<Uuid> {
        let template = self.magnum.template_named(&self.token, TEMPLATE).await?;
        let new = NewCluster {
            keypair: Some(KEYPAIR.to_owned()),
            master_count: Some(1),
            node_count: Some(1),
            labels: labels
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..NewCluster::of_template(name, template.uuid)
        };
        Ok(self.magnum.create_cluster(&self.token, &new).await?)
    }

    /// Creates clusters that the driver does nothing for: their records exist in Magnum, and nothing
    /// else in the cloud.
    pub async fn fill(&self, count: u32) -> Result<()> {
        let labels = [("sim_raise", "create"), ("sim_seconds", "0")];
        let labels = &labels;
        let requests = (0..count).map(|number| async move {
            let name = format!("bench-{number:03}");
            self.request(&name, labels).await
        });
        let requests = stream::iter(requests).buffer_unordered(MAX_CONCURRENT_REQUESTS);
        let made: Vec<Uuid> = requests.try_collect().await?;
        let started = Instant::now();
        loop {
            // while a new cluster has no node groups, Magnum answers with 400
            let listed = self.magnum.clusters(&self.token).await;
            let clusters = listed.map_or_else(|_| Vec::new(), |listing| listing.items);
            let is_settled = |uuid: &Uuid| {
                let found = clusters.iter().find(|cluster| cluster.uuid == *uuid);
                found.is_some_and(|cluster| !cluster.status.is_in_progress())
            };
            if made.iter().all(is_settled) {
                return Ok(());
            }
            ensure!(
                started.elapsed() < ALL_TIMEOUT,
                "Magnum has not ended the creations"
            );
            sleep(POLL_INTERVAL).await;
        }
    }

    /// Requests another number of workers, and waits until Magnum works on it.
    pub async fn resize(&self, cluster: Uuid, node_count: u32) -> Result<()> {
        let resize = Resize {
            node_count,
            nodes_to_remove: Vec::new(),
            node_group: None,
        };
        self.magnum
            .resize_cluster(&self.token, cluster, &resize)
            .await?;
        let running = self.until(cluster, |cluster| cluster.status.is_in_progress());
        running.await.map(drop)
    }

    /// Waits until Magnum has ended the operation of a cluster. Returns the last moment at which it
    /// certainly had not, in milliseconds since 1970: when the last request was sent whose answer still
    /// had the operation.
    pub async fn end_of_operation(&self, cluster: Uuid) -> Result<f64> {
        let started = Instant::now();
        let mut last = now_ms()?;
        loop {
            let asked = now_ms()?;
            let found = self.magnum.cluster(&self.token, cluster).await?;
            if found.status.is_complete() {
                return Ok(last);
            }
            ensure!(found.status.is_in_progress(), "the operation has failed");
            ensure!(started.elapsed() < PATIENCE, "the operation does not end");
            last = asked;
            sleep(END_INTERVAL).await;
        }
    }

    /// Reads a cluster until a condition holds. Its record can be missing or incomplete at first.
    async fn until(&self, uuid: Uuid, condition: impl Fn(&Cluster) -> bool) -> Result<Cluster> {
        let started = Instant::now();
        loop {
            let found = self.magnum.cluster(&self.token, uuid).await;
            match found {
                Ok(cluster) if condition(&cluster) => return Ok(cluster),
                last if started.elapsed() > PATIENCE => bail!("waited in vain: {last:?}"),
                _ => sleep(END_INTERVAL).await,
            }
        }
    }

    /// Deletes the clusters, the quota, the users and the project.
    pub async fn remove(self) -> Result<()> {
        self.delete_clusters().await?;
        self.magnum
            .delete_quota(&self.administrators_token, &self.project)
            .await?;
        for user in [&self.member, &self.administrator] {
            self.keystone.delete_user(&user.id).await?;
        }
        self.keystone.delete_project(&self.project).await
    }

    async fn delete_clusters(&self) -> Result<()> {
        let started = Instant::now();
        loop {
            // at the end of a deletion, Magnum can answer once with 400
            let listed = self.magnum.clusters(&self.token).await;
            let left = listed.map(|listing| listing.items);
            if left.as_ref().is_ok_and(Vec::is_empty) {
                return Ok(());
            }
            ensure!(
                started.elapsed() < ALL_TIMEOUT,
                "the clusters of project {} are not deleted: {left:?}",
                self.project
            );
            let is_left = |cluster: &Cluster| cluster.status != Status::DeleteInProgress;
            let wanted = left.unwrap_or_default().into_iter().filter(is_left);
            let requests = wanted.map(|cluster| async move {
                // it may be gone by now
                let _ = self.magnum.delete_cluster(&self.token, cluster.uuid).await;
            });
            stream::iter(requests)
                .buffer_unordered(MAX_CONCURRENT_REQUESTS)
                .collect::<Vec<()>>()
                .await;
            sleep(POLL_INTERVAL).await;
        }
    }
}

fn now_ms() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3)
}

async fn sign_in(env: &TestEnv, user: &TestUser, project: &str) -> Result<ScopedToken> {
    let keystone = Client::new(
        &KeystoneConfig::new(env.get("KEYSTONE_URL")?.parse()?),
        Clock::system(),
    )?;
    let login = Login::with_password(
        UserRef::Id(user.id.clone()),
        user.password.clone(),
        Scope::Project(project.to_owned()),
    );
    match keystone.authenticate(&login).await? {
        AuthOutcome::Token(issued) => {
            Ok(ScopedToken::with_catalog(&keystone, issued.token, project).await?)
        }
        AuthOutcome::ReceiptRequired { .. } => bail!("{} needs a second factor", user.name),
    }
}
