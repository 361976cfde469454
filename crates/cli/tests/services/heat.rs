//! Events of a real stack in Heat in the journal of a cluster, on its page and in `portico cluster events`. The
//! resources of the stack are Heat's test resources, with the names of those of Magnum's former Heat driver.
use crate::gateway::signed_in;
use crate::panel::Panel;
use crate::tenant::{HEAT, Tenant, cluster};
use portico_domain::panel::Health;
use portico_domain::panel::lifecycle::{JournalRow, JournalSource};
use reqwest::{Client, Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(300);
/// Maximum time of what a stack of test resources does.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stack of the tenant's project.
struct Stack<'a> {
    tenant: &'a Tenant,
    name: String,
    id: String,
}

impl<'a> Stack<'a> {
    /// Requests a stack with these resources.
    async fn create(tenant: &'a Tenant, name: String, resources: &Value) -> Self {
        let template = json!({"heat_template_version": "2018-08-31", "resources": resources});
        let body = json!({"stack_name": name, "template": template, "timeout_mins": 5,
            "disable_rollback": true});
        let (status, answer) = call(tenant, Method::POST, "stacks", Some(&body)).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        let id = answer["stack"]["id"].as_str().unwrap().to_owned();
        Self { tenant, name, id }
    }

    /// Calls Heat at a path below the stack.
    async fn call(&self, method: Method, below: &str, body: Option<&Value>) -> (StatusCode, Value) {
        let path = format!("stacks/{}/{}{below}", self.name, self.id);
        call(self.tenant, method, &path, body).await
    }

    /// Reads a path below the stack until a condition holds.
    async fn until(&self, below: &str, condition: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (status, answer) = self.call(Method::GET, below, None).await;
            if status.is_success() && condition(&answer) {
                return;
            }
            assert!(Instant::now() < deadline, "{status} {answer}");
            sleep(PAUSE).await;
        }
    }

    async fn until_status(&self, status: &str) {
        let has_status = |answer: &Value| answer["stack"]["stack_status"] == status;
        self.until("", has_status).await;
    }

    /// Reports to Heat that a deployment has succeeded, as the agent of a server does.
    async fn signal(&self, resource: &str) {
        let below = format!("/resources/{resource}");
        // before that, there is nothing that could be reported
        let is_made = |answer: &Value| {
            let id = answer["resource"]["physical_resource_id"].as_str();
            id.is_some_and(|id| !id.is_empty())
        };
        self.until(&below, is_made).await;
        let body = json!({"deploy_status_code": 0});
        let below = format!("{below}/signal");
        let (status, answer) = self.call(Method::POST, &below, Some(&body)).await;
        assert!(status.is_success(), "{status} {answer}");
    }

    /// Deletes it, and waits until it is gone.
    async fn delete(&self) {
        let (status, answer) = self.call(Method::DELETE, "", None).await;
        assert!(status.is_success(), "{status} {answer}");
        self.until_status("DELETE_COMPLETE").await;
    }
}

async fn call(
    tenant: &Tenant,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> (StatusCode, Value) {
    let root = tenant.env.get("HEAT_URL").unwrap();
    let mut request = Client::new()
        .request(method, format!("{root}/v1/{}/{path}", tenant.project))
        .header("x-auth-token", tenant.token.token.expose_secret());
    if let Some(body) = body {
        request = request.json(body);
    }
    let response = request.send().await.unwrap();
    let status = response.status();
    (status, response.json().await.unwrap_or(Value::Null))
}

/// Returns a group of one test resource, which is a stack in the stack, after another resource.
fn group(after: &str, properties: &Value) -> Value {
    let one = json!({"type": "OS::Heat::TestResource", "properties": properties});
    json!({"type": "OS::Heat::ResourceGroup", "depends_on": [after],
        "properties": {"count": 1, "resource_def": one}})
}

/// Returns the events of Heat on the page of a journal, the newest first.
async fn rows(panel: &mut Panel, cluster: Uuid) -> Vec<JournalRow> {
    let journal = panel.journal(cluster).await;
    assert_eq!(journal.changed, None);
    assert!(journal.gaps.is_empty(), "{:?}", journal.gaps);
    let rows = journal.rows.into_iter();
    rows.filter(|row| row.source == JournalSource::Heat)
        .collect()
}

/// Returns the value of a line such as `Resource: <ID>`.
fn line<'r>(row: &'r JournalRow, name: &str) -> &'r str {
    let mut lines = row.lines.iter();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_default()
}

/// The audit trail of a cluster in the documentation of a cloud: resource, status and reason, the newest
/// first. The names of the stack and of the deployment are in braces.
const AUDIT_TRAIL: [[&str; 3]; 6] = [
    [
        "Stack {stack}",
        "Create complete",
        "Stack CREATE completed successfully",
    ],
    ["kube_minions", "Create complete", "state changed"],
    ["kube_cluster_deploy", "Create complete", "state changed"],
    [
        "kube_cluster_deploy",
        "Signal in progress",
        "Signal: deployment {deployment} succeeded",
    ],
    [
        "api_address_floating_switch",
        "Create complete",
        "state changed",
    ],
    [
        "api_address_floating_switch",
        "Create in progress",
        "state changed",
    ],
];

