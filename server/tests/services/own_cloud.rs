//! docs/guides/own-cloud.md, followed: its commands run as they are on the page, against the stack's Keystone and an API
//! server of the test's own. What a test must not do (install packages, talk to systemd, change other machines) is a
//! block marked `manual=NAME`; each of them is listed here, with what the test does in its place.
use portico_domain::identity::project_role_group;
use portico_testkit::{KeystoneAdmin, KubeApiServer, TestEnv, TestUser, program};
use secrecy::ExposeSecret as _;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Bounds the commands from `portico init` on.
const MAX_COMMANDS: usize = 12;
const MAX_DURATION: Duration = Duration::from_secs(600);

/// What is not run, and why.
const MANUAL: [(&str, &str); 13] = [
    ("packages", "installs packages"),
    (
        "build",
        "builds in release; the program of this build is used",
    ),
    (
        "roles",
        "needs python-openstackclient; the stack has the roles",
    ),
    (
        "cluster-ca",
        "copies from another machine; the test writes the file",
    ),
    (
        "systemd",
        "needs systemd; the test runs the unit's ExecStart",
    ),
    (
        "copy-webhook",
        "copies to another machine; the test uses the directory itself",
    ),
    (
        "kubeadm",
        "needs kubeadm; the test restarts its own API server with the flags",
    ),
    (
        "systemd-bootstrap",
        "needs systemd; the test runs the unit's ExecStart",
    ),
    ("openrc", "a user's file; the test sets its variables"),
    ("postgresql", "another machine's database"),
    (
        "second-cluster",
        "needs systemd; tests/program/init.rs adds a cluster",
    ),
    ("upgrade", "builds in release"),
    ("rollback", "needs systemd"),
];
/// Of these, what an operator types on the way from init to the first pods.
const MANUAL_COMMANDS: [&str; 4] = ["systemd", "copy-webhook", "kubeadm", "systemd-bootstrap"];

#[derive(Debug, PartialEq, Eq)]
enum Block {
    Run(String),
    Manual(String),
}

/// The page's shell blocks, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        if words.next() != Some("sh") {
            continue;
        }
        match words
            .next()
            .and_then(|word| word.split_once('=').or(Some((word, ""))))
        {
            Some(("run", "")) => found.push(Block::Run(text.join("\n"))),
            Some(("manual", name)) if !name.is_empty() => {
                found.push(Block::Manual(name.to_owned()));
            }
            other => panic!("a shell block is neither `run` nor `manual=NAME`: {other:?} {text:?}"),
        }
    }
    found
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/own-cloud.md");
    std::fs::read_to_string(path).unwrap()
}

/// The operator's and the tenant's machine in one directory.
struct Machine {
    home: TempDir,
    api: KubeApiServer,
    user: TestUser,
    replacements: Vec<(String, String)>,
    variables: BTreeMap<String, String>,
    admin_port: u16,
    services: Vec<Child>,
    transcript: String,
}

