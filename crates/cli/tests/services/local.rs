//! A cluster that answers: etcd and API server of the stack's Kubernetes build, with Magnum's
//! certificates (`scripts/services/magnum/drivers/k8s_local`).
use crate::panel::Panel;
use crate::story::log_in;
use crate::tenant::{Tenant, cluster, json};
use portico_openstack::magnum::{Authority, Cluster, Status};
use portico_testkit::Person;
use serde_json::{Value, json as value};
use std::path::Path;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the gateway lists an enrolled cluster, or its API server accepts a token.
const PATIENCE: Duration = Duration::from_secs(60);

/// kubectl with the rights of an administrator.
pub struct Kubectl<'t> {
    tenant: &'t Tenant,
    kubeconfig: String,
}

impl<'t> Kubectl<'t> {
    /// Writes a kubeconfig with a certificate of a cluster's own authority.
    pub async fn administrator(tenant: &'t Tenant, name: &str) -> Self {
        let place = tenant.person.write("place", "").unwrap();
        let kubeconfig = place.with_file_name("admin.kubeconfig");
        let kubeconfig = kubeconfig.to_str().unwrap().to_owned();
        let words = ["kubeconfig", name, "--certificate", "--yes", "--out"];
        let words: Vec<_> = words.into_iter().chain([kubeconfig.as_str()]).collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        Self { tenant, kubeconfig }
    }

    pub async fn run(&self, arguments: &[&str]) -> String {
        let kubectl = self.tenant.env.get("KUBECTL").unwrap();
        let words: Vec<_> = ["--kubeconfig", &self.kubeconfig]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        run(self.tenant, kubectl, &words).await
    }

    /// Sends an object to a path.
    pub async fn send(&self, verb: &str, path: &str, object: &Value) -> Value {
        let file = self.tenant.person.write("object.json", &object.to_string());
        let file = file.unwrap().display().to_string();
        let printed = self.run(&[verb, "--raw", path, "-f", &file]).await;
        serde_json::from_str(&printed).unwrap()
    }

    /// Makes the pod `web` on a node, which is running by its status. Its owner exists, and creates no other pod.
    pub async fn make_pod(&self, node: &str) {
        let maps = "/api/v1/namespaces/default/configmaps";
        let map = value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}});
        let owner = self.send("create", maps, &map).await;
        let owner = value!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
                            "uid": owner["metadata"]["uid"], "controller": true});
        let pod = value!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web", "labels": {"app": "web"}, "ownerReferences": [owner]},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0,
                     "tolerations": [{"operator": "Exists"}],
                     "automountServiceAccountToken": false,
                     "containers": [{"name": "c", "image": "none"}]}});
        let pods = "/api/v1/namespaces/default/pods";
        let mut made = self.send("create", pods, &pod).await;
        made["status"] =
            value!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        let path = format!("{pods}/web/status");
        self.send("replace", &path, &made).await;
    }

    /// Gives every user the rights of an administrator.
    pub async fn permit_all(&self) {
        let words = [
            "create",
            "clusterrolebinding",
            "all-users",
            "--clusterrole=cluster-admin",
            "--group=system:authenticated",
        ];
        self.run(&words).await;
    }
}

