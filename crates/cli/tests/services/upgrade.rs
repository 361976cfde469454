//! Upgrades: targets, checks, approval, and the way out of a failed change.
use crate::creation::new_template;
use crate::gateway::signed_in;
use crate::panel::Panel;
use crate::service_proxy::Rules;
use crate::stand_in::StandIn;
use crate::story::log_in;
use crate::tenant::{FULL, HEAT, Tenant, cluster, json};
use portico_openstack::magnum::{Cluster, NewClusterTemplate, Resize, Status};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The template of the next minor version.
const NEXT: &str = "kubernetes-1.32";
/// Pause between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum time until the panel has observed a version, or an enrolled cluster accepts a token.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn case_34_a_minor_version_is_not_skipped() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("skips");
        tenant.make_complete(&name, FULL, &[]).await;
        let newer = tenant.name("newer");
        let mut template = NewClusterTemplate {
            name: Some(newer.clone()),
            ..new_template()
        };
        template
            .labels
            .insert("kube_tag".to_owned(), "v1.33.0".to_owned());
        let created = tenant
            .magnum
            .create_template(&tenant.token, &template)
            .await;
        created.unwrap();
        let (person, proxy) = tenant.through(Rules::default()).await;
        let ran = cluster(&person, &["upgrade", &name, "--to", "v1.33"]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        let text = "Kubernetes moves up one minor version at a time";
        assert!(ran.out.contains(text), "{}", ran.out);
        let words = ["upgrade", &name, "--to", &newer, "--approve"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        let ran = cluster(&person, &["versions", &name, "-o", "json"]).await;
        let versions = json(&ran);
        let targets = versions["templates"].as_array().unwrap();
        let refusal = |template: &str| {
            let mut targets = targets.iter();
            let found = targets.find(|target| target["template"] == template);
            found.unwrap()["refusal"].clone()
        };
        assert!(refusal(NEXT).is_null(), "{targets:?}");
        assert!(refusal(&newer).is_string(), "{targets:?}");
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_36_a_driver_without_upgrades_is_not_asked() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("heat");
        tenant.make_complete(&name, HEAT, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let words = ["upgrade", &name, "--to", NEXT, "--approve"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        assert!(ran.err.contains("Create a new cluster"), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn case_35_a_failed_change_is_settled_before_the_upgrade() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("settle");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let stand_in = StandIn::of(&tenant);
        let used = stand_in.used("instances").await;
        stand_in.set_quota(&tenant, "instances", used).await;
        // the program would refuse it
        let resize = Resize {
            node_count: 3,
            nodes_to_remove: Vec::new(),
            node_group: None,
        };
        let magnum = &tenant.magnum;
        let sent = magnum
            .resize_cluster(&tenant.token, made.uuid, &resize)
            .await;
        sent.unwrap();
        tenant.cluster(&["wait", &name, "--for", "nodes=3"]).await;
        assert_eq!(tenant.settled(made.uuid).await.status, Status::UpdateFailed);
        let words = ["upgrade", &name, "--to", NEXT, "--approve", "--wait"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert!(ran.err.contains("Settle the cluster first"), "{}", ran.err);
        stand_in.set_quota(&tenant, "instances", used + 10).await;
        let count = tenant.magnum.node_groups(&tenant.token, made.uuid).await;
        let count = count.unwrap().items;
        let count = count.iter().find(|group| group.name == "default-worker");
        let count = count.unwrap().node_count.to_string();
        let ran = tenant.cluster(&["resize", &name, &count, "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let words = ["wait", &name, "--for", "version=v1.32", "--timeout", "10s"];
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
    })
    .await;
}

/// Returns before and after of a field, as the journal of a cluster has it.
pub fn difference(events: &str, field: &str) -> Option<(String, String)> {
    let entries = events.lines();
    let mut found = entries.flat_map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        let differences = entry["content"]["differences"].as_array().cloned();
        differences.unwrap_or_default()
    });
    let found = found.find(|one| one["field"] == field && one["before"].is_string())?;
    let text = |side: &str| found[side].as_str().unwrap_or_default().to_owned();
    Some((text("before"), text("after")))
}

#[tokio::test]
async fn case_37_the_journal_has_both_versions_and_both_templates_of_an_upgrade() {
    Tenant::run(|tenant| async move {
        let mut panel = Panel::sign_in(&tenant).await;
        let person = signed_in(&tenant, &mut panel).await;
        let name = tenant.name("versions");
        let before = tenant.make_complete(&name, FULL, &[]).await;
        let version = |cluster: &Cluster| cluster.coe_version.clone().unwrap();
        // a page is open, so that the panel observes the cluster
        panel.progress(before.uuid).await;
        let words = ["upgrade", &name, "--to", NEXT, "--approve", "--wait"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let after = tenant.settled(before.uuid).await;
        assert_ne!(version(&before), version(&after));
        let deadline = Instant::now() + PATIENCE;
        let events = loop {
            panel.progress(before.uuid).await;
            let ran = cluster(&person, &["events", &name, "-o", "json"]).await;
            assert_eq!(ran.code, 0, "{}", ran.err);
            if difference(&ran.out, "Kubernetes version").is_some() {
                break ran.out;
            }
            assert!(Instant::now() < deadline, "{}", ran.out);
            sleep(PAUSE).await;
        };
        let versions = (version(&before), version(&after));
        assert_eq!(difference(&events, "Kubernetes version"), Some(versions));
        let templates = [&before, &after].map(|one| one.cluster_template_id.clone());
        let [old, new] = templates;
        assert_eq!(difference(&events, "Template"), Some((old, new)));
    })
    .await;
}

/// Runs kubectl with the certificate of the cluster's creator; returns what it has printed, or why it failed.
async fn kubectl(tenant: &Tenant, file: &str, words: &[&str]) -> Result<String, String> {
    let program = tenant.env.get("KUBECTL").unwrap();
    let mut command = tenant.person.command(Path::new(program));
    command.args(["--kubeconfig", file]).args(words);
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    }
}

const BUDGET: &str = r#"{"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget",
"metadata": {"name": "web", "namespace": "default"},
"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}"#;
const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod",
"metadata": {"name": "cache", "namespace": "default", "labels": {"app": "web"}},
"spec": {"automountServiceAccountToken": false, "containers": [{"name": "c", "image": "none"}],
"volumes": [{"name": "data", "emptyDir": {}}]}}"#;

/// Makes a pod with local data and a budget that permits no disruption of it, and requests an API that newer
/// versions do not have.
async fn fill(tenant: &Tenant, file: &str) {
    let write = |name: &str, text: &str| {
        let path = tenant.person.write(name, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let deadline = Instant::now() + PATIENCE;
    let pod = write("pod.json", POD);
    // the service account of the namespace is made first
    while let Err(error) = kubectl(tenant, file, &["create", "-f", &pod]).await {
        assert!(Instant::now() < deadline, "{error}");
        sleep(PAUSE).await;
    }
    let budget = write("budget.json", BUDGET);
    let made = kubectl(tenant, file, &["create", "-f", &budget]).await;
    made.unwrap();
    let words = ["get", "pdb", "web", "-o", "jsonpath={.status.expectedPods}"];
    while kubectl(tenant, file, &words).await.unwrap() != "1" {
        assert!(Instant::now() < deadline, "the budget is not counted");
        sleep(PAUSE).await;
    }
    let old = ["get", "--raw", "/apis/extensions/v1beta1/ingresses"];
    kubectl(tenant, file, &old).await.unwrap();
}

/// Plans an upgrade until the plan has a text, and returns it.
async fn planned(tenant: &Tenant, words: &[&str], wanted: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        log_in(tenant).await;
        let ran = tenant.cluster(words).await;
        if ran.out.contains(wanted) {
            return ran.out;
        }
        assert!(Instant::now() < deadline, "{} {}", ran.out, ran.err);
        sleep(PAUSE).await;
    }
}

/// Returns the nodes that the page of a cluster shows during an operation.
async fn nodes_of_page(panel: &mut Panel, made: &Cluster) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let progress = panel.progress(made.uuid).await;
        if progress["nodes"]["known"].is_object() {
            return progress["nodes"]["known"].clone();
        }
        assert!(Instant::now() < deadline, "{}", progress["nodes"]);
        sleep(PAUSE / 2).await;
    }
}

#[tokio::test]
async fn case_38_the_plan_names_what_holds_up_an_upgrade_inside_of_a_cluster_that_answers() {
    Tenant::run(|tenant| async move {
        // in an enrolled cluster this role is bound in each namespace
        let role = tenant.env.get("ROLE_ID_K8S_DEVELOPER").unwrap();
        let granted = tenant.admin.grant(&tenant.member.id, &tenant.project, role);
        granted.await.unwrap();
        let name = tenant.name("inside");
        let words = [
            "create",
            &name,
            "-t",
            "kubernetes-local",
            "--keypair",
            "ops",
        ];
        let more = [
            "--workers",
            "1",
            "--wait",
            "--timeout",
            "120s",
            "--set",
            "sim_seconds=15",
        ];
        let words: Vec<_> = words.iter().chain(&more).copied().collect();
        let ran = tenant.cluster(&words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let made = tenant.named(&name).await.remove(0);
        let plan = ["upgrade", &name, "--to", NEXT, "--plan"];
        // without access to the cluster, that is the reason
        let ran = tenant.cluster(&plan).await;
        assert!(
            ran.out.contains("Disruption budgets: Not checked: "),
            "{}",
            ran.out
        );
        let place = tenant.person.write("place", "").unwrap();
        let path = place.with_file_name("admin.kubeconfig");
        let file = path.to_str().unwrap();
        let words = ["kubeconfig", &name, "--certificate", "--out", file, "--yes"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        fill(&tenant, file).await;

        log_in(&tenant).await;
        let mut panel = Panel::sign_in(&tenant).await;
        panel.enrol(made.uuid).await;
        let out = planned(&tenant, &plan, "default/web").await;
        assert!(out.contains("Removed APIs: Not checked: "), "{out}");
        // the metrics of an API server need more
        let group = format!("--group=portico:user:{}", tenant.member.id);
        let bind = [
            "create",
            "clusterrolebinding",
            "member",
            "--clusterrole=cluster-admin",
        ];
        let bind: Vec<_> = bind.into_iter().chain([group.as_str()]).collect();
        kubectl(&tenant, file, &bind).await.unwrap();
        let out = planned(&tenant, &plan, "(removed in v1.22)").await;
        for text in [
            "The drain of nodes would wait for default/web",
            "Without a controller, so lost when their node is replaced: default/cache",
            "default/cache (emptyDir)",
            "extensions/v1beta1 ingresses (removed in v1.22)",
            "Nodes: All nodes are ready.",
            "Certificates: The certificates are valid for",
            "Backup: Not checked: Portico does not know of backups",
        ] {
            assert!(out.contains(text), "{text}: {out}");
        }
        // while it is resized, the command and the page read its nodes with the user's rights
        let words = ["resize", &name, "2", "--wait", "--timeout", "90s"];
        let stranger = tenant.user("member").await;
        let mut other = Panel::sign_in_as(&tenant, &stranger).await;
        let pages = async {
            let nodes = nodes_of_page(&mut panel, &made).await;
            // what is read with the rights of one user is not shown to one without them
            (nodes, other.progress(made.uuid).await)
        };
        let (ran, (nodes, of_other)) = tokio::join!(tenant.cluster(&words), pages);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("nodes are ready"), "{}", ran.err);
        assert_eq!(nodes["nodes"][0]["version"], "v1.20.2", "{nodes}");
        assert!(nodes["summary"].is_string(), "{nodes}");
        assert!(of_other["nodes"]["not_checked"].is_string(), "{of_other}");
        let words = ["delete", &name, "--yes", "--wait", "--timeout", "60s"];
        assert_eq!(tenant.cluster(&words).await.code, 0);
        assert!(panel.remove_record(made.uuid).await);
    })
    .await;
}
