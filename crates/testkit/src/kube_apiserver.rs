//! A Kubernetes API server of a test's own, to test its flags.
use crate::{Cluster, TestEnv};
use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use uuid::Uuid;

const START_TIMEOUT: Duration = Duration::from_secs(90);

/// etcd and kube-apiserver in a temporary folder; they end with the value.
#[derive(Debug)]
pub struct KubeApiServer {
    pub url: String,
    pub ca_pem: String,
    /// An account in the group `system:masters`, by certificate: it works whatever the webhooks do.
    pub admin_kubeconfig: PathBuf,
    kubectl: PathBuf,
    dir: TempDir,
    /// etcd, the API server, and the controllers where they were started.
    processes: Vec<Child>,
    programs: PathBuf,
    /// The API server's own.
    arguments: Vec<String>,
}

impl KubeApiServer {
    /// Starts both and waits until the API server is ready. `flags` are added to the API server's
    /// own; `--authorization-mode=RBAC` unless they name another.
    ///
    /// # Errors
    /// If the stack has no Kubernetes programs, or they do not start.
    pub async fn start(env: &TestEnv, flags: &[String]) -> Result<Self> {
        let kubectl = PathBuf::from(env.get("KUBECTL")?);
        let programs = kubectl.parent().context("KUBECTL has no folder")?;
        let dir = tempfile::tempdir()?;
        let ca_pem = certificates(dir.path())?;
        let [etcd_port, peer_port, port] = free_ports()?;
        let etcd_url = format!("http://127.0.0.1:{etcd_port}");
        let peer_url = format!("http://127.0.0.1:{peer_port}");
        let etcd = launch(
            dir.path(),
            &programs.join("etcd"),
            &[
                "--data-dir".to_owned(),
                dir.path().join("etcd").display().to_string(),
                format!("--listen-client-urls={etcd_url}"),
                format!("--advertise-client-urls={etcd_url}"),
                format!("--listen-peer-urls={peer_url}"),
                format!("--initial-advertise-peer-urls={peer_url}"),
                format!("--initial-cluster=default={peer_url}"),
                "--unsafe-no-fsync".to_owned(),
                "--log-level=warn".to_owned(),
            ],
        )?;
        let file = |name: &str| dir.path().join(name).display().to_string();
        let arguments = vec![
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            "--endpoint-reconciler-type=none".to_owned(),
            format!("--secure-port={port}"),
            format!("--etcd-servers={etcd_url}"),
            format!("--tls-cert-file={}", file("server.crt")),
            format!("--tls-private-key-file={}", file("server.key")),
            format!("--client-ca-file={}", file("ca.crt")),
            "--service-cluster-ip-range=10.98.0.0/16".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", file("accounts.pub")),
            format!(
                "--service-account-signing-key-file={}",
                file("accounts.key")
            ),
        ];
        let server = launch(
            dir.path(),
            &programs.join("kube-apiserver"),
            &with_flags(&arguments, flags),
        )?;
        let url = format!("https://127.0.0.1:{port}");
        let admin_kubeconfig = dir.path().join("admin.kubeconfig");
        std::fs::write(&admin_kubeconfig, kubeconfig(&url, dir.path()))?;
        let mut started = Self {
            url,
            ca_pem,
            admin_kubeconfig,
            programs: programs.to_owned(),
            kubectl,
            dir,
            processes: vec![etcd, server],
            arguments,
        };
        started.wait_until_ready().await?;
        Ok(started)
    }

    /// Starts kube-controller-manager with these controllers, such as `clusterrole-aggregation`,
    /// without which a ClusterRole with an `aggregationRule` has no rules.
    ///
    /// # Errors
    /// If the stack has no such program.
    pub fn start_controllers(&mut self, controllers: &[&str]) -> Result<()> {
        let arguments = [
            format!("--kubeconfig={}", self.admin_kubeconfig.display()),
            format!("--controllers={}", controllers.join(",")),
            "--leader-elect=false".to_owned(),
            "--port=0".to_owned(),
            "--secure-port=0".to_owned(),
        ];
        let program = self.programs.join("kube-controller-manager");
        self.processes
            .push(launch(self.dir.path(), &program, &arguments)?);
        Ok(())
    }

    /// Starts the API server again, at the same address and on the same data, with other flags.
    ///
    /// # Errors
    /// If it does not come back.
    pub async fn restart_with(&mut self, flags: &[String]) -> Result<()> {
        self.processes[1].kill().await?;
        self.processes[1] = launch(
            self.dir.path(),
            &self.programs.join("kube-apiserver"),
            &with_flags(&self.arguments, flags),
        )?;
        self.wait_until_ready().await
    }

