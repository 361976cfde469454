//! 23 to 25 and 30: whose rights count, for what, and while the API server is unavailable.
use super::{
    calls::{calls, query_of},
    site::{Answer, Site},
};
use crate::{own_namespace::OwnNamespace, stack::Stack};
use axum::http::HeaderMap;
use k8s_openapi::api::{
    authorization::v1::SubjectAccessReview,
    core::v1::Namespace,
    rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding},
};
use kube::{Api, Client};
use portico_test_support::time::eventually;
use portico_testkit::{KeystoneAdmin, TestEnv, TestUser};
use serde_json::{Value, json};

/// A user of the test's own in acme, without any right in the cluster.
struct Member {
    keystone: KeystoneAdmin,
    user: TestUser,
}

impl Member {
    async fn new(site: &Site) -> Self {
        let keystone = KeystoneAdmin::sign_in(&TestEnv::load().unwrap())
            .await
            .unwrap();
        let user = keystone.create_user("flaw").await.unwrap();
        let role = site.stack.var("ROLE_ID_MEMBER");
        keystone.grant(&user.id, site.acme(), role).await.unwrap();
        Self { keystone, user }
    }

    fn subject(&self) -> Value {
        json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group",
            "name": format!("portico:user:{}", self.user.id) })
    }

    async fn headers(&self, site: &Site) -> HeaderMap {
        site.stack.headers_of(&self.user).await
    }

    async fn done(self) {
        self.keystone.delete_user(&self.user.id).await.unwrap();
    }
}

/// Binds a ClusterRole in one namespace.
async fn bind(own: &OwnNamespace, name: &str, role: &str, subject: &Value) {
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
        "subjects": [subject],
    }))
    .unwrap();
    Api::<RoleBinding>::namespaced(own.client.clone(), &own.name)
        .create(&Default::default(), &binding)
        .await
        .unwrap();
}

/// A ClusterRole of the test's own, bound in the whole cluster.
struct ClusterRules {
    name: String,
    client: Client,
}

impl ClusterRules {
    async fn of(own: &OwnNamespace, member: &Member, rules: Value) -> Self {
        let (name, client) = (own.name.clone(), own.client.clone());
        let role = json!({ "metadata": { "name": name }, "rules": rules });
        Api::<ClusterRole>::all(client.clone())
            .create(&Default::default(), &serde_json::from_value(role).unwrap())
            .await
            .unwrap();
        let binding = json!({
            "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name },
            "subjects": [member.subject()],
        });
        Api::<ClusterRoleBinding>::all(client.clone())
            .create(
                &Default::default(),
                &serde_json::from_value(binding).unwrap(),
            )
            .await
            .unwrap();
        Self { name, client }
    }

    async fn done(self) {
        let (delete, client) = (Default::default(), self.client);
        let bindings = Api::<ClusterRoleBinding>::all(client.clone());
        bindings.delete(&self.name, &delete).await.unwrap();
        let roles = Api::<ClusterRole>::all(client);
        roles.delete(&self.name, &delete).await.unwrap();
    }
}

#[tokio::test]
async fn flaw_23_who_may_grant_in_one_namespace_grants_nothing_elsewhere_or_above_themselves() {
    let site = Site::open().await;
    let (own, other) = (
        site.stack.namespace("mine").await,
        site.stack.namespace("theirs").await,
    );
    let member = Member::new(&site).await;
    bind(&own, "owner", "admin", &member.subject()).await;
    // who grants a role reads it first
    let reader = ClusterRules::of(
        &own,
        &member,
        json!([{ "apiGroups": ["rbac.authorization.k8s.io"], "verbs": ["get", "list", "watch"],
            "resources": ["clusterroles"] }]),
    )
    .await;
    let headers = member.headers(&site).await;
    let cluster = site.stack.acme().to_string();
    let nora = site.stack.var("USER_ID_NORA").to_owned();
    let grant = async |role: &str, namespace: Option<&str>| -> Answer {
        let body = json!({
            "cluster": cluster, "typed": role,
            "grant": { "role": { "cluster": true, "name": role }, "namespace": namespace,
                "subject_kind": "user", "subject_id": nora },
        });
        site.post(&headers, "/api/access/grant", body).await
    };
    for role in [
        "view",
        "edit",
        "admin",
        "portico-viewer",
        "portico-developer",
        "cluster-admin",
    ] {
        for namespace in [
            Some(other.name.as_str()),
            Some("shop"),
            Some("kube-system"),
            None,
        ] {
            let answer = grant(role, namespace).await;
            assert!(
                (400..500).contains(&answer.status),
                "{role} in {namespace:?}: {} {}",
                answer.status,
                answer.body
            );
        }
    }
    let above = grant("cluster-admin", Some(&own.name)).await;
    assert!((400..500).contains(&above.status), "{}", above.body);
    let all = Api::<RoleBinding>::all(own.client.clone());
    let subject = format!("portico:user:{nora}");
    let holds = |binding: &RoleBinding| {
        let subjects = binding.subjects.iter().flatten();
        subjects.into_iter().any(|found| found.name == subject)
            && [&own.name, &other.name].contains(&binding.metadata.namespace.as_ref().unwrap())
    };
    let found = all.list(&Default::default()).await.unwrap();
    assert_eq!(found.iter().filter(|binding| holds(binding)).count(), 0);
    let answer = grant("view", Some(&own.name)).await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
    let found = all.list(&Default::default()).await.unwrap();
    assert_eq!(found.iter().filter(|binding| holds(binding)).count(), 1);
    reader.done().await;
    member.done().await;
    own.done().await;
    other.done().await;
}

