//! A project of one test's own in the stack's cloud, with a member who has the program.
use crate::service_proxy::{Rules, ServiceProxy};
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{AuthOutcome, Client, IssuedToken, Login, Scope, UserRef};
use portico_openstack::magnum::{self, Cluster, ClusterTemplate, NewCluster, Status};
use portico_openstack::rest::{Error, ErrorKind, RestClient, ScopedToken, Service, ServiceOptions};
use portico_testkit::{CommandOutput, KeystoneAdmin, Person, TestEnv, TestUser};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// The template of the simulated driver that can do everything.
pub const FULL: &str = "kubernetes-1.31";
/// The template of the simulated driver with the limits of the Cluster API drivers.
pub const CLUSTER_API: &str = "kubernetes-1.31-cluster-api";
/// The template of the simulated driver with the limits of the Heat drivers.
pub const HEAT: &str = "kubernetes-1.31-heat";
/// What a machine knows of the stack's drivers and of its Magnum.
pub const DRIVERS: [(&str, &str); 2] = [
    (
        "PORTICO_MAGNUM_DRIVERS",
        "k8s_sim_full=complete,k8s_sim_capi=capi_helm,k8s_sim_heat=heat",
    ),
    ("PORTICO_MAGNUM_RELEASE", "23"),
];
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time for what the simulated drivers do in some seconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The project. Its quotas are its own, so tests with clusters run at the same time.
pub struct Tenant {
    pub env: TestEnv,
    pub admin: KeystoneAdmin,
    /// The ID of the project.
    pub project: String,
    pub member: TestUser,
    /// The member's machine.
    pub person: Person,
    pub magnum: magnum::Client,
    /// The member's.
    pub token: ScopedToken,
    /// Further users, to delete in the end.
    users: Mutex<Vec<String>>,
}

impl Tenant {
    /// Runs a test in a project of its own. The project and its clusters are deleted afterwards, also
    /// if the test has failed.
    pub async fn run<T>(test: impl FnOnce(Arc<Self>) -> T)
    where
        T: Future<Output = ()> + 'static,
    {
        let tenant = Arc::new(Self::new().await);
        // a task of its own, so that a panic does not skip what follows
        let test = test(Arc::clone(&tenant));
        let tasks = LocalSet::new();
        let outcome = tasks.run_until(async { spawn_local(test).await }).await;
        tenant.remove().await;
        if let Err(error) = outcome {
            std::panic::resume_unwind(error.into_panic());
        }
    }

    async fn new() -> Self {
        portico_runtime::install_crypto_provider();
        let env = TestEnv::load().unwrap();
        let admin = KeystoneAdmin::sign_in(&env).await.unwrap();
        let project = admin.create_project("clusters").await.unwrap();
        let member = admin.create_user("member").await.unwrap();
        let role = admin.role_id("member").await.unwrap();
        admin.grant(&member.id, &project, &role).await.unwrap();
        let (token, _) = sign_in(&env, &member, &project).await;
        Self {
            person: person(&env, &member, &project),
            magnum: magnum_at(None),
            users: Mutex::default(),
            env,
            admin,
            project,
            member,
            token,
        }
    }

    /// Creates a user with a role in the project.
    pub async fn user(&self, role: &str) -> TestUser {
        self.user_in(&self.project, role).await
    }

    /// Creates a user with a role in a project.
    pub async fn user_in(&self, project: &str, role: &str) -> TestUser {
        let user = self.admin.create_user(role).await.unwrap();
        let role = self.admin.role_id(role).await.unwrap();
        self.admin.grant(&user.id, project, &role).await.unwrap();
        self.users.lock().unwrap().push(user.id.clone());
        user
    }

    /// Signs a user in to a project; returns the token and the names of its roles.
    pub async fn sign_in(&self, user: &TestUser, project: &str) -> (ScopedToken, Vec<String>) {
        sign_in(&self.env, user, project).await
    }

    /// Returns the token of an administrator in the project.
    pub async fn administrator(&self) -> ScopedToken {
        let user = self.user("admin").await;
        self.sign_in(&user, &self.project).await.0
    }

    /// Returns the machine of a user.
    pub fn person_of(&self, user: &TestUser) -> Person {
        person(&self.env, user, &self.project)
    }

    /// Returns another machine of the member, for which a proxy is Magnum.
    pub async fn through(&self, rules: Rules) -> (Person, ServiceProxy) {
        let (person, magnum, _) = self.through_both(rules, None).await;
        (person, magnum)
    }

