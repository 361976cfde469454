//! Manifests: checked, applied and edited with the user's own token, beside kubectl.
use crate::stack::Stack;
use app::{
    error::UiErrorKind,
    ports::{Manifests as _, Panel},
};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use portico_domain::panel::{EditText, Effect, ObjectRef, PlannedDocument, ResourceRef};
use serde_json::{Value, json};

const APPLICATION: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: 'web:1'}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  level: debug
";

fn map(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef {
        resource: ResourceRef::core("configmaps"),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}

async fn plan(
    panel: &impl Panel,
    stack: &Stack,
    text: &str,
    namespace: &str,
) -> Vec<PlannedDocument> {
    let namespace = Some(namespace.to_owned());
    panel
        .plan_manifests(stack.acme(), text.to_owned(), namespace)
        .await
        .unwrap()
}

fn effects(plan: &[PlannedDocument]) -> Vec<Effect> {
    plan.iter().map(|document| document.effect).collect()
}

#[tokio::test]
async fn need_02_manifests_are_checked_first_and_then_applied_in_order() {
    let stack = Stack::open();
    let own = stack.namespace("apply").await;
    let panel = stack.panel("devi").await;
    let deployments = Api::<Deployment>::namespaced(own.client.clone(), &own.name);
    let planned = plan(&panel, &stack, APPLICATION, &own.name).await;
    assert_eq!(effects(&planned), [Effect::Create, Effect::Create]);
    assert!(planned[0].diff.added > 10, "{:?}", planned[0].diff);
    assert!(
        deployments.get_opt("web").await.unwrap().is_none(),
        "a check changes nothing"
    );
    let apply = async |text: &str, take_over: Vec<usize>| {
        let namespace = Some(own.name.clone());
        let answer = panel.apply_manifests(stack.acme(), text.to_owned(), namespace, take_over);
        answer.await.unwrap()
    };
    let applied = apply(APPLICATION, Vec::new()).await;
    assert!(
        applied.iter().all(|one| one.effect == Effect::Create),
        "{applied:?}"
    );
    let made = deployments.get("web").await.unwrap();
    let managers = made.metadata.managed_fields.unwrap();
    assert!(
        managers
            .iter()
            .any(|entry| entry.manager.as_deref() == Some("portico")
                && entry.operation.as_deref() == Some("Apply")),
        "{managers:?}"
    );
    let again = plan(&panel, &stack, APPLICATION, &own.name).await;
    assert_eq!(effects(&again), [Effect::Nothing, Effect::Nothing]);
    let changed = APPLICATION.replace("web:1", "web:2");
    let planned = plan(&panel, &stack, &changed, &own.name).await;
    assert_eq!(effects(&planned), [Effect::Change, Effect::Nothing]);
    assert_eq!((planned[0].diff.added, planned[0].diff.removed), (1, 1));
    // a field that is left out of the manifest disappears
    let without = APPLICATION.replace("  level: debug\n", "  other: value\n");
    apply(&without, Vec::new()).await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let data = maps.get("settings").await.unwrap().data.unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["other"]);
    own.done().await;
}

#[tokio::test]
async fn fields_of_other_managers_are_named_and_taken_over_only_when_asked() {
    let stack = Stack::open();
    let own = stack.namespace("conflict").await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"level": "info"}});
    let params = PatchParams::apply("other-tool");
    maps.patch("settings", &params, &Patch::Apply(theirs))
        .await
        .unwrap();
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {level: debug}\n";
    let panel = stack.panel("devi").await;
    let planned = plan(&panel, &stack, text, &own.name).await;
    assert_eq!(planned[0].effect, Effect::Change);
    assert_eq!(planned[0].conflicts[0].manager, "other-tool");
    assert_eq!(planned[0].conflicts[0].field, ".data.level");
    let apply = async |take_over| {
        let namespace = Some(own.name.clone());
        let answer = panel.apply_manifests(stack.acme(), text.to_owned(), namespace, take_over);
        answer.await.unwrap().remove(0)
    };
    let refused = apply(Vec::new()).await;
    assert_eq!(refused.effect, Effect::Refused);
    assert!(refused.error.unwrap().contains("other-tool"));
    let level = || async {
        let map = maps.get("settings").await.unwrap();
        map.data.unwrap()["level"].clone()
    };
    assert_eq!(level().await, "info");
    assert_eq!(apply(vec![0]).await.effect, Effect::Change);
    assert_eq!(level().await, "debug");
    own.done().await;
}

#[tokio::test]
async fn what_the_cluster_would_refuse_is_reported_at_its_place_before_anything_is_sent() {
    let stack = Stack::open();
    let own = stack.namespace("refused").await;
    let panel = stack.panel("devi").await;
    let text = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: web, image: 'web:1'}]}