/// Makes a cluster with one worker, enrols it, and signs the member in until the gateway lists it.
pub async fn enrolled(tenant: &Tenant, name: &str) -> (Cluster, Panel) {
    let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
    let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
    granted.await.unwrap();
    let words = ["create", name, "-t", "kubernetes-local", "--keypair", "ops"];
    let more = ["--workers", "1", "--wait", "--timeout", "120s"];
    let words: Vec<_> = words.iter().chain(&more).copied().collect();
    let ran = tenant.cluster(&words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = tenant.named(name).await.remove(0);
    log_in(tenant).await;
    let mut panel = Panel::sign_in(tenant).await;
    panel.enrol(made.uuid).await;
    let deadline = Instant::now() + PATIENCE;
    while !log_in(tenant).await.err.contains(name) {
        assert!(Instant::now() < deadline, "the cluster is not listed");
        sleep(PAUSE).await;
    }
    (made, panel)
}

/// Runs a program in the member's home directory, and returns what it has printed.
pub async fn run(tenant: &Tenant, program: &str, arguments: &[&str]) -> String {
    let mut command = tenant.person.command(Path::new(program));
    printed(command.args(arguments)).await
}

async fn printed(command: &mut Command) -> String {
    let output = command.output().await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes a key of a cluster's administrator, and returns the certificate request for it. The key is
/// `admin.key` in the member's home directory.
pub async fn certificate_request(tenant: &Tenant) -> String {
    let config = "[req]\ndistinguished_name=dn\n[dn]\n";
    tenant.person.write("openssl.cnf", config).unwrap();
    let arguments = [
        "req",
        "-config",
        "openssl.cnf",
        "-new",
        "-newkey",
        "rsa:2048",
        "-noenc",
        "-keyout",
        "admin.key",
        "-subj",
        "/O=system:masters/CN=admin",
    ];
    run(tenant, "openssl", &arguments).await
}

/// Lists the nodes of a cluster until Kubernetes reports about each of them.
pub async fn nodes_of_kubernetes(person: &Person, name: &str) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ran = cluster(person, &["nodes", "list", name, "-o", "json"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let nodes = json(&ran).as_array().unwrap().clone();
        let is_reported = |node: &Value| node["kubernetes_status"].is_string();
        if nodes.iter().all(is_reported) {
            return nodes;
        }
        assert!(Instant::now() < deadline, "{nodes:?} {}", ran.err);
        sleep(PAUSE).await;
    }
}

/// Has such a key signed, and writes `ca.crt` and `admin.crt` beside it.
async fn get_certificates(tenant: &Tenant, cluster: &Cluster) {
    let (magnum, token, person) = (&tenant.magnum, &tenant.token, &tenant.person);
    let authority = magnum.authority(token, cluster.uuid, Authority::Kubernetes);
    person.write("ca.crt", &authority.await.unwrap()).unwrap();
    let request = certificate_request(tenant).await;
    let signed = magnum.sign_certificate(token, cluster.uuid, &request, Authority::Kubernetes);
    person.write("admin.crt", &signed.await.unwrap()).unwrap();
}

#[tokio::test]
async fn case_60_a_local_cluster_is_made_used_and_deleted_without_a_trace() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("local");
        let template = "kubernetes-local";
        let words = ["create", &name, "-t", template, "--keypair", "ops"];
        let more = ["--workers", "1", "--wait", "--timeout", "120s"];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        assert_eq!(made.status, Status::CreateComplete);
        get_certificates(&tenant, &made).await;
        let kubectl = tenant.env.get("KUBECTL").unwrap();
        let server = made.api_address.as_deref().unwrap();
        let arguments = [
            "--kubeconfig=/dev/null",
            "--server",
            server,
            "--certificate-authority=ca.crt",
            "--client-certificate=admin.crt",
            "--client-key=admin.key",
            "get",
            "namespaces",
            "--output=name",
        ];
        let namespaces = run(&tenant, kubectl, &arguments).await;
        assert!(namespaces.contains("namespace/kube-system"), "{namespaces}");
        // the same with the file of the program, which has a certificate of its own
        let place = tenant.person.write("place", "").unwrap();
        let path = place.with_file_name("admin.kubeconfig");
        let file = path.to_str().unwrap();
        let words = ["kubeconfig", &name, "--certificate", "--out", file, "--yes"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let arguments = ["--kubeconfig", file, "get", "namespaces", "--output=name"];
        let namespaces = run(&tenant, kubectl, &arguments).await;
        assert!(namespaces.contains("namespace/kube-system"), "{namespaces}");
        let processes = tenant.env.state().join("run/local");
        let processes = processes.join(made.uuid.to_string());
        assert!(processes.exists(), "{}", processes.display());
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let read = tenant.magnum.cluster(&tenant.token, made.uuid).await;
        assert!(read.unwrap_err().is_not_found());
        assert!(!processes.exists(), "{}", processes.display());
    })
    .await;
}