/// The API server's own answer about a user, asked by its administrator.
async fn authorized(client: &Client, user: &str, groups: &[String], question: &Value) -> bool {
    let review: SubjectAccessReview = serde_json::from_value(json!({ "spec": {
        "user": user, "groups": groups, "resourceAttributes": question } }))
    .unwrap();
    let review = Api::<SubjectAccessReview>::all(client.clone())
        .create(&Default::default(), &review)
        .await
        .unwrap();
    review.status.unwrap().allowed
}

#[tokio::test]
async fn flaw_24_a_rule_counts_for_its_own_group_resource_subresource_and_name_only() {
    let site = Site::open().await;
    let own = site.stack.namespace("rules").await;
    let member = Member::new(&site).await;
    let rules = json!([
        { "apiGroups": ["example.org"], "verbs": ["*"],
          "resources": ["namespaces", "pods", "secrets", "pods/exec", "deployments"] },
        { "apiGroups": [""], "verbs": ["get"], "resources": ["configmaps"], "resourceNames": ["one"] },
        { "apiGroups": [""], "verbs": ["get"], "resources": ["pods/log"] },
        { "apiGroups": ["apps"], "verbs": ["patch"], "resources": ["deployments/scale"] },
        { "apiGroups": [""], "verbs": ["list"], "resources": ["services"] },
    ]);
    let rules = ClusterRules::of(&own, &member, rules).await;

    let mut questions = Vec::new();
    for (group, resource, subresource, object) in [
        ("", "namespaces", "", None),
        ("example.org", "namespaces", "", None),
        ("", "secrets", "", None),
        ("", "pods", "", None),
        ("", "pods", "exec", None),
        ("", "pods", "log", None),
        ("example.org", "pods", "exec", None),
        ("", "configmaps", "", None),
        ("", "configmaps", "", Some("one")),
        ("", "configmaps", "", Some("two")),
        ("apps", "deployments", "", None),
        ("apps", "deployments", "scale", None),
        ("example.org", "deployments", "scale", None),
        ("", "services", "", None),
        ("", "services", "proxy", None),
    ] {
        for verb in ["get", "list", "patch", "delete"] {
            questions.push(json!({ "verb": verb, "group": group, "resource": resource,
                "subresource": subresource, "namespace": own.name, "name": object }));
        }
    }
    let headers = member.headers(&site).await;
    let identity = site.stack.admit(&headers);
    let project = identity.project().unwrap().id.clone();
    let mut groups = vec![
        format!("portico:user:{}", member.user.id),
        format!("portico:project:{project}"),
        "system:authenticated".to_owned(),
    ];
    for role in &identity.identity().roles {
        groups.push(role.id.clone());
        groups.push(format!("portico:project:{project}:role:{}", role.id));
    }
    let cluster = site.stack.acme().to_string();
    let user = format!("{}@Default", member.user.name);
    // the API server's authorizer hears of a new binding a moment later
    let known = json!({ "verb": "get", "group": "", "resource": "pods", "subresource": "log",
        "namespace": own.name });
    eventually("the rules count", async || {
        authorized(&own.client, &user, &groups, &known).await
    })
    .await;
    let (mut yes, mut no) = (0, 0);
    for part in questions.chunks(20) {
        let body = json!({ "cluster": cluster, "questions": part });
        let answer = site.post(&headers, "/api/clusters/rights", body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answers = answer.json();
        for (question, given) in part.iter().zip(answers.as_array().unwrap()) {
            let expected = authorized(&own.client, &user, &groups, question).await;
            assert_eq!(given["allowed"], expected, "{question}");
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
    }
    assert!(yes > 8 && no > 30, "the control case: {yes} and {no}");
    // what the rule does not mean is not shown either
    for (group, plural) in [
        ("", "namespaces"),
        ("", "pods"),
        ("", "secrets"),
        ("apps", "deployments"),
    ] {
        let namespaces: &[&str] = if plural == "namespaces" {
            &[]
        } else {
            &["kube-system"]
        };
        let body = json!({ "cluster": cluster, "query": query_of(group, plural, namespaces, ""),
            "range": { "offset": 0, "limit": 50 } });
        let answer = site.post(&headers, "/api/resources/list", body).await;
        assert!(
            !answer.body.contains("\"uid\""),
            "{plural}: {}",
            answer.body
        );
    }
    let body = json!({ "cluster": cluster, "query": query_of("", "services", &["shop"], ""),
        "range": { "offset": 0, "limit": 50 } });
    let answer = site.post(&headers, "/api/resources/list", body).await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
    rules.done().await;
    member.done().await;
    own.done().await;
}

#[tokio::test]
async fn flaw_25_no_tenant_moves_a_namespace_by_its_labels() {
    let site = Site::open().await;
    let own = site.stack.namespace("stays").await;
    let cluster = site.stack.acme().to_string();
    let namespaces = Api::<Namespace>::all(own.client.clone());
    let before = namespaces.get(&own.name).await.unwrap().metadata;
    let move_it = async |user: &str| -> Answer {
        let body = json!({
            "cluster": cluster,
            "resource": { "group": "", "version": "v1", "plural": "namespaces" },
            "action": { "label": { "set": [["portico.dev/project-id", "another"]], "remove": [] } },
            "targets": [{ "uid": before.uid, "namespace": null, "name": own.name }],
        });
        site.post(&site.user(user).await, "/api/resources/change", body)
            .await
    };
    for user in ["vera", "devi", "nora"] {
        let answer = move_it(user).await;
        let refused = answer.status >= 400 || answer.json()[0]["error"].is_string();
        assert!(refused, "{user}: {}", answer.body);
        let now = namespaces.get(&own.name).await.unwrap().metadata;
        assert_eq!(now.labels, before.labels, "{user}");
    }
    let answer = move_it("ada").await;
    assert_eq!(answer.status, 200, "the control case: {}", answer.body);
    let now = namespaces.get(&own.name).await.unwrap().metadata;
    assert_eq!(
        now.labels.unwrap()["portico.dev/project-id"],
        "another",
        "the control case"
    );
    own.done().await;
}

/// The panel's answers while a cluster cannot be asked.
async fn fails_closed(stack: Stack) {
    let site = Site::of(stack).await;
    let ada = site.user("ada").await;
    let target = site.storefront();
    for call in calls(&target) {
        if !format!("{:?}", call.body).contains(&target.cluster) {
            continue;
        }
        let answer = site.call(&ada, &call).await;
        let context = format!("{}: {} {}", call.path, answer.status, answer.body);
        if call.changes {
            let refused = answer.status >= 400
                || answer.json().as_array().is_some_and(|outcomes| {
                    !outcomes.is_empty() && outcomes.iter().all(|one| one["error"].is_string())
                });
            assert!(refused, "{context}");
            continue;
        }
        // what is known without the cluster may be shown; nothing may be called allowed or complete
        assert!(!answer.body.contains("\"allowed\":true"), "{context}");
        if call.path == "/api/resources/list" || call.path.starts_with("/api/objects/") {
            assert_eq!(answer.status, 503, "{context}");
        }
        if call.path == "/api/resources/search" && answer.status == 200 {
            let answer = answer.json();
            let incomplete = ["failures", "late"]
                .iter()
                .filter_map(|part| answer[part].as_array());
            assert!(incomplete.flatten().next().is_some(), "{context}");
        }
    }
    let list = format!(
        "/projects/{}/clusters/{}/resources/apps/v1/deployments",
        site.acme(),
        target.cluster
    );
    let page = site.get(&ada, &list).await;
    assert!(page.body.contains("data-state=\"error\""), "{}", page.body);
}

#[tokio::test]
async fn flaw_30_nothing_is_allowed_while_the_api_server_is_away() {
    // nothing listens on the discard port
    let away = |clusters: &mut Vec<portico_domain::cluster::ClusterRecord>| {
        for cluster in clusters {
            cluster.api_url = "https://127.0.0.1:9".parse().unwrap();
        }
    };
    fails_closed(Stack::open_with(away)).await;
    let site = Site::open().await;
    let ada = site.user("ada").await;
    for call in calls(&site.storefront())
        .iter()
        .filter(|call| !call.changes)
    {
        let answer = site.call(&ada, call).await;
        assert_eq!(
            answer.status, call.status,
            "the control case, {}",
            call.path
        );
    }
}