    /// Does the same with a proxy that is Keystone, which ends after a number of requests. Returns both,
    /// Magnum's first.
    pub async fn through_both(
        &self,
        rules: Rules,
        keystone_ends_after: Option<usize>,
    ) -> (Person, ServiceProxy, ServiceProxy) {
        let magnum = root(self.env.get("MAGNUM_URL").unwrap());
        let proxy = ServiceProxy::start(&magnum, rules).await;
        let replaced = Rules {
            replaces: Some((magnum, proxy.url())),
            ends_after: keystone_ends_after,
            ..Rules::default()
        };
        let keystone = root(self.env.get("KEYSTONE_URL").unwrap());
        let keystone = ServiceProxy::start(&keystone, replaced).await;
        let mut person = self.person_of(&self.member);
        person.set("OS_AUTH_URL", &format!("{}/v3", keystone.url()));
        (person, proxy, keystone)
    }

    /// Returns a client for which a proxy is Magnum.
    pub async fn client_through(&self, rules: Rules) -> (magnum::Client, ServiceProxy) {
        let proxy = ServiceProxy::start(&root(self.env.get("MAGNUM_URL").unwrap()), rules).await;
        (magnum_at(Some(&proxy.url())), proxy)
    }

    /// Runs the member's `portico cluster`.
    pub async fn cluster(&self, words: &[&str]) -> CommandOutput {
        cluster(&self.person, words).await
    }

    /// Returns a name that no other test uses.
    pub fn name(&self, prefix: &str) -> String {
        format!("{prefix}-{}", &self.project[..8])
    }

    /// Returns a template by its name.
    pub async fn template(&self, name: &str) -> ClusterTemplate {
        let found = self.magnum.template_named(&self.token, name).await;
        found.unwrap()
    }

    /// Returns a cluster of 1 control plane node and 1 worker that takes one second, with these labels
    /// of the simulated driver.
    pub async fn new_cluster(
        &self,
        name: &str,
        template: &str,
        labels: &[(&str, &str)],
    ) -> NewCluster {
        let template = self.template(template).await;
        let labels = std::iter::once(&("sim_seconds", "1")).chain(labels);
        NewCluster {
            keypair: Some("ops".to_owned()),
            master_count: Some(1),
            node_count: Some(1),
            labels: labels
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            ..NewCluster::of_template(name, template.uuid)
        }
    }

    /// Creates a cluster with the client, and returns it as soon as Magnum has its record.
    pub async fn make(&self, name: &str, template: &str, labels: &[(&str, &str)]) -> Cluster {
        let new = self.new_cluster(name, template, labels).await;
        let created = self.magnum.create_cluster(&self.token, &new).await;
        self.until(created.unwrap(), |_| true).await
    }

    /// Does the same, and waits until it is complete.
    pub async fn make_complete(
        &self,
        name: &str,
        template: &str,
        labels: &[(&str, &str)],
    ) -> Cluster {
        let cluster = self.make(name, template, labels).await;
        let cluster = self.settled(cluster.uuid).await;
        assert_eq!(cluster.status, Status::CreateComplete, "{cluster:?}");
        cluster
    }

    /// Waits until no operation runs on a cluster.
    pub async fn settled(&self, uuid: Uuid) -> Cluster {
        self.until(uuid, |cluster| !cluster.status.is_in_progress())
            .await
    }

    /// Waits until an operation runs on a cluster.
    pub async fn busy(&self, uuid: Uuid) -> Cluster {
        self.until(uuid, |cluster| cluster.status.is_in_progress())
            .await
    }

