//! A policy in a ConfigMap of the real cluster, read by an account that may read nothing else.
use crate::account;
use crate::{own_namespace::OwnNamespace, stack::Stack};
use k8s_openapi::api::{
    core::v1::ConfigMap,
    rbac::v1::{Role, RoleBinding},
};
use kube::{Api, api::Patch};
use portico_assertion::PrivateKey;
use portico_clock::Clock;
use portico_domain::cluster::ClusterRecord;
use portico_kube_auth::policy::{Attributes, Policy, ResourceAttributes, Target, User, extra};
use portico_kube_auth::{KubeAuth, KubeAuthConfig, service};
use portico_openstack::{KeystoneConfig, keystone::Client};
use portico_runtime::metrics::Metrics;
use portico_test_support::time::eventually;
use serde_json::{Value, json};
use server::kube::policy_config_map::PolicyWatch;
use std::{path::PathBuf, sync::Arc, time::Duration};
use uuid::Uuid;

const NAME: &str = "k8s-auth-policy";
const MAGNUMS: &str = include_str!("data/magnum-policy.json");

/// An account that may read one ConfigMap; returns its kubeconfig.
async fn reader(stack: &Stack, own: &OwnNamespace) -> String {
    let kubeconfig = account::kubeconfig(stack, own, "policy-reader").await;
    let post = Default::default();
    let role = json!({ "metadata": { "name": "policy-reader" }, "rules": [{
        "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [NAME],
        "verbs": ["get", "list", "watch"],
    }]});
    Api::<Role>::namespaced(own.client.clone(), &own.name)
        .create(&post, &serde_json::from_value(role).unwrap())
        .await
        .unwrap();
    let binding = json!({ "metadata": { "name": "policy-reader" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "policy-reader" },
        "subjects": [account::subject(own, "policy-reader")] });
    Api::<RoleBinding>::namespaced(own.client.clone(), &own.name)
        .create(&post, &serde_json::from_value(binding).unwrap())
        .await
        .unwrap();
    kubeconfig
}

fn kube_auth(stack: &Stack, record: ClusterRecord, directory: &tempfile::TempDir) -> KubeAuth {
    let key = directory.path().join("kube-auth.key");
    PrivateKey::generate().write_new(&key).unwrap();
    let unused = || PathBuf::from("unused");
    let config = KubeAuthConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls_cert_file: unused(),
        tls_key_file: unused(),
        client_ca_file: unused(),
        key_files: vec![key],
        cache_ttl: Duration::from_secs(10),
        ask_with_service_account: false,
        keystone_calls_per_second: 200.try_into().unwrap(),
        cluster_list: None,
    };
    let keystone = KeystoneConfig::new(stack.var("KEYSTONE_URL").parse().unwrap());
    service(
        &config,
        [record],
        Client::new(&keystone, Clock::system()).unwrap(),
        Clock::system(),
    )
    .unwrap()
}