    /// Runs kubectl with the root certificate and returns its output.
    ///
    /// # Errors
    /// If it fails; the message holds its output.
    pub async fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(&self.kubectl)
            .arg("--kubeconfig")
            .arg(&self.admin_kubeconfig)
            .args(arguments)
            .output()
            .await?;
        if !output.status.success() {
            bail!(
                "kubectl: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns its API, as a cluster of Portico's.
    ///
    /// # Errors
    /// Never with the certificates made here.
    pub fn cluster(&self, id: Uuid, sealing_key_file: &Path) -> Result<Cluster> {
        Cluster::at(&self.url, &self.ca_pem, id, sealing_key_file)
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while self.kubectl(&["get", "--raw", "/readyz"]).await.is_err() {
            for child in &mut self.processes {
                if let Some(status) = child.try_wait()? {
                    bail!("a program ended ({status}):\n{}", self.last_words());
                }
            }
            if started.elapsed() > START_TIMEOUT {
                bail!("the API server is not ready:\n{}", self.last_words());
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        Ok(())
    }

    /// Returns the end of the programs' output.
    fn last_words(&self) -> String {
        ["etcd", "kube-apiserver"]
            .map(|name| {
                let log = std::fs::read_to_string(self.dir.path().join(format!("{name}.log")));
                let log = log.unwrap_or_default();
                let lines: Vec<_> = log.lines().collect();
                lines[lines.len().saturating_sub(8)..].join("\n")
            })
            .join("\n")
    }
}

/// Adds `--authorization-mode=RBAC` unless the flags name another.
fn with_flags(arguments: &[String], flags: &[String]) -> Vec<String> {
    let names_mode = |flag: &String| flag.starts_with("--authorization-mode");
    let mode = (!flags.iter().any(names_mode)).then(|| "--authorization-mode=RBAC".to_owned());
    let all = arguments.iter().chain(&mode).chain(flags);
    all.cloned().collect()
}

fn launch(dir: &Path, program: &Path, arguments: &[String]) -> Result<Child> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let log = std::fs::File::create(dir.join(format!("{name}.log")))?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| program.display().to_string())
}

/// Returns ports that were free a moment ago; if another program takes one first, the start reports
/// it.
fn free_ports() -> Result<[u16; 3]> {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(listeners) {
        *port = listener?.local_addr()?.port();
    }
    Ok(ports)
}

/// Writes the files of server and administrator; returns the authority.
fn certificates(dir: &Path) -> Result<String> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = name("test-ca", None);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let issue = |subject, usage, names: &[&str]| -> Result<(String, String)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = subject;
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        Ok((certificate.pem(), key.serialize_pem()))
    };
    let names = ["localhost", "127.0.0.1", "kubernetes.default.svc"];
    let server = issue(
        name("kube-apiserver", None),
        ExtendedKeyUsagePurpose::ServerAuth,
        &names,
    )?;
    let admin = issue(
        name("test-admin", Some("system:masters")),
        ExtendedKeyUsagePurpose::ClientAuth,
        &[],
    )?;
    let accounts = KeyPair::generate()?;
    for (file, content) in [
        ("ca.crt", &authority.pem()),
        ("server.crt", &server.0),
        ("server.key", &server.1),
        ("admin.crt", &admin.0),
        ("admin.key", &admin.1),
        ("accounts.key", &accounts.serialize_pem()),
        ("accounts.pub", &accounts.public_key_pem()),
    ] {
        std::fs::write(dir.join(file), content)?;
    }
    Ok(authority.pem())
}

fn name(common: &str, organization: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    if let Some(organization) = organization {
        name.push(DnType::OrganizationName, organization);
    }
    name
}

fn kubeconfig(url: &str, dir: &Path) -> String {
    let file = |name: &str| dir.join(name).display().to_string();
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: test\n  \
         cluster: {{server: \"{url}\", certificate-authority: \"{}\"}}\n\
         users:\n- name: admin\n  \
         user: {{client-certificate: \"{}\", client-key: \"{}\"}}\n\
         contexts:\n- name: test\n  context: {{cluster: test, user: admin}}\n\
         current-context: test\n",
        file("ca.crt"),
        file("admin.crt"),
        file("admin.key"),
    )
}