#[tokio::test]
async fn the_audit_trail_of_a_stack_is_in_the_journal_and_outlives_the_stack() {
    Tenant::run(|tenant| async move {
        let test = json!({"type": "OS::Heat::TestResource"});
        let config = json!({"type": "OS::Heat::SoftwareConfig", "properties": {"group": "script",
            "config": "#!/bin/sh\n"}});
        let deploy = json!({"type": "OS::Heat::SoftwareDeployment",
            "depends_on": ["api_address_floating_switch"],
            "properties": {"config": {"get_resource": "kube_cluster_config"}, "server": Uuid::new_v4(),
                "signal_transport": "HEAT_SIGNAL", "actions": ["CREATE"]}});
        let resources = json!({
            "network": test,
            "kube_masters": group("network", &json!({})),
            "api_address_floating_switch": group("kube_masters", &json!({})),
            "kube_cluster_config": config,
            "kube_cluster_deploy": deploy,
            "kube_minions": group("kube_cluster_deploy", &json!({})),
        });
        let stack = Stack::create(&tenant, tenant.name("k8s-cluster"), &resources).await;
        stack.signal("kube_cluster_deploy").await;
        stack.until_status("CREATE_COMPLETE").await;
        let name = tenant.name("trail");
        let label = ("sim_stack", stack.id.as_str());
        let uuid = tenant.make_complete(&name, HEAT, &[label]).await.uuid;

        // the page, on which every status of the trail is there once
        let mut panel = Panel::sign_in(&tenant).await;
        let all = rows(&mut panel, uuid).await;
        let stack_title = format!("Stack {}", stack.name);
        let is_of_trail = |row: &&JournalRow| {
            AUDIT_TRAIL.iter().any(|[title, status, _]| {
                row.title == title.replace("{stack}", &stack.name) && row.status == *status
            })
        };
        let trail: Vec<_> = all.iter().filter(is_of_trail).collect();
        assert_eq!(trail.len(), AUDIT_TRAIL.len(), "{all:#?}");
        for (row, [title, status, reason]) in trail.iter().zip(AUDIT_TRAIL) {
            let deployment = line(row, "Resource");
            let reason = reason.replace("{deployment}", deployment);
            assert_eq!(row.title, title.replace("{stack}", &stack.name));
            assert_eq!((row.status.as_str(), &row.lines[0]), (status, &reason));
            // of a resource that is not made yet, a name
            let is_begin = title == "api_address_floating_switch" && status == "Create in progress";
            assert_eq!(deployment.parse::<Uuid>().is_err(), is_begin, "{row:?}");
        }
        let begin = line(trail[5], "Resource");
        assert!(begin.starts_with(&format!("{}-api_address_floating_switch-", stack.name)));
        assert_eq!(line(trail[0], "Resource"), stack.id);
        assert_eq!(trail[0].title, stack_title);
        // the group is a stack of its own, whose resource is an event too
        let of_group = format!("{}-kube_minions-", stack.name);
        assert!(all.iter().any(|row| line(row, "Stack").starts_with(&of_group)));

        // the deletion of the stack is read, and remains with the rest when nothing has it any more
        stack.delete().await;
        let deadline = Instant::now() + PATIENCE;
        let deleted = loop {
            // Heat is asked about a stack once in some seconds
            let found = rows(&mut panel, uuid).await;
            if found[0].title == stack_title && found[0].status == "Delete complete" {
                break found;
            }
            assert!(Instant::now() < deadline, "{:?}", found[0]);
            sleep(PAUSE).await;
        };
        let person = signed_in(&tenant, &mut panel).await;
        let ran = cluster(&person, &["delete", &name, "--yes", "--wait"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let uuid = uuid.to_string();
        let words = ["events", &uuid, "--source", "heat", "-o", "json"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let entries: Vec<Value> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ids: BTreeSet<_> = entries
            .iter()
            .map(|entry| entry["content"]["id"].as_str().unwrap())
            .collect();
        assert_eq!((ids.len(), entries.len()), (deleted.len(), deleted.len()));
    })
    .await;
}

#[tokio::test]
async fn a_stack_that_fails_has_its_reason_in_the_journal() {
    Tenant::run(|tenant| async move {
        let resources = json!({
            "network": {"type": "OS::Heat::TestResource"},
            "kube_minions": group("network", &json!({"fail": true})),
        });
        let stack = Stack::create(&tenant, tenant.name("failing"), &resources).await;
        stack.until_status("CREATE_FAILED").await;
        let name = tenant.name("failing");
        let label = ("sim_stack", stack.id.as_str());
        let uuid = tenant.make_complete(&name, HEAT, &[label]).await.uuid;
        let mut panel = Panel::sign_in(&tenant).await;
        let all = rows(&mut panel, uuid).await;
        let reason = "ValueError: resources.kube_minions.resources[0]: Test Resource failed 0";
        let failed = all.iter().find(|row| row.title == "kube_minions").unwrap();
        assert_eq!(
            (failed.status.as_str(), failed.health),
            ("Create failed", Health::Failed)
        );
        assert_eq!(failed.lines[0], reason);
        assert_eq!(all[0].title, format!("Stack {}", stack.name));
        assert_eq!(all[0].lines[0], format!("Resource CREATE failed: {reason}"));
        let person = signed_in(&tenant, &mut panel).await;
        let ran = cluster(&person, &["events", &name, "--source", "heat"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        let text = format!("kube_minions CREATE_FAILED: {reason}");
        assert!(ran.out.contains(&text), "{}", ran.out);
        stack.delete().await;
    })
    .await;
}