fn free_ports() -> [u16; 4] {
    let listeners = [(); 4].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

impl Machine {
    async fn new(env: &TestEnv, admin: &KeystoneAdmin) -> Self {
        let home = tempfile::tempdir().unwrap();
        let api = KubeApiServer::start(env, &[]).await.unwrap();
        a_pod_in(&api).await;
        let project = admin.create_project("own-cloud").await.unwrap();
        let user = admin.create_user("tenant").await.unwrap();
        let role = |name: &str| env.get(&format!("ROLE_ID_K8S_{name}")).unwrap().to_owned();
        admin
            .grant(&user.id, &project, &role("DEVELOPER"))
            .await
            .unwrap();
        let bin = home.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(program("portico").unwrap(), bin.join("portico")).unwrap();
        let kubectl = env.get("KUBECTL_CURRENT").unwrap();
        std::os::unix::fs::symlink(kubectl, bin.join("kubectl")).unwrap();
        let [gateway, panel, admin_port, kube_auth] = free_ports();
        let etc = home.path().join("etc/portico").display().to_string();
        let replacements = [
            (
                "portico init --yes",
                &*format!(
                    "portico init --yes --out {etc} --panel-listen 127.0.0.1:{panel} \
                     --admin-listen 127.0.0.1:{admin_port}"
                ),
            ),
            ("sudo -u portico ", ""),
            ("sudo ", ""),
            (" -g portico", ""),
            ("/etc/portico/clusters", &format!("{etc}/clusters")),
            (
                "https://keystone.example.org/v3",
                env.get("KEYSTONE_URL").unwrap(),
            ),
            (
                "https://portico.example.org:9443",
                &format!("https://localhost:{kube_auth}"),
            ),
            (
                "https://portico.example.org",
                &format!("https://localhost:{gateway}"),
            ),
            ("apps.portico.example.org", "apps.localhost"),
            ("https://10.0.0.10:6443", &api.url),
        ]
        .map(|(from, to)| (from.to_owned(), to.to_owned()))
        .to_vec();
        let state = home.path().join("state");
        std::fs::create_dir(&state).unwrap();
        // no page is opened here, and the build of the browser half may not have ended
        let site = home.path().join("site");
        std::fs::create_dir_all(site.join("pkg")).unwrap();
        for name in ["app.wasm", "app.js", "app.css"] {
            std::fs::write(site.join("pkg").join(name), "").unwrap();
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let store = format!("sqlite://{}/portico.db", state.display());
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", home.path().to_str().unwrap()),
            ("KUBECONFIG", api.admin_kubeconfig.to_str().unwrap()),
            ("PORTICO_CONFIG", &format!("{etc}/portico.toml")),
            ("PORTICO_INIT_STORE", &store),
            ("PORTICO_PANEL__SITE_ROOT", site.to_str().unwrap()),
            ("ADMIN_ROLE", &role("ADMIN")),
            ("DEVELOPER_ROLE", &role("DEVELOPER")),
            ("VIEWER_ROLE", &role("VIEWER")),
            ("PROJECT", &project),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        Self {
            home,
            api,
            user,
            replacements,
            variables,
            admin_port,
            services: Vec::new(),
            transcript: String::new(),
        }
    }

    fn etc(&self, name: &str) -> PathBuf {
        self.home.path().join("etc/portico").join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.etc(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs a block; it must succeed.
    async fn run(&mut self, text: &str) -> String {
        let mut command = text.to_owned();
        for (from, to) in &self.replacements {
            command = command.replace(from, to);
        }
        let started = Instant::now();
        let mut bash = self.command(Path::new("/bin/bash"));
        let output = bash
            .args(["-euo", "pipefail", "-c", &command])
            .output()
            .await
            .unwrap();
        let message = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let seconds = started.elapsed().as_secs_f32();
        let _ = write!(self.transcript, "$ {text}\n{message}# {seconds:.1} s\n\n");
        assert!(output.status.success(), "{}", self.report());
        message
    }

    /// What was typed and answered, and what the services have logged.
    fn report(&self) -> String {
        let mut report = self.transcript.clone();
        for entry in std::fs::read_dir(self.home.path().join("state")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "log") {
                report += &std::fs::read_to_string(path).unwrap();
            }
        }
        report
    }

    /// What the test does where it must not run a block.
    async fn instead_of(&mut self, name: &str) {
        let started = Instant::now();
        match name {
            "cluster-ca" => {
                std::fs::write(self.home.path().join("prod-ca.crt"), &self.api.ca_pem).unwrap();
            }
            "systemd" => {
                self.start_unit("portico.service");
                self.wait_until_ready().await;
            }
            "kubeadm" => self.restart_api_server().await,
            "systemd-bootstrap" => {
                self.start_unit("portico-bootstrap-prod.service");
                self.wait_until_bound().await;
            }
            "openrc" => self.become_the_tenant(),
            _ => {}
        }
        let (_, why) = MANUAL.iter().find(|(known, _)| *known == name).unwrap();
        let seconds = started.elapsed().as_secs_f32();
        let _ = write!(
            self.transcript,
            "# not run: {name}: {why} ({seconds:.1} s)\n\n"
        );
    }

    /// Runs what the unit would, with the program of this build and a state directory of the test's own.
    fn start_unit(&mut self, name: &str) {
        let unit = self.read(&format!("systemd/{name}")).replace("\\\n", " ");
        let line = unit
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="));
        let state = self.home.path().join("state");
        let line = line
            .unwrap()
            .replace("/var/lib/portico", state.to_str().unwrap());
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words[0].ends_with("/portico"), "{line}");
        let log = std::fs::File::create(state.join(format!("{name}.log"))).unwrap();
        let service = self
            .command(&program("portico").unwrap())
            .args(&words[1..])
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.services.push(service);
    }

    async fn wait_until_ready(&self) {
        let url = format!("http://127.0.0.1:{}/ready", self.admin_port);
        self.until("Portico is not ready", async || {
            let answer = reqwest::get(&url).await;
            answer.is_ok_and(|answer| answer.status().is_success())
        })
        .await;
    }

    /// Bound, and with rules: a controller fills the role from others, in its own time.
    async fn wait_until_bound(&self) {
        let role = &self.variables["DEVELOPER_ROLE"];
        let in_project = project_role_group(&self.variables["PROJECT"], role);
        let question = [
            "auth",
            "can-i",
            "list",
            "pods",
            "--namespace=default",
            "--as=a-tenant",
            &format!("--as-group={role}"),
            &format!("--as-group={in_project}"),
        ];
        self.until("developers have no rights in default", async || {
            self.api.kubectl(&question).await.is_ok()
        })
        .await;
    }

    async fn until(&self, failure: &str, mut done: impl AsyncFnMut() -> bool) {
        let started = Instant::now();
        while !done().await {
            let waited = started.elapsed() < Duration::from_secs(60);
            assert!(waited, "{failure}\n{}", self.report());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// With the flags that init wrote, and its files where they are.
    async fn restart_api_server(&mut self) {
        let directory = self.etc("clusters/prod/api-server").display().to_string();
        let flags: Vec<String> = self
            .read("clusters/prod/apiserver.flags")
            .lines()
            .map(|flag| flag.replace("/etc/kubernetes/portico", &directory))
            .collect();
        assert!(flags[0].contains(&directory), "{flags:?}");
        self.api.restart_with(&flags).await.unwrap();
        // only now: a controller whose API server went away may take a minute to look at it again
        let aggregation = ["clusterrole-aggregation"];
        self.api.start_controllers(&aggregation).unwrap();
    }

    fn become_the_tenant(&mut self) {
        let tenant = self.home.path().join("tenant");
        std::fs::create_dir(&tenant).unwrap();
        let ca = self.home.path().join("portico-ca.crt");
        std::fs::copy(self.etc("tls/ca.crt"), ca).unwrap();
        let keystone = self
            .replacements
            .iter()
            .find(|(from, _)| from.contains("keystone"));
        let keystone = keystone.unwrap().1.clone();
        let (name, password) = (self.user.name.clone(), self.user.password.clone());
        self.variables
            .retain(|name, _| matches!(name.as_str(), "PATH" | "PROJECT"));
        let project = self.variables.remove("PROJECT").unwrap();
        for (name, value) in [
            ("HOME", tenant.to_str().unwrap()),
            ("OS_AUTH_URL", &keystone),
            ("OS_USERNAME", &name),
            ("OS_PASSWORD", password.expose_secret()),
            ("OS_USER_DOMAIN_NAME", "Default"),
            ("OS_PROJECT_ID", &project),
        ] {
            self.set(name, value);
        }
    }
}

/// Something to see: nothing runs pods here, so it stays pending.
async fn a_pod_in(api: &KubeApiServer) {
    let account = [
        "create",
        "serviceaccount",
        "default",
        "--namespace",
        "default",
    ];
    api.kubectl(&account).await.unwrap();
    let pod = [
        "run",
        "hello",
        "--image=registry.example.org/hello:1",
        "--overrides={\"spec\":{\"automountServiceAccountToken\":false}}",
    ];
    api.kubectl(&pod).await.unwrap();
}

#[test]
fn own_cloud_every_shell_block_is_run_or_listed_with_a_reason() {
    let page = page();
    let mut named: Vec<String> = Vec::new();
    for block in blocks(&page) {
        if let Block::Manual(name) = block {
            assert!(MANUAL.iter().any(|(known, _)| *known == name), "{name}");
            named.push(name);
        }
    }
    for (name, _) in MANUAL {
        assert!(
            named.iter().any(|found| found == name),
            "{name} is not on the page"
        );
    }
}

#[tokio::test]
async fn own_cloud_leads_from_init_to_a_tenants_pods() {
    let env = TestEnv::load().unwrap();
    let admin = KeystoneAdmin::sign_in(&env).await.unwrap();
    let mut machine = Machine::new(&env, &admin).await;
    let page = page();
    let blocks = blocks(&page);
    let begin = blocks
        .iter()
        .position(|block| matches!(block, Block::Run(text) if text.contains("portico init")));
    let begin = begin.expect("portico init");
    let end = blocks
        .iter()
        .position(|block| matches!(block, Block::Run(text) if text.contains("get pods")));
    let end = end.expect("kubectl get pods");
    for (from, _) in &machine.replacements {
        let occurs = |block: &Block| matches!(block, Block::Run(text) if text.contains(from));
        assert!(blocks.iter().any(occurs), "the page does not say {from:?}");
    }
    let started = Instant::now();
    let (mut commands, mut message) = (0, String::new());
    for (index, block) in blocks[..=end].iter().enumerate() {
        match block {
            Block::Run(text) => {
                commands += 1;
                message = machine.run(text).await;
                if text.contains("portico doctor") {
                    assert!(!message.contains("FAIL"), "{message}");
                }
            }
            Block::Manual(name) => {
                let typed = index > begin && MANUAL_COMMANDS.contains(&name.as_str());
                commands += usize::from(typed);
                machine.instead_of(name).await;
            }
        }
    }
    assert!(message.contains("hello"), "{}", machine.report());
    let took = started.elapsed();
    let _ = writeln!(
        machine.transcript,
        "# {commands} commands from `portico init` to `kubectl get pods`, {:.1} s",
        took.as_secs_f32()
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-cloud-transcript.txt");
    std::fs::write(file, &machine.transcript).unwrap();
    assert!(commands <= MAX_COMMANDS, "{commands} commands");
    assert!(took < MAX_DURATION, "{took:?}");
    admin.delete_user(&machine.user.id).await.unwrap();
}
