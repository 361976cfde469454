//! 46 to 51: what the authorization webhook is made to allow, at a real API server.
use crate::lab::{Lab, eventually};
use crate::reviews::CLUSTER;
use crate::world::World;
use axum::body::Body;
use axum::http::Method;
use portico_kube_auth::policy::Policy;
use portico_runtime::metrics::Metrics;
use portico_test_support::webhook::{Webhook, closed_port, cluster};
use portico_testkit::Bearer;
use serde_json::json;
use std::time::Duration;

/// Every way into a container, to a node's kubelet or to another user's credential that a rule for
/// reading must not open.
const DANGEROUS: [(&str, &str); 6] = [
    ("GET", "/api/v1/namespaces/default/pods/x/exec?command=id"),
    ("GET", "/api/v1/namespaces/default/pods/x/attach"),
    ("GET", "/api/v1/namespaces/default/pods/x/portforward"),
    ("GET", "/api/v1/namespaces/default/pods/x/proxy/"),
    ("GET", "/api/v1/nodes/x/proxy/run/default/x/x"),
    ("POST", "/api/v1/namespaces/default/serviceaccounts/x/token"),
];

fn strict(world: &World) -> String {
    format!(
        r#"
apiVersion: kube-auth.portico.dev/v1
kind: Policy
rules:
- name: readers
  subjects: {{ roleIDs: ["{}"], projectIDs: ["{}"] }}
  resources:
  - {{ groups: [""], resources: [pods, pods/log, "pods/*", nodes, serviceaccounts], namespaces: ["*"], verbs: [get, list, create], clusterWide: true }}
"#,
        world.role, world.project
    )
}

/// The same rights in k8s-keystone-auth's words.
fn reference(world: &World) -> String {
    json!([{
        "users": {"roles": ["k8s_viewer"], "projects": [world.project]},
        "resource_permissions": {"*/['pods', 'nodes', 'serviceaccounts']": ["get", "list", "create"]},
    }])
    .to_string()
}

/// Whether authorization lets it through: what is then not found was allowed.
async fn is_allowed(bearer: &Bearer<'_>, method: &str, path: &str) -> bool {
    let (status, body) = match method {
        "GET" => bearer.get(path).await,
        _ => bearer.post(path, json!({})).await,
    }
    .unwrap();
    assert_ne!(status, 401, "{path} {body}");
    status != 403
}

#[tokio::test]
async fn attack_46_reading_opens_no_way_into_containers_and_nodes() {
    let world = World::new().await;
    let lab = Lab::start(&world, Some(&strict(&world)), &[]).await;
    let token = lab.token(&world.sign_in(&world.user("viewer").await).await);
    let cluster = lab.cluster();
    let viewer = cluster.with_token(&token);
    let log = "/api/v1/namespaces/default/pods/x/log";
    for path in [
        "/api/v1/namespaces/default/pods",
        "/api/v1/pods",
        "/api/v1/nodes",
        log,
    ] {
        assert!(is_allowed(&viewer, "GET", path).await, "{path}");
    }
    for (method, path) in DANGEROUS {
        assert!(!is_allowed(&viewer, method, path).await, "{path}");
    }
    // without the role in this project: a user without access
    let stranger = world
        .admin
        .create_user_called("stranger", &world.domain)
        .await
        .unwrap();
    let member = world.env.get("ROLE_ID_MEMBER").unwrap();
    world
        .admin
        .grant(&stranger.id, &world.project, member)
        .await
        .unwrap();
    let token = lab.token(&world.sign_in(&stranger).await);
    let stranger = cluster.with_token(&token);
    assert!(!is_allowed(&stranger, "GET", "/api/v1/namespaces/default/pods").await);

    // the reference's format decides as the reference does: these are its holes, which lint names
    std::fs::write(&lab.policy_file, reference(&world)).unwrap();
    eventually("the reference's policy opens exec", async || {
        is_allowed(&viewer, DANGEROUS[0].0, DANGEROUS[0].1).await
    })
    .await;
    for (method, path) in DANGEROUS {
        let allowed = is_allowed(&viewer, method, path).await;
        assert!(allowed, "{path}");
    }
    world.end().await;
}

