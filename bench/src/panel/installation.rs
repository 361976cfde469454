//! Portico in front of an API server of the run's own; and users of the real Keystone.
use super::fill::Admin;
use super::portico::{Build, KnownCluster, Portico, Prepared, VIEWER_ROLE};
use anyhow::Result;
use portico_testkit::{KeystoneAdmin, KubeApiServer, TestEnv, TestUser, project_root};
use tempfile::TempDir;
use uuid::Uuid;

/// The project that owns the stack's cluster with nodes.
pub const STACK_PROJECT: &str = "PROJECT_ID_ACME";
const CLUSTER: &str = "bench";
const ADMIN_TOKEN: &str = "bench-administrator";
/// Neither is of use without controllers: the first waits for service accounts, the second marks
/// each new node as not ready.
const WITHOUT_CONTROLLERS: &str =
    "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition";

/// A project of the run's own, and users who may see everything in its cluster.
pub struct People {
    keystone: KeystoneAdmin,
    pub project: String,
    pub users: Vec<TestUser>,
    /// A user who may see the workloads of the stack's cluster with nodes, and nothing else.
    pub log_reader: TestUser,
}

impl People {
    /// Creates them in the Keystone of the stack.
    pub async fn create(env: &TestEnv, count: usize) -> Result<Self> {
        let keystone = KeystoneAdmin::sign_in(env).await?;
        let project = keystone.create_project("bench").await?;
        let role = env.get(VIEWER_ROLE)?;
        let log_reader = keystone.create_user("bench").await?;
        let stack_project = env.get(STACK_PROJECT)?;
        keystone.grant(&log_reader.id, stack_project, role).await?;
        let mut people = Self {
            keystone,
            project,
            users: Vec::new(),
            log_reader,
        };
        for _ in 0..count {
            let user = people.keystone.create_user("bench").await?;
            people
                .keystone
                .grant(&user.id, &people.project, role)
                .await?;
            people.users.push(user);
        }
        Ok(people)
    }

    /// Deletes them.
    pub async fn delete(self) -> Result<()> {
        for user in self.users.iter().chain([&self.log_reader]) {
            self.keystone.delete_user(&user.id).await?;
        }
        self.keystone.delete_project(&self.project).await
    }
}

/// Everything behind the browser. It ends with the value.
pub struct Installation {
    pub portico: Portico,
    pub kubernetes: KubeApiServer,
    pub admin: Admin,
    pub cluster: Uuid,
    pub project: String,
    _dir: TempDir,
}

impl Installation {
    /// Starts etcd, the API server and Portico.
    pub async fn start(env: &TestEnv, build: &Build<'_>, people: &People) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let tokens = dir.path().join("tokens.csv");
        let group = "system:masters";
        std::fs::write(&tokens, format!("{ADMIN_TOKEN},bench,bench,{group}\n"))?;
        let mut flags = vec![
            format!("--token-auth-file={}", tokens.display()),
            WITHOUT_CONTROLLERS.to_owned(),
            "--event-ttl=24h".to_owned(),
            "--profiling=false".to_owned(),
        ];
        let mut kubernetes = KubeApiServer::start(env, &flags).await?;
        let cluster = Uuid::new_v4();
        let known = KnownCluster {
            name: CLUSTER,
            id: cluster,
            project: &people.project,
            api_url: &kubernetes.url,
            ca_pem: &kubernetes.ca_pem,
        };
        let prepared = Prepared::new(env, build, &known)?;
        flags.extend(prepared.webhook_flags()?);
        kubernetes.restart_with(&flags).await?;
        grant_rights(env, &kubernetes).await?;
        let sealing_key = prepared.sealing_key();
        let admin = Admin::new(kubernetes.cluster(cluster, &sealing_key)?, ADMIN_TOKEN);
        Ok(Self {
            portico: prepared.start().await?,
            kubernetes,
            admin,
            cluster,
            project: people.project.clone(),
            _dir: dir,
        })
    }

    /// Returns a path of the cluster's pages.
    pub fn path(&self, below: &str) -> String {
        format!(
            "/projects/{}/clusters/{}{below}",
            self.project, self.cluster
        )
    }

    /// Returns the number of watches of a resource that the API server serves, by its own metrics.
    pub async fn watches(&self, resource: &str) -> Result<usize> {
        let metrics = self
            .kubernetes
            .kubectl(&["get", "--raw", "/metrics"])
            .await?;
        Ok(sum(&metrics, |line| {
            // the name has changed in Kubernetes 1.23
            let names = [
                "apiserver_longrunning_gauge{",
                "apiserver_longrunning_requests{",
            ];
            names.iter().any(|name| line.starts_with(name))
                && line.contains(&format!("resource=\"{resource}\""))
                && line.contains("verb=\"WATCH\"")
        }))
    }

    /// Returns the number of shared watches that Portico has, by its own metrics.
    pub async fn shared_watches(&self) -> Result<usize> {
        let metrics = self.portico.metrics().await?;
        Ok(sum(&metrics, |line| {
            line.starts_with("portico_panel_shared_watches{kind=\"shared\"}")
        }))
    }
}

/// Adds the values of the chosen lines of metrics.
fn sum(metrics: &str, is_wanted: impl Fn(&str) -> bool) -> usize {
    let lines = metrics.lines().filter(|line| is_wanted(line));
    lines
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok())
        .sum()
}

/// Binds the roles for viewers in the whole cluster. The pre-defined roles are aggregated by a
/// controller; their parts are bound instead.
async fn grant_rights(env: &TestEnv, kubernetes: &KubeApiServer) -> Result<()> {
    let roles = project_root().join("scripts/seed/roles.yaml");
    kubernetes
        .kubectl(&["apply", "--filename", &roles.display().to_string()])
        .await?;
    let group = format!("--group={}", env.get(VIEWER_ROLE)?);
    for role in ["portico-view-workloads", "portico-cluster-reader"] {
        let role = format!("--clusterrole={role}");
        let name = role.replace("--clusterrole=", "bench-");
        kubernetes
            .kubectl(&["create", "clusterrolebinding", &name, &role, &group])
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn metrics_of_one_name_are_added() {
        let metrics = "# HELP a text 7\na{kind=\"x\"} 2\na{kind=\"y\"} 3\nb 4\n";
        assert_eq!(sum(metrics, |line| line.starts_with("a{")), 5);
        assert_eq!(sum(metrics, |line| line.starts_with("c{")), 0);
    }
}
