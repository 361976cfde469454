//! What the editor sends, beside what kubectl sends: the same manifest and the same edit, in two namespaces,
//! one by the panel and one by the user's own kubectl. The audit policy of the clusters has no bodies, so the
//! bodies are compared by what the API server made of them: the objects and the fields that each manager owns.
use crate::{own_namespace::OwnNamespace, stack::Stack, terminal::Terminal};
use app::ports::{Manifests as _, Panel};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{Api, api::PostParams};
use portico_domain::panel::{EditText, Effect, ObjectRef, ResourceRef};
use serde_json::{Value, json};
use std::{collections::BTreeMap, process::Stdio, time::Duration};
use tokio::io::AsyncWriteExt as _;

const USER: &str = "devi";
const USER_NAME: &str = "devi@Default";

const MANIFESTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, tier: front}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: 'web:1'
          env:
            - {name: LEVEL, value: debug}
          ports:
            - {containerPort: 8080, protocol: TCP}
          resources: {limits: {memory: 64Mi}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  level: debug
";

/// Applies the manifests with the panel in a namespace.
async fn apply_with_panel(panel: &impl Panel, stack: &Stack, text: &str, namespace: &str) {
    let namespace = Some(namespace.to_owned());
    let applied = panel.apply_manifests(stack.acme(), text.to_owned(), namespace, Vec::new());
    let applied = applied.await.unwrap();
    assert!(
        applied.iter().all(|one| one.effect != Effect::Refused),
        "{applied:?}"
    );
}

/// Applies the manifests with `kubectl apply --server-side` in a namespace.
async fn apply_with_kubectl(terminal: &Terminal<'_>, text: &str, namespace: &str) {
    let mut kubectl = terminal
        .kubectl()
        .args(["apply", "--server-side", "-n", namespace, "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = kubectl.stdin.take().unwrap();
    input.write_all(text.as_bytes()).await.unwrap();
    drop(input);
    let output = kubectl.wait_with_output().await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

async fn deployment(own: &OwnNamespace) -> Value {
    let deployments = Api::<Deployment>::namespaced(own.client.clone(), &own.name);
    serde_json::to_value(deployments.get("web").await.unwrap()).unwrap()
}

async fn settings(own: &OwnNamespace) -> Value {
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    serde_json::to_value(maps.get("settings").await.unwrap()).unwrap()
}

/// Returns what a user has written: neither the status nor what the API server and the controllers set.
fn written(object: &Value) -> Value {
    let mut object = object.clone();
    let fields = object.as_object_mut().unwrap();
    fields.remove("status");
    let metadata = fields["metadata"].as_object_mut().unwrap();
    for field in [
        "creationTimestamp",
        "generation",
        "managedFields",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    ] {
        metadata.remove(field);
    }
    if let Some(annotations) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    {
        annotations.remove("deployment.kubernetes.io/revision");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    object
}

/// Returns the fields that a manager owns, by its operation.
fn owned(object: &Value, manager: &str, operation: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries
        .iter()
        .find(|entry| entry["manager"] == manager && entry["operation"] == operation);
    let entry = entry.unwrap_or_else(|| panic!("no {operation} of {manager}: {entries:?}"));
    json!([entry["apiVersion"], entry["fieldsType"], entry["fieldsV1"]])
}

/// Returns the entry of the cluster's audit log about a change of an object, other than those in `seen`.
async fn audited(stack: &Stack, own: &OwnNamespace, name: &str, seen: &[Value]) -> Value {
    let file = stack.var("KUBE_AUDIT_LOG");
    for _ in 0..100 {
        let log = tokio::fs::read_to_string(file).await.unwrap();
        let found = log
            .lines()
            .rev()
            .filter(|line| line.contains(&own.name) && line.contains("\"patch\""))
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|entry| {
                let object = &entry["objectRef"];
                object["namespace"] == own.name.as_str()
                    && object["name"] == name
                    && object.get("subresource").is_none()
                    && entry["user"]["username"] == USER_NAME
                    && !seen.contains(&entry["auditID"])
            });
        if let Some(entry) = found {
            return entry;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no entry of {USER_NAME} about {name} in {}", own.name);
}

/// Returns what both entries have in common: the verb, the object without its
/// namespace, the path below it, the stage and the status.
fn request(entry: &Value, own: &OwnNamespace) -> Value {
    let (path, _) = uri(entry);
    let object = &entry["objectRef"];
    json!({
        "verb": entry["verb"],
        "path": path.replace(&own.name, "NAMESPACE"),
        "resource": [object["apiGroup"], object["apiVersion"], object["resource"], object["name"]],
        "user": [entry["user"]["username"], entry["user"]["uid"]],
        "groups": entry["user"]["groups"],
        "stage": entry["stage"],
        "status": entry["responseStatus"]["code"],
    })
}

/// Returns the path and the query of an entry's request.
fn uri(entry: &Value) -> (String, BTreeMap<String, String>) {
    let uri = entry["requestURI"].as_str().unwrap();
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let query = url::form_urlencoded::parse(query.as_bytes()).into_owned();
    (path.to_owned(), query.collect())
}

#[tokio::test]
async fn need_02_the_panel_applies_what_kubectl_apply_server_side_applies() {
    let stack = Stack::open();
    let (ours, theirs) = tokio::join!(stack.namespace("apply"), stack.namespace("kubectl"));
    let (panel, terminal) = (stack.panel(USER).await, Terminal::of(&stack, USER).await);
    // the second manifest changes a field and leaves others out
    let changed = MANIFESTS
        .replace("web:1", "web:2")
        .replace(
            "            - {name: LEVEL, value: debug}\n",
            "            - {name: MODE, value: fast}\n",
        )
        .replace(", tier: front", "")
        .replace("  level: debug\n", "  other: value\n");
    let mut seen = Vec::new();
    for text in [MANIFESTS, &changed] {
        apply_with_panel(&panel, &stack, text, &ours.name).await;
        apply_with_kubectl(&terminal, text, &theirs.name).await;
        let (by_panel, by_kubectl) = (deployment(&ours).await, deployment(&theirs).await);
        assert_eq!(written(&by_panel), written(&by_kubectl));
        assert_eq!(
            owned(&by_panel, "portico", "Apply"),
            owned(&by_kubectl, "kubectl", "Apply")
        );
        let (by_panel, by_kubectl) = (settings(&ours).await, settings(&theirs).await);
        assert_eq!(written(&by_panel), written(&by_kubectl));
        assert_eq!(
            owned(&by_panel, "portico", "Apply"),
            owned(&by_kubectl, "kubectl", "Apply")
        );
        for name in ["web", "settings"] {
            let (sent, expected) = tokio::join!(
                audited(&stack, &ours, name, &seen),
                audited(&stack, &theirs, name, &seen)
            );
            assert_eq!(request(&sent, &ours), request(&expected, &theirs));
            assert_eq!(sent["user"]["username"], USER_NAME);
            for (entry, manager) in [(&sent, "portico"), (&expected, "kubectl")] {
                let (_, query) = uri(entry);
                assert_eq!(query["fieldManager"], manager);
                assert_ne!(query.get("force").map(String::as_str), Some("true"));
                assert!(!query.contains_key("dryRun"), "{query:?}");
                seen.push(entry["auditID"].clone());
            }
        }
    }
    let data = settings(&ours).await["data"].clone();
    assert_eq!(
        data,
        json!({ "other": "value" }),
        "a field left out is gone"
    );
    ours.done().await;
    theirs.done().await;
}

/// Makes the ConfigMap that both edit.
async fn make_settings(own: &OwnNamespace) {
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let object = serde_json::from_value(json!({
        "metadata": {
            "name": "settings",
            "labels": { "app": "web", "tier": "back" },
            "annotations": { "note": "x" },
        },
        "data": { "a": "1", "b": "2", "c": "3" },
    }));
    maps.create(&PostParams::default(), &object.unwrap())
        .await
        .unwrap();
}

#[tokio::test]
async fn need_01_the_panel_saves_what_kubectl_edit_saves() {
    let stack = Stack::open();
    let (ours, theirs) = tokio::join!(stack.namespace("edit"), stack.namespace("kubectl"));
    tokio::join!(make_settings(&ours), make_settings(&theirs));
    let panel = stack.panel(USER).await;
    let object = ObjectRef {
        resource: ResourceRef::core("configmaps"),
        namespace: Some(ours.name.clone()),
        name: "settings".to_owned(),
    };
    let read = panel.edit_text(stack.acme(), object.clone()).await.unwrap();
    let text = read
        .text
        .replace("  b: '2'\n", "")
        .replace("    tier: back\n", "")
        .replace("    note: x\n", "    note: z\n")
        .replace("  c: '3'\n", "  c: '4'\n");
    assert_eq!(text.lines().count(), read.text.lines().count() - 2);
    let edited = EditText {
        text,
        version: read.version,
    };
    panel.save_edit(stack.acme(), object, edited).await.unwrap();

    let directory = tempfile::tempdir().unwrap();
    let editor = directory.path().join("editor.sh");
    let script = "exec sed -i -e '/^  b: /d' -e '/^    tier: /d' -e 's/^    note: x$/    note: z/' -e 's/^  c: \"3\"$/  c: \"4\"/' \"$1\"\n";
    std::fs::write(&editor, script).unwrap();
    let output = Terminal::of(&stack, USER)
        .await
        .kubectl()
        .env("PATH", "/usr/bin:/bin")
        .env("KUBE_EDITOR", format!("sh {}", editor.display()))
        .args(["edit", "configmap", "settings", "-n", &theirs.name])
        .stdin(Stdio::null())
        .output()
        .await
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");

    let (by_panel, by_kubectl) = (settings(&ours).await, settings(&theirs).await);
    assert_eq!(by_panel["data"], json!({ "a": "1", "c": "4" }));
    assert_eq!(by_panel["metadata"]["labels"], json!({ "app": "web" }));
    assert_eq!(by_panel["metadata"]["annotations"], json!({ "note": "z" }));
    assert_eq!(written(&by_panel), written(&by_kubectl));
    assert_eq!(
        owned(&by_panel, "portico", "Update"),
        owned(&by_kubectl, "kubectl-edit", "Update")
    );
    let (sent, expected) = tokio::join!(
        audited(&stack, &ours, "settings", &[]),
        audited(&stack, &theirs, "settings", &[])
    );
    assert_eq!(request(&sent, &ours), request(&expected, &theirs));
    for entry in [&sent, &expected] {
        assert_eq!(entry["user"]["username"], USER_NAME);
        assert!(!uri(entry).1.contains_key("dryRun"));
    }
    ours.done().await;
    theirs.done().await;
}
