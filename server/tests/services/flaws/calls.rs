//! One valid request of each server function. A function without one fails the tests that send them all.
mod managed_clusters;

use leptos::server_fn::axum::server_fn_paths;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What the requests are about: a Deployment.
#[derive(Clone, Debug)]
pub struct Target {
    pub cluster: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

/// A request's body.
#[derive(Clone, Debug)]
pub enum Body {
    Json(Value),
    Form(Vec<(String, String)>),
}

/// A request of one server function.
#[derive(Clone, Debug)]
pub struct Call {
    pub path: &'static str,
    pub body: Body,
    /// Whether the API server is asked to change something.
    pub changes: bool,
    /// The status that a user with all rights gets: 200, except for what depends on a version or a
    /// revision of the target, which no request here knows.
    pub status: u16,
}

/// The query of the list in which the target is.
pub fn query(target: &Target) -> Value {
    query_of("apps", "deployments", &[&target.namespace], &target.name)
}

/// The query of any list.
pub fn query_of(group: &str, plural: &str, namespaces: &[&str], search: &str) -> Value {
    json!({
        "resource": { "group": group, "version": "v1", "plural": plural },
        "namespaces": namespaces, "search": search, "labels": "", "fields": "", "status": [],
        "sort": "",
    })
}

pub fn object(group: &str, plural: &str, namespace: Option<&str>, name: &str) -> Value {
    json!({
        "resource": { "group": group, "version": "v1", "plural": plural },
        "namespace": namespace, "name": name,
    })
}

fn reads(path: &'static str, body: Value) -> Call {
    Call {
        path,
        body: Body::Json(body),
        changes: false,
        status: 200,
    }
}

fn answered(status: u16, call: Call) -> Call {
    Call { status, ..call }
}

fn changes(path: &'static str, body: Value) -> Call {
    Call {
        changes: true,
        ..reads(path, body)
    }
}

fn form(path: &'static str, changes: bool, fields: &[(&str, &str)]) -> Call {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Call {
        path,
        body: Body::Form(fields.iter().map(owned).collect()),
        changes,
        status: 200,
    }
}

