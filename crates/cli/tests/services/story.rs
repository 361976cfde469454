//! The story of a user of the command line: a cluster that answers, from its creation to what is left of
//! it. Its panel is `panel.rs`; the story in a browser is `end2end/tests/story-cluster-lifecycle.spec.ts`.
use crate::panel::Panel;
use crate::tenant::Tenant;
use portico_openstack::magnum::{Cluster, Status};
use portico_testkit::{CommandOutput, Person};
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until Magnum has a record, the gateway lists an enrolled cluster, or its API server accepts a
/// token: the gateway, kube-auth and the API server learn of it one after another.
const PATIENCE: Duration = Duration::from_secs(60);
/// The cloud of the `OS_*` variables.
const CLOUD: &str = "envvars";

async fn portico(person: &Person, words: &[&str]) -> CommandOutput {
    person.portico(words).await.unwrap()
}

/// Signs the member in, which pins the gateway and the clusters that it lists.
pub async fn log_in(tenant: &Tenant) -> CommandOutput {
    log_in_on(tenant, &tenant.person).await
}

/// Does the same on the machine of a user.
async fn log_in_on(tenant: &Tenant, person: &Person) -> CommandOutput {
    let url = tenant.env.get("PORTICO_URL").unwrap();
    let mut words = vec!["login", "--cloud", CLOUD, url];
    if let Some(file) = tenant.env.optional("PORTICO_CA_FILE") {
        words.extend(["--ca-file", file]);
    }
    let ran = portico(person, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran
}

/// Creates the cluster in one terminal, and watches it in another.
async fn create_and_watch(tenant: &Tenant, name: &str) -> (CommandOutput, CommandOutput) {
    let words = [
        "create",
        name,
        "-t",
        "kubernetes-local",
        "--keypair",
        "ops",
        "--workers",
        "1",
        "--wait",
        "--timeout",
        "120s",
    ];
    let watch = async {
        let recorded = async {
            while tenant.named(name).await.is_empty() {
                sleep(Duration::from_millis(100)).await;
            }
        };
        // a command that sends nothing ends by itself, and shows why
        let _ = timeout(PATIENCE, recorded).await;
        tenant.cluster(&["watch", name, "-o", "json"]).await
    };
    tokio::join!(tenant.cluster(&words), watch)
}

/// Signs a user in until the gateway lists the cluster, writes its entry, and runs kubectl until it is
/// served.
pub async fn namespaces(tenant: &Tenant, person: &Person, made: &Cluster) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ran = log_in_on(tenant, person).await;
        if ran.err.contains(&made.name) {
            break;
        }
        assert!(Instant::now() < deadline, "{}", ran.err);
        sleep(PAUSE).await;
    }
    let uuid = made.uuid.to_string();
    let words = ["kubeconfig", "--cloud", CLOUD, "--cluster", &uuid];
    let ran = portico(person, &words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let ran = get_namespaces(tenant, person, &made.name).await;
        if ran.code == 0 {
            return ran.out;
        }
        assert!(Instant::now() < deadline, "{}", ran.err);
        sleep(PAUSE).await;
    }
}

async fn get_namespaces(tenant: &Tenant, person: &Person, context: &str) -> CommandOutput {
    let kubectl = tenant.env.get("KUBECTL_CURRENT").unwrap();
    let words = ["--context", context, "get", "namespaces", "--output=name"];
    person.kubectl(kubectl, &words).await.unwrap()
}

#[tokio::test]
async fn story_a_cluster_is_created_watched_used_with_kubectl_and_deleted() {
    Tenant::run(|tenant| async move {
        // Magnum asks for `member`; in an enrolled cluster this one is bound
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let name = tenant.name("story");
        let ran = log_in(&tenant).await;
        assert!(ran.err.contains("No cluster is open"), "{}", ran.err);

        let (created, watched) = create_and_watch(&tenant, &name).await;
        assert_eq!(created.code, 0, "{}", created.err);
        assert_eq!(watched.code, 0, "{}", watched.err);
        let mut lines = watched.out.lines();
        let is_done = |line: &str| serde_json::from_str::<Value>(line).unwrap()["state"] == "done";
        assert!(lines.any(is_done), "{}", watched.out);
        let made = tenant.named(&name).await.remove(0);
        assert_eq!(made.status, Status::CreateComplete);

        // the command line does not enrol it, and names the page that does
        let page = format!(
            "/projects/{}/managed-clusters/{}",
            tenant.project, made.uuid
        );
        assert!(created.err.contains(&page), "{}", created.err);
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(made.uuid).await;
        let listed = namespaces(&tenant, &tenant.person, &made).await;
        assert!(listed.contains("namespace/kube-system"), "{listed}");

        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let nothing = "nothing of it was found in the project";
        assert!(ran.err.contains(nothing), "{}", ran.err);
        assert!(tenant.named(&name).await.is_empty());
        let ran = tenant.cluster(&["leftovers", &made.uuid.to_string()]).await;
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        let ran = get_namespaces(&tenant, &tenant.person, &name).await;
        assert_ne!(ran.code, 0, "{}", ran.out);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