---
apiVersion: apps/v1beta1
kind: Deployment
metadata: {name: old}
---
kind: Pod
";
    let planned = plan(&panel, &stack, text, &own.name).await;
    assert!(
        planned
            .iter()
            .all(|document| document.effect == Effect::Refused)
    );
    let places: Vec<_> = planned
        .iter()
        .map(|document| document.problems[0].path.as_str())
        .collect();
    assert_eq!(
        places,
        ["spec.template.metadata.labels", "apiVersion", "apiVersion"]
    );
    let documents: Vec<_> = planned
        .iter()
        .map(|document| document.problems[0].document)
        .collect();
    assert_eq!(documents, [0, 1, 2]);
    for (text, words) in [("a: [", "valid YAML"), ("# nothing\n", "no manifest")] {
        let answer = panel
            .plan_manifests(stack.acme(), text.to_owned(), None)
            .await;
        let error = answer.unwrap_err();
        assert_eq!(error.kind, UiErrorKind::Invalid);
        assert!(error.message.contains(words), "{}", error.message);
    }
    let vera = stack.panel("vera").await;
    let planned = plan(&vera, &stack, APPLICATION, &own.name).await;
    assert!(
        planned
            .iter()
            .all(|document| document.effect == Effect::Refused)
    );
    assert!(
        planned[0].problems[0].message.contains("forbidden"),
        "{:?}",
        planned[0].problems
    );
    let namespace = Some(own.name.clone());
    let applied = vera
        .apply_manifests(stack.acme(), APPLICATION.to_owned(), namespace, Vec::new())
        .await
        .unwrap();
    let is_named = applied.iter().all(|document| document.missing.is_some());
    assert!(is_named, "{applied:?}");
    own.done().await;
}

#[tokio::test]
async fn need_01_an_edit_removes_fields_and_is_of_exactly_the_version_that_was_seen() {
    let stack = Stack::open();
    let own = stack.namespace("edit").await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let object: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "settings",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "x"}},
        "data": {"a": "1", "b": "2"}}))
    .unwrap();
    maps.create(&PostParams::default(), &object).await.unwrap();
    let panel = stack.panel("devi").await;
    let settings = map(&own.name, "settings");
    let read = panel
        .edit_text(stack.acme(), settings.clone())
        .await
        .unwrap();
    assert!(
        !read.text.contains("uid") && !read.text.contains("last-applied"),
        "{}",
        read.text
    );
    let edited = |text: String| EditText {
        text,
        version: read.version.clone(),
    };
    let without_b = read
        .text
        .replace("  b: '2'\n", "")
        .replace("    note: x\n", "    note: y\n");
    assert_ne!(without_b, read.text);
    let planned = panel
        .plan_edit(stack.acme(), settings.clone(), edited(without_b.clone()))
        .await;
    let planned = planned.unwrap();
    assert_eq!(planned.effect, Effect::Change);
    assert_eq!(
        (planned.diff.added, planned.diff.removed),
        (1, 2),
        "{:?}",
        planned.diff
    );
    assert_eq!(
        maps.get("settings").await.unwrap().data.unwrap().len(),
        2,
        "a check changes nothing"
    );
    let save = async |text: String| {
        panel
            .save_edit(stack.acme(), settings.clone(), edited(text))
            .await
    };
    save(without_b.clone()).await.unwrap();
    let saved = maps.get("settings").await.unwrap();
    assert_eq!(saved.data.unwrap().into_keys().collect::<Vec<_>>(), ["a"]);
    let annotations = saved.metadata.annotations.unwrap();
    assert_eq!(annotations["note"], "y");
    assert_eq!(
        annotations["kubectl.kubernetes.io/last-applied-configuration"],
        "{}"
    );
    // the version has changed meanwhile
    let error = save(without_b.replace("'1'", "'7'")).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Conflict);
    let original = read.text.clone();
    let mine = original.replace("  a: '1'\n", "  a: '9'\n");
    let rebased = panel
        .rebase_edit(stack.acme(), settings.clone(), original, mine)
        .await
        .unwrap();
    let text = rebased.text.unwrap();
    assert!(text.contains("a: '9'") && !text.contains("b: "), "{text}");
    let error = save(read.text.replace("name: settings", "name: other"))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind,
        UiErrorKind::Conflict,
        "the version is checked first"
    );
    let vera = stack.panel("vera").await;
    let newest = rebased.newest;
    let renamed = EditText {
        text: newest.text.replace("name: settings", "name: other"),
        ..newest.clone()
    };
    let refused = panel
        .save_edit(stack.acme(), settings.clone(), renamed)
        .await
        .unwrap_err();
    assert!(
        refused.message.contains("metadata.name"),
        "{}",
        refused.message
    );
    let changed = EditText {
        text: newest.text.replace("'1'", "'5'"),
        ..newest
    };
    let refused = vera
        .save_edit(stack.acme(), settings.clone(), changed)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    own.done().await;
}