/// The policy once it has this many rules.
async fn with_rules(service: &KubeAuth, cluster: Uuid, rules: usize) -> Arc<Policy> {
    for _ in 0..100 {
        match service.policy(cluster) {
            Some(policy) if policy.len() == rules => return policy,
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    panic!("no policy of {rules} rules within 10 s");
}

/// Returns how many versions of the ConfigMap had no valid policy.
fn versions_without_policy(metrics: &Metrics) -> u64 {
    let text = metrics.render();
    let counts = ["missing", "refused"].map(|result| {
        let series = format!("portico_authorization_policy_loads_total{{result=\"{result}\"}} ");
        let count = text.lines().find_map(|line| line.strip_prefix(&series));
        count.map_or(0, |count| count.parse::<u64>().unwrap())
    });
    counts.iter().sum()
}

fn may(
    policy: &Policy,
    role: &str,
    project: &str,
    verb: &str,
    what: &str,
    namespace: &str,
) -> bool {
    let mut user = User {
        name: "vera@Default".to_owned(),
        ..User::default()
    };
    user.extra
        .insert(extra::ROLES.to_owned(), vec![role.to_owned()]);
    user.extra
        .insert(extra::PROJECT_ID.to_owned(), vec![project.to_owned()]);
    let attributes = Attributes {
        user,
        verb: verb.to_owned(),
        target: Target::Resource(ResourceAttributes {
            namespace: namespace.to_owned(),
            ..ResourceAttributes::parse(what)
        }),
    };
    policy.decide(&attributes).allowed()
}

#[tokio::test]
async fn magnums_config_map_is_followed_and_the_last_good_version_stays() {
    let metrics = Metrics::install(jiff::Timestamp::UNIX_EPOCH).unwrap();
    let stack = Stack::open();
    let own = stack.namespace("policy").await;
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("policy.kubeconfig");
    std::fs::write(&kubeconfig, reader(&stack, &own).await).unwrap();
    let project = stack.var("PROJECT_ID_ACME").to_owned();
    let record: ClusterRecord = serde_json::from_value(json!({
        "id": stack.acme(), "name": "acme-prod", "owner_project": project,
        "api_url": stack.var("KUBE_API_URL"), "sealing_key_file": "unused",
        "authorization_policy_config_map":
            { "kubeconfig_file": kubeconfig, "namespace": own.name },
    }))
    .unwrap();
    let source = record.authorization_policy_config_map.clone().unwrap();
    assert_eq!(
        (source.name.as_str(), source.key.as_str()),
        (NAME, "policies")
    );
    let service = kube_auth(&stack, record, &directory);
    let watch = PolicyWatch::new(stack.acme(), source.clone())
        .await
        .unwrap();
    let task = tokio::spawn(watch.run(service.clone()));

    // the account reads this one ConfigMap and nothing else
    let limited = portico_cluster_sync::reconcile::connect(&kubeconfig)
        .await
        .unwrap();
    let others = Api::<ConfigMap>::namespaced(limited, &own.name);
    assert!(others.list(&Default::default()).await.is_err());

    // there is no policy before there is a ConfigMap
    eventually("no ConfigMap is found", async || {
        versions_without_policy(&metrics) > 0
    })
    .await;
    assert!(service.policy(stack.acme()).is_none());
    let maps = Api::<ConfigMap>::namespaced(own.client.clone(), &own.name);
    let text = MAGNUMS.replace("$PROJECT_ID", &project);
    let map: ConfigMap = serde_json::from_value(
        json!({ "metadata": { "name": NAME }, "data": { "policies": text } }),
    )
    .unwrap();
    maps.create(&Default::default(), &map).await.unwrap();
    let policy = with_rules(&service, stack.acme(), 3).await;
    for (role, of, verb, what, namespace, allowed) in [
        (
            "k8s_admin",
            project.as_str(),
            "delete",
            "secrets",
            "kube-system",
            true,
        ),
        (
            "k8s_developer",
            &project,
            "create",
            "deployments.apps",
            "shop",
            true,
        ),
        (
            "k8s_developer",
            &project,
            "create",
            "deployments.apps",
            "kube-system",
            false,
        ),
        ("k8s_viewer", &project, "list", "pods", "shop", true),
        ("k8s_viewer", &project, "delete", "pods", "shop", false),
        ("k8s_viewer", "another", "list", "pods", "shop", false),
        ("member", &project, "list", "pods", "shop", false),
    ] {
        let found = may(&policy, role, of, verb, what, namespace);
        assert_eq!(
            found, allowed,
            "{role} of {of}: {verb} {what} in {namespace}"
        );
    }

    // what it opens by accident is named
    let found = policy.lint();
    for (rule, hole) in [
        (2, "pods/exec"),
        (2, "nodes/proxy"),
        (3, "get pods/exec"),
        (3, "get secrets"),
        (3, "nodes/proxy"),
    ] {
        assert!(
            found
                .iter()
                .any(|one| one.rule == rule && one.message.contains(hole)),
            "{hole} of rule {rule} in {found:?}"
        );
    }

    // broken, without the key, deleted: the last good one stays
    let change = async |data: Value| {
        let before = versions_without_policy(&metrics);
        let patch = json!({ "data": data });
        maps.patch(NAME, &Default::default(), &Patch::Merge(patch))
            .await
            .unwrap();
        eventually("the version is read", async || {
            versions_without_policy(&metrics) > before
        })
        .await;
        service.policy(stack.acme()).map(|policy| policy.len())
    };
    assert_eq!(change(json!({ "policies": "[{" })).await, Some(3));
    let hostile = "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules: ";
    for rules in ["[".repeat(200_000), format!("[{}*a]", "&a ".repeat(2))] {
        let text = format!("{hostile}{rules}");
        assert_eq!(change(json!({ "policies": text })).await, Some(3));
    }
    assert_eq!(
        change(json!({ "policies": null, "other": "[]" })).await,
        Some(3)
    );
    let before = versions_without_policy(&metrics);
    maps.delete(NAME, &Default::default()).await.unwrap();
    eventually("the deletion is known", async || {
        versions_without_policy(&metrics) > before
    })
    .await;
    assert_eq!(service.policy(stack.acme()).unwrap().len(), 3);
    // and a good one counts again
    let mut map = map;
    map.data
        .as_mut()
        .unwrap()
        .insert("policies".to_owned(), "[]".to_owned());
    maps.create(&Default::default(), &map).await.unwrap();
    let empty = with_rules(&service, stack.acme(), 0).await;
    assert!(!may(&empty, "k8s_admin", &project, "get", "pods", "shop"));
    task.abort();
    own.done().await;
}