/// Every server function that the program has, each with a request about the target.
pub fn calls(target: &Target) -> Vec<Call> {
    let (cluster, namespace) = (target.cluster.as_str(), target.namespace.as_str());
    let deployment = object("apps", "deployments", Some(namespace), &target.name);
    let about = json!({ "cluster": cluster, "object": deployment });
    let range = json!({ "offset": 0, "limit": 50 });
    let question = json!({ "verb": "list", "group": "apps", "resource": "deployments",
        "subresource": "", "namespace": namespace, "name": null });
    let grant = json!({ "role": { "cluster": true, "name": "view" }, "namespace": namespace,
        "subject_kind": "user", "subject_id": "0123456789abcdef0123456789abcdef" });
    let flat = [
        ("cluster", cluster),
        ("object[group]", "apps"),
        ("object[version]", "v1"),
        ("object[plural]", "deployments"),
        ("object[namespace]", namespace),
        ("object[name]", &target.name),
    ];
    let with = |more: &[(&'static str, &'static str)]| [&flat[..], more].concat();
    let exactly = |more: &[(&'static str, &'static str)]| {
        let mut fields = with(more);
        fields.push(("uid", &target.uid));
        fields
    };
    let manifest = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {}\n  namespace: {namespace}\n  \
         labels: {{ applied: \"true\" }}\n",
        target.name
    );
    let edit = json!({ "cluster": cluster, "object": deployment,
        "edited": { "text": manifest, "version": "unknown" } });
    let all = vec![
        form("/api/session/get", false, &[]),
        form("/api/authentication/programs", false, &[]),
        form("/api/launchpad/get", false, &[]),
        form("/api/apps/registry", false, &[("app", "registry")]),
        form("/api/apps/alerts", false, &[("app", "alertmanager")]),
        form("/api/clusters/get", false, &[("cluster", cluster)]),
        form("/api/clusters/kinds", false, &[("cluster", cluster)]),
        reads("/api/clusters/states", json!({ "clusters": [cluster] })),
        reads(
            "/api/clusters/rights",
            json!({ "cluster": cluster, "questions": [question] }),
        ),
        reads(
            "/api/resources/list",
            json!({ "cluster": cluster, "query": query(target), "range": range }),
        ),
        reads(
            "/api/resources/labels",
            json!({ "cluster": cluster, "query": query(target), "typed": "" }),
        ),
        reads(
            "/api/resources/select",
            json!({ "cluster": cluster, "query": query(target) }),
        ),
        reads(
            "/api/resources/pods",
            json!({ "cluster": cluster, "query": query_of("", "pods", &[namespace], "") }),
        ),
        reads(
            "/api/resources/search",
            json!({ "cluster": cluster, "text": target.name }),
        ),
        reads(
            "/api/resources/namespaces",
            json!({ "cluster": cluster,
                "resource": { "group": "apps", "version": "v1", "plural": "deployments" } }),
        ),
        reads(
            "/api/resources/usage",
            json!({ "cluster": cluster,
                "resource": { "group": "apps", "version": "v1", "plural": "deployments" },
                "rows": [{ "namespace": namespace, "name": target.name }] }),
        ),
        form("/api/namespaces/get", false, &[("cluster", cluster)]),
        changes(
            "/api/namespaces/add",
            json!({ "cluster": cluster, "name": namespace }),
        ),
        changes(
            "/api/resources/change",
            json!({ "cluster": cluster,
                "resource": { "group": "apps", "version": "v1", "plural": "deployments" },
                "action": { "scale": { "replicas": 0 } },
                "targets": [{ "uid": target.uid, "namespace": namespace, "name": target.name }] }),
        ),
        reads("/api/objects/get", about.clone()),
        reads("/api/objects/yaml", about.clone()),
        reads("/api/objects/events", about.clone()),
        reads("/api/objects/related", about.clone()),
        reads("/api/objects/plan_deletion", about.clone()),
        reads("/api/objects/usage", about.clone()),
        answered(
            404,
            reads(
                "/api/objects/revision_diff",
                json!({ "cluster": cluster, "object": deployment, "revision": 1_000_000 }),
            ),
        ),
        reads(
            "/api/objects/values",
            json!({ "cluster": cluster,
                "object": object("", "configmaps", Some(namespace), "kube-root-ca.crt") }),
        ),
        form("/api/objects/state", true, &exactly(&[("change", "pause")])),
        form(
            "/api/objects/roll_back",
            true,
            &exactly(&[("revision", "1")]),
        ),
        reads(
            "/api/manifests/plan",
            json!({ "cluster": cluster, "text": manifest, "namespace": null }),
        ),
        changes(
            "/api/manifests/apply",
            json!({ "cluster": cluster, "text": manifest, "namespace": null, "take_over": [] }),
        ),
        reads(
            "/api/objects/plan_drain",
            json!({ "cluster": cluster, "node": object("", "nodes", None, "node-1"),
                "options": { "unmanaged": false, "local_data": false } }),
        ),
        changes(
            "/api/objects/drain",
            json!({ "cluster": cluster, "node": object("", "nodes", None, "node-1"),
                "uid": "00000000-0000-4000-8000-000000000000",
                "options": { "unmanaged": false, "local_data": false } }),
        ),
        reads(
            "/api/creation/choices",
            json!({ "cluster": cluster, "kind": "service", "namespace": namespace }),
        ),
        reads(
            "/api/creation/manifest",
            json!({ "new": { "claim": { "name": "data", "namespace": namespace,
                "storage_class": "", "access_mode": "ReadWriteOnce", "size": "1Gi" } } }),
        ),
        reads("/api/creation/progress", about.clone()),
        reads("/api/manifests/edit", about.clone()),
        answered(409, reads("/api/manifests/plan_edit", edit.clone())),
        changes("/api/manifests/save", edit),
        reads(
            "/api/manifests/rebase",
            json!({ "cluster": cluster, "object": deployment,
                "original": manifest, "edited": manifest }),
        ),
        reads("/api/manifests/form", about),
        answered(
            409,
            reads(
                "/api/manifests/form_text",
                json!({ "cluster": cluster, "object": deployment, "version": "unknown",
                    "edits": [{ "pointer": "/spec/replicas", "value": "0" }] }),
            ),
        ),
        form("/api/objects/scale", true, &with(&[("replicas", "0")])),
        form("/api/objects/restart", true, &with(&[])),
        form("/api/objects/delete", true, &exactly(&[])),
        form("/api/access/get", false, &[("cluster", cluster)]),
        reads(
            "/api/access/who_can",
            json!({ "cluster": cluster, "verb": "list", "resource": "deployments.apps",
                "namespace": namespace }),
        ),
        reads(
            "/api/access/what_can",
            json!({ "cluster": cluster, "subject": { "kind": "User", "name": "nora@Default" } }),
        ),
        reads(
            "/api/access/preview",
            json!({ "cluster": cluster, "grant": grant }),
        ),
        changes(
            "/api/access/grant",
            json!({ "cluster": cluster, "grant": grant, "typed": "view" }),
        ),
        changes(
            "/api/access/revoke",
            json!({ "cluster": cluster, "revoke": {
                "binding": { "namespace": namespace, "name": "portico-viewer" },
                "uid": "00000000-0000-4000-8000-000000000000", "resource_version": "1",
                "subject": { "kind": "user", "name": "nora@Default" }, "typed": "" } }),
        ),
        changes(
            "/api/access/undo",
            json!({ "cluster": cluster, "undo": "00000000-0000-4000-8000-000000000000" }),
        ),
        form("/api/authentication/get", false, &[("cluster", cluster)]),
        form(
            "/api/authentication/figures",
            false,
            &[("cluster", cluster)],
        ),
        form(
            "/api/authentication/test_self",
            false,
            &[("cluster", cluster)],
        ),
        form(
            "/api/authentication/test_user",
            false,
            &[
                ("cluster", cluster),
                ("request[user_id]", "0123456789abcdef0123456789abcdef"),
                ("request[username]", "nora@Default"),
                ("request[project]", ""),
                ("request[more_roles]", ""),
                ("request[groups]", ""),
                ("request[namespace]", namespace),
            ],
        ),
    ];
    let all: Vec<_> = all
        .into_iter()
        .chain(managed_clusters::of_clusters(cluster))
        .chain(managed_clusters::of_templates())
        .collect();
    let known: BTreeSet<_> = all.iter().map(|call| call.path).collect();
    let registered: BTreeSet<_> = server_fn_paths().map(|(path, _)| path).collect();
    assert!(registered.len() > 20, "{registered:?}");
    let unknown: Vec<_> = registered.difference(&known).collect();
    assert!(unknown.is_empty(), "no request here for {unknown:?}");
    let gone: Vec<_> = known.difference(&registered).collect();
    assert!(gone.is_empty(), "no such function: {gone:?}");
    all
}