#[tokio::test]
async fn an_edit_that_races_with_another_client_changes_nothing() {
    let stack = Stack::open();
    let own = stack.namespace("race").await;
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let object: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "counter"}, "data": {"n": "0"}}))
            .unwrap();
    maps.create(&PostParams::default(), &object).await.unwrap();
    let panel = stack.panel("devi").await;
    let counter = map(&own.name, "counter");
    let read = panel
        .edit_text(stack.acme(), counter.clone())
        .await
        .unwrap();
    // ten edits of one version at once: one of them counts
    let saves = (1..=10).map(|number| {
        let edited = EditText {
            text: read.text.replace("'0'", &format!("'{number}'")),
            version: read.version.clone(),
        };
        panel.save_edit(stack.acme(), counter.clone(), edited)
    });
    let answers = futures::future::join_all(saves).await;
    let saved = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(saved, 1, "{answers:?}");
    let conflicts = answers
        .iter()
        .filter_map(|answer| answer.as_ref().err())
        .all(|error| error.kind == UiErrorKind::Conflict);
    assert!(conflicts, "{answers:?}");
    own.done().await;
}

#[tokio::test]
async fn a_secrets_difference_shows_no_value() {
    let stack = Stack::open();
    let own = stack.namespace("secretdiff").await;
    let text = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: db}}\nstringData: {{password: {value}}}\n"
        )
    };
    let panel = stack.panel("devi").await;
    let namespace = Some(own.name.clone());
    let applied = panel.apply_manifests(stack.acme(), text("canary-old"), namespace, Vec::new());
    assert_eq!(applied.await.unwrap()[0].effect, Effect::Create);
    let planned = plan(&panel, &stack, &text("canary-new"), &own.name).await;
    assert_eq!(planned[0].effect, Effect::Change);
    let shown = serde_json::to_string(&planned).unwrap();
    // base64 of canary
    assert!(
        !shown.contains("canary") && !shown.contains("Y2FuYXJ5"),
        "{shown}"
    );
    own.done().await;
}

#[tokio::test]
async fn the_audit_log_of_the_cluster_names_the_user_of_an_apply() {
    let stack = Stack::open();
    let own = stack.namespace("audited").await;
    let panel = stack.panel("devi").await;
    let namespace = Some(own.name.clone());
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: audited}\n".to_owned();
    panel
        .apply_manifests(stack.acme(), text, namespace, Vec::new())
        .await
        .unwrap();
    let file = stack.var("KUBE_AUDIT_LOG");
    let mut found = None;
    for _ in 0..50 {
        let log = tokio::fs::read_to_string(file).await.unwrap();
        found = log
            .lines()
            .rev()
            .filter(|line| line.contains(&own.name) && line.contains("\"patch\""))
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|entry| entry["objectRef"]["name"] == "audited");
        if found.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let entry = found.expect("an entry of the audit log");
    assert_eq!(entry["user"]["username"], "devi@Default");
    assert!(
        entry["requestURI"]
            .as_str()
            .unwrap()
            .contains("fieldManager=portico")
    );
    own.done().await;
}

#[tokio::test]
async fn a_change_of_the_status_alone_is_not_a_conflict() {
    let stack = Stack::open();
    let own = stack.namespace("status").await;
    own.pod_with_status("worker", json!({ "phase": "Pending" }))
        .await;
    // a developer may use no PodSecurityPolicy for a pod of their own
    let panel = stack.panel("ada").await;
    let worker = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(own.name.clone()),
        name: "worker".to_owned(),
    };
    let read = panel.edit_text(stack.acme(), worker.clone()).await.unwrap();
    let pods = Api::<k8s_openapi::api::core::v1::Pod>::namespaced(own.client.clone(), &own.name);
    let status = Patch::Merge(json!({ "status": { "phase": "Running" } }));
    pods.patch_status("worker", &PatchParams::default(), &status)
        .await
        .unwrap();
    let edited = EditText {
        text: read
            .text
            .replace("name: worker\n", "name: worker\n  labels: {tier: back}\n"),
        version: read.version.clone(),
    };
    panel
        .save_edit(stack.acme(), worker.clone(), edited.clone())
        .await
        .unwrap();
    let saved = pods.get("worker").await.unwrap();
    assert_eq!(saved.metadata.labels.unwrap()["tier"], "back");
    // the control case: a change of anything else is
    let error = panel
        .save_edit(stack.acme(), worker, edited)
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Conflict);
    own.done().await;
}