    /// Reads a cluster until a condition holds. Its record can be missing or incomplete at first.
    async fn until(&self, uuid: Uuid, condition: impl Fn(&Cluster) -> bool) -> Cluster {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.magnum.cluster(&self.token, uuid).await;
            match found {
                Ok(cluster) if condition(&cluster) => return cluster,
                last => assert!(Instant::now() < deadline, "{last:?}"),
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns the clusters of the project with this name.
    pub async fn named(&self, name: &str) -> Vec<Cluster> {
        let listing = patiently(|| self.magnum.clusters(&self.token)).await;
        listing.filtered(|cluster| cluster.name == name).items
    }

    /// Deletes what a test has left. It reports and does not fail, so that a failed test stays visible.
    async fn remove(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut requested = BTreeSet::new();
        loop {
            // at the end of a deletion, Magnum can answer once with 400
            let listed = self.magnum.clusters(&self.token).await;
            let clusters = listed.map(|listing| listing.items);
            if clusters.as_ref().is_ok_and(Vec::is_empty) {
                break;
            }
            if Instant::now() > deadline {
                eprintln!("the project {} is not deleted: {clusters:?}", self.project);
                return;
            }
            for cluster in clusters.unwrap_or_default() {
                let has_failed = cluster.status == Status::DeleteFailed;
                if requested.insert(cluster.uuid) || has_failed {
                    // it may be gone by now
                    let _ = self.magnum.delete_cluster(&self.token, cluster.uuid).await;
                }
            }
            sleep(PAUSE).await;
        }
        let templates = self.magnum.templates(&self.token).await;
        for template in templates.map(|listing| listing.items).unwrap_or_default() {
            if template.project_id == self.project {
                let _ = self
                    .magnum
                    .delete_template(&self.token, template.uuid)
                    .await;
            }
        }
        let users = std::mem::take(&mut *self.users.lock().unwrap());
        for user in users.iter().chain([&self.member.id]) {
            let _ = self.admin.delete_user(user).await;
        }
        let _ = self.admin.delete_project(&self.project).await;
    }
}

/// Reads again while Magnum answers 400, as it does when a cluster's record has no node groups: at the
/// beginning and at the end of its life.
pub async fn patiently<T, F>(call: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, Error>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        match call().await {
            Ok(found) => return found,
            Err(error) => {
                let is_temporary = matches!(error.kind, ErrorKind::Invalid(_));
                assert!(is_temporary && Instant::now() < deadline, "{error}");
            }
        }
        sleep(PAUSE).await;
    }
}

/// Runs `portico cluster` on a user's machine.
pub async fn cluster(person: &Person, words: &[&str]) -> CommandOutput {
    let words: Vec<_> = ["cluster"].iter().chain(words).copied().collect();
    person.portico(&words).await.unwrap()
}

/// Returns the words of a creation that takes one second, from [`FULL`].
pub fn create<'a>(name: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "create",
        name,
        "-t",
        FULL,
        "--keypair",
        "ops",
        "--workers",
        "1",
        "--set",
        "sim_seconds=1",
    ];
    words.iter().chain(more).copied().collect()
}

/// Returns the words of a creation with a label, which waits.
pub fn slow<'a>(name: &'a str, label: &'a str) -> [&'a str; 11] {
    [
        "create",
        name,
        "-t",
        FULL,
        "--keypair",
        "ops",
        "--workers",
        "1",
        "--set",
        label,
        "--wait",
    ]
}

/// Returns what a command has printed with `-o json`.
pub fn json(ran: &CommandOutput) -> Value {
    let printed = serde_json::from_str(&ran.out);
    printed.unwrap_or_else(|error| panic!("{error}: {} {}", ran.out, ran.err))
}

/// Returns the address of a service without its version.
pub fn root(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let end = url.rfind("/v").unwrap_or(url.len());
    url[..end].to_owned()
}

fn magnum_at(url: Option<&str>) -> magnum::Client {
    let mut options = ServiceOptions::default();
    if let Some(url) = url {
        options
            .endpoints
            .insert(Service::Magnum, url.parse().unwrap());
    }
    magnum::Client::new(RestClient::new(options).unwrap())
}

fn person(env: &TestEnv, user: &TestUser, project: &str) -> Person {
    let mut person = Person::new().unwrap();
    for (name, value) in [
        ("OS_AUTH_URL", env.get("KEYSTONE_URL").unwrap()),
        ("OS_USERNAME", &user.name),
        ("OS_PASSWORD", user.password.expose_secret()),
        ("OS_USER_DOMAIN_NAME", "Default"),
        ("OS_PROJECT_ID", project),
    ] {
        person.set(name, value);
    }
    for (name, value) in DRIVERS {
        person.set(name, value);
    }
    person
}

async fn sign_in(env: &TestEnv, user: &TestUser, project: &str) -> (ScopedToken, Vec<String>) {
    let url = env.get("KEYSTONE_URL").unwrap().parse().unwrap();
    let keystone = Client::new(&KeystoneConfig::new(url), Clock::system()).unwrap();
    let login = Login::with_password(
        UserRef::Id(user.id.clone()),
        user.password.clone(),
        Scope::Project(project.to_owned()),
    );
    let issued: IssuedToken = match keystone.authenticate(&login).await.unwrap() {
        AuthOutcome::Token(issued) => *issued,
        AuthOutcome::ReceiptRequired { .. } => panic!("{} has no second factor", user.name),
    };
    let roles = issued.details.identity.roles.into_iter();
    let roles = roles.map(|role| role.name).collect();
    let token = ScopedToken::with_catalog(&keystone, issued.token, project).await;
    (token.unwrap(), roles)
}