#[tokio::test]
async fn attack_47_a_policy_that_cannot_be_read_changes_nothing() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).unwrap();
    let world = World::new().await;
    let bad = [
        ("", "empty"),
        ("[{", "broken"),
        ("{}", "no list"),
        (
            r#"[{"users": {"roles": ["r"]}, "resource_permision": {}}]"#,
            "an unknown field",
        ),
        (
            r#"[{"users": {"rules": ["r"]}, "resource_permissions": {}}]"#,
            "an unknown field of users",
        ),
        (
            r#"[{"resource": {"verbs": ["get"], "resources": ["pods"], "namespace": "x"}, "match": []}]"#,
            "no version",
        ),
        (
            "apiVersion: kube-auth.portico.dev/v2\nkind: Policy\nrules: []",
            "a version to come",
        ),
        (
            "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- name: all\n  subjects: {}\n  resources: [{groups: ['*'], resources: ['*'], verbs: ['*']}]",
            "all users",
        ),
    ];
    for (text, what) in bad {
        assert!(Policy::parse(text).is_err(), "{what}");
    }
    let error =
        Policy::parse("[\n  {\"users\": {\"roles\": [\"r\"]}, \"extra\": 1}\n]").unwrap_err();
    assert!(error.to_string().contains("extra"), "{error}");

    let lab = Lab::start(&world, Some(&strict(&world)), &[]).await;
    let token = lab.token(&world.sign_in(&world.user("viewer").await).await);
    let cluster = lab.cluster();
    let viewer = cluster.with_token(&token);
    let pods = "/api/v1/namespaces/default/pods";
    assert!(is_allowed(&viewer, "GET", pods).await);
    let refused = || {
        let series = r#"portico_authorization_policy_loads_total{result="refused"} "#;
        let text = metrics.render();
        let count = text.lines().find_map(|line| line.strip_prefix(series));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    for (text, what) in bad {
        let before = refused();
        std::fs::write(&lab.policy_file, text).unwrap();
        // a review makes the webhook look at its file, unless it has in the last 2 s
        eventually(what, async || {
            assert!(is_allowed(&viewer, "GET", pods).await, "{what}");
            refused() > before
        })
        .await;
        // the API server, a program of its own, uses an answer for 1 s
        tokio::time::sleep(Duration::from_millis(1100)).await;
        assert!(is_allowed(&viewer, "GET", pods).await, "{what}");
    }
    // a good one counts again
    std::fs::write(&lab.policy_file, "[]").unwrap();
    eventually("an empty policy", async || {
        !is_allowed(&viewer, "GET", pods).await
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn attack_48_lists_that_grow_by_themselves_are_named() {
    let finding = |text: &str, word: &str| {
        let findings = Policy::parse(text).unwrap().lint();
        findings
            .iter()
            .any(|finding| finding.to_string().contains(word))
    };
    let users = r#""users": {"roles": ["k8s_developer"], "projects": ["p1"]}"#;
    let negated =
        format!(r#"[{{{users}, "resource_permissions": {{"*/!['nodes', 'secrets']": ["get"]}}}}]"#);
    assert!(
        finding(&negated, "added later"),
        "{:?}",
        Policy::parse(&negated).unwrap().lint()
    );
    let named =
        format!(r#"[{{{users}, "resource_permissions": {{"shop/['configmaps']": ["get"]}}}}]"#);
    assert!(!finding(&named, "added later"));
}

#[tokio::test]
async fn attack_49_made_up_extra_gives_nothing_where_ids_decide() {
    let world = World::new().await;
    // asking takes the API server's certificate
    let record = cluster(1, &world.project, &[]);
    let mut outsider =
        Webhook::new(vec![record], &closed_port(), Duration::from_secs(1)).api_server_of(CLUSTER);
    outsider.certificate = None;
    let path = format!("/clusters/{CLUSTER}/subjectaccessreview");
    let asked = outsider.send(Method::POST, &path, "application/json", Body::from("{}"));
    assert_eq!(asked.await.status, 403);

    // a user who may impersonate extra, as a careless role would let them
    let lab = Lab::start(&world, Some(&strict(&world)), &[]).await;
    let impostor = world
        .admin
        .create_user_called("impostor", &world.domain)
        .await
        .unwrap();
    let member = world.env.get("ROLE_ID_MEMBER").unwrap();
    world
        .admin
        .grant(&impostor.id, &world.project, member)
        .await
        .unwrap();
    let token = lab.token(&world.sign_in(&impostor).await);
    let group = format!("--group=portico:user:{}", impostor.id);
    let kubectl = async |arguments: &[&str]| lab.api_server.kubectl(arguments).await.unwrap();
    kubectl(&["create", "clusterrole", "impostor", "--verb=impersonate", "--resource=users,groups,userextras.authentication.k8s.io/alpha.kubernetes.io/identity/roles"]).await;
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "impostor-extra"}, "rules": [{"apiGroups": ["authentication.k8s.io"],
        "resources": ["userextras/alpha.kubernetes.io/identity/roles", "userextras/alpha.kubernetes.io/identity/project/id"], "verbs": ["impersonate"]}]});
    let file = lab.policy_file.with_file_name("role.json");
    std::fs::write(&file, role.to_string()).unwrap();
    kubectl(&["apply", "-f", file.to_str().unwrap()]).await;
    for name in ["impostor", "impostor-extra"] {
        let role = format!("--clusterrole={name}");
        kubectl(&["create", "clusterrolebinding", name, &role, &group]).await;
    }
    let cluster = lab.cluster();
    let impostor = cluster.with_token(&token);
    let headers = [
        ("impersonate-user", "viewer@Default"),
        (
            "impersonate-extra-alpha.kubernetes.io%2Fidentity%2Froles",
            "k8s_viewer",
        ),
        (
            "impersonate-extra-alpha.kubernetes.io%2Fidentity%2Fproject%2Fid",
            &world.project,
        ),
    ];
    let pods = "/api/v1/namespaces/default/pods";
    let with_extra = async || impostor.get_with(pods, &headers).await.unwrap();
    let (status, body) = with_extra().await;
    assert_eq!(status, 403, "{body}");
    assert!(
        body["message"].as_str().unwrap().contains("viewer@Default"),
        "{body}"
    );
    // the reference looks at nothing else: there it is every role, as the guide warns
    std::fs::write(&lab.policy_file, reference(&world)).unwrap();
    eventually("the reference believes extra", async || {
        with_extra().await.0 == 200
    })
    .await;
    // the control case: who really has the role
    std::fs::write(&lab.policy_file, strict(&world)).unwrap();
    let token = lab.token(&world.sign_in(&world.user("viewer").await).await);
    let viewer = cluster.with_token(&token);
    eventually("the strict policy again", async || {
        with_extra().await.0 == 403 && is_allowed(&viewer, "GET", pods).await
    })
    .await;
    world.end().await;
}

#[tokio::test]
async fn attack_50_a_refusal_names_no_subject_and_no_rule() {
    let world = World::new().await;
    let lab = Lab::start(&world, Some(&strict(&world)), &[]).await;
    let token = lab.token(&world.sign_in(&world.user("viewer").await).await);
    let cluster = lab.cluster();
    let (status, body) = cluster
        .with_token(&token)
        .get("/api/v1/secrets")
        .await
        .unwrap();
    assert_eq!(status, 403);
    let message = body["message"].as_str().unwrap();
    assert!(
        message.contains("no rule of Portico's policy allows it"),
        "{message}"
    );
    for secret in [
        "readers",
        world.role.as_str(),
        world.project.as_str(),
        "k8s_viewer",
    ] {
        assert!(!message.contains(secret), "{message}");
    }
    world.end().await;
}

#[tokio::test]
async fn attack_51_without_kube_auth_nothing_is_allowed_that_it_would_have_to() {
    let world = World::new().await;
    let mut lab = Lab::start(&world, Some(&strict(&world)), &[]).await;
    let user = world.user("viewer").await;
    let token = lab.token(&world.sign_in(&user).await);
    let group = format!("--group=portico:user:{}", user.id);
    let arguments = [
        "create",
        "clusterrolebinding",
        "schedulers",
        "--clusterrole=system:kube-scheduler",
        &group,
    ];
    lab.api_server.kubectl(&arguments).await.unwrap();
    let cluster = lab.cluster();
    let viewer = cluster.with_token(&token);
    let (by_rbac, by_policy) = (
        "/apis/storage.k8s.io/v1/csinodes",
        "/api/v1/namespaces/default/serviceaccounts",
    );
    eventually("both allow", async || {
        is_allowed(&viewer, "GET", by_rbac).await && is_allowed(&viewer, "GET", by_policy).await
    })
    .await;
    lab.served = None;
    // the API server still knows the token for a while: what RBAC allows stays allowed
    eventually("the policy's rights have ended", async || {
        viewer.get(by_policy).await.unwrap().0 != 200
    })
    .await;
    let status = viewer.get(by_policy).await.unwrap().0;
    assert!(matches!(status, 403 | 500 | 401), "{status}");
    world.end().await;

    // newer API servers: the file that we print denies
    let program = world_program();
    let output = std::process::Command::new(program.0)
        .args([
            "kube-auth",
            "config",
            "--structured-authorization",
            "--cluster",
            &program.1,
        ])
        .env("PORTICO_CONFIG", &program.2)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("failurePolicy: Deny"), "{printed}");
}

/// The program, a cluster of the stack's and the list of the stack's configuration files.
fn world_program() -> (String, String, String) {
    let env = portico_testkit::TestEnv::load().unwrap();
    let get = |name: &str| env.get(name).unwrap().to_owned();
    (get("PORTICO_BIN"), get("CLUSTER_ID"), get("PORTICO_CONFIG"))
}
