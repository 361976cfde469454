//! A cluster that answers: etcd and API server of the stack's Kubernetes build, with Magnum's
//! certificates (`scripts/services/magnum/drivers/k8s_local`).
use crate::tenant::Tenant;
use portico_openstack::magnum::{Authority, Cluster, Status};
use std::path::Path;
use tokio::process::Command;

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
