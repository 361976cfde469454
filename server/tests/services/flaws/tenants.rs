//! 2, 20, 21, 26: what belongs to others, and what belongs in no answer at all.
use super::{
    calls::{Call, Target, calls, object, query_of},
    site::{Answer, Site},
};
use crate::{
    stack::{CSRF, PUBLIC_URL},
    tab::{Socket, connect_with},
};
use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::{SinkExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use portico_test_support::log::Log;
use portico_testkit::TestEnv;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use tokio_tungstenite::tungstenite;
use uuid::Uuid;

/// A tab's requests: a live list, an object and a log.
fn subscriptions(target: &Target) -> [Value; 3] {
    let (cluster, namespace, name) = (&target.cluster, &target.namespace, &target.name);
    let query = query_of("apps", "deployments", &[namespace], name);
    [
        json!({ "watch": { "id": 1, "cluster": cluster, "view": { "turn": 1, "query": query, "range": { "offset": 0, "limit": 50 },
                "is_paused": false } } }),
        json!({ "object": { "id": 2, "cluster": cluster,
            "object": object("apps", "deployments", Some(namespace), name) } }),
        json!({ "logs": { "id": 3, "cluster": cluster, "query": { "namespace": namespace,
            "pod": name, "container": "c", "previous": false, "follow": false,
            "timestamps": false, "tail": 20 } } }),
    ]
}

async fn tab(site: &Site, user: &HeaderMap) -> Socket {
    let path = format!("/projects/{}/stream", site.acme());
    connect_with(user.clone(), &site.address, &path, PUBLIC_URL)
        .await
        .unwrap()
}

/// What a tab hears of its subscriptions within some seconds.
async fn heard(site: &Site, user: &HeaderMap, target: &Target) -> Vec<String> {
    let mut socket = tab(site, user).await;
    for request in subscriptions(target) {
        let text = tungstenite::Message::Text(request.to_string().into());
        socket.send(text).await.unwrap();
    }
    let mut texts = Vec::new();
    let hearing = async {
        while let Some(Ok(frame)) = socket.next().await {
            if let tungstenite::Message::Text(text) = frame {
                texts.push(text.to_string());
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(3), hearing).await;
    texts
}

#[tokio::test]
async fn flaw_02_no_answer_for_one_user_is_served_to_another() {
    let site = Site::open().await;
    let hidden = site.hidden_deployment().await;
    let target = &hidden.target;
    let reading = || calls(target).into_iter().filter(|call| !call.changes);
    let mut shown = BTreeSet::new();
    let mut pages = site.pages(&target.cluster, "kube-system", "configmaps", "none");
    let list = format!(
        "/projects/{}/clusters/{}/resources/apps/v1/deployments?namespace=kube-system",
        site.acme(),
        target.cluster
    );
    pages.push(list.clone());
    let ada = site.user("ada").await;
    for call in reading() {
        if site.call(&ada, &call).await.body.contains(&target.uid) {
            shown.insert(call.path);
        }
    }
    for path in [
        "/api/resources/list",
        "/api/objects/get",
        "/api/objects/yaml",
    ] {
        assert!(
            shown.contains(path),
            "the control case: {path} in {shown:?}"
        );
    }
    assert!(
        site.get(&ada, &list).await.body.contains(&target.name),
        "the control case"
    );
    let texts = heard(&site, &ada, target).await;
    assert!(
        texts.iter().any(|text| text.contains(&target.uid)),
        "the control case: {texts:?}"
    );
    // a watch of ada's is open while the others ask
    let _open = tab(&site, &ada).await;
    for user in ["vera", "devi", "nora"] {
        let user_headers = site.user(user).await;
        for call in reading() {
            let answer = site.call(&user_headers, &call).await;
            assert!(
                !answer.body.contains(&target.uid),
                "{user} {}: {}",
                call.path,
                answer.body
            );
        }
        for path in &pages {
            let answer = site.get(&user_headers, path).await;
            assert!(!answer.body.contains(&target.uid), "{user} {path}");
        }
        let list = site.get(&user_headers, &list).await;
        assert!(!list.body.contains(&target.name), "{user}");
        let texts = heard(&site, &user_headers, target).await;
        assert!(
            !texts.iter().any(|text| text.contains(&target.uid)),
            "{user}: {texts:?}"
        );
        for call in reading() {
            let answer = site.call(&HeaderMap::new(), &call).await;
            assert_eq!(answer.status, 401, "{}", call.path);
        }
    }
    hidden.done().await;
}

/// What an answer says, apart from which cluster it is about.
fn comparable(answer: &Answer, cluster: &str) -> (u16, String) {
    (answer.status, answer.body.replace(cluster, "CLUSTER"))
}

#[tokio::test]
async fn flaw_26_another_tenants_cluster_and_a_missing_one_give_the_same_answer() {
    let site = Site::open().await;
    let foreign = site.stack.var("CLUSTER2_ID").to_owned();
    let missing = Uuid::new_v4().to_string();
    let at = |cluster: &str| Target {
        cluster: cluster.to_owned(),
        ..site.storefront()
    };
    for user in ["ada", "nora"] {
        let headers = site.user(user).await;
        let pairs = calls(&at(&foreign)).into_iter().zip(calls(&at(&missing)));
        for (there, nowhere) in pairs {
            let (one, two) = (
                site.call(&headers, &there).await,
                site.call(&headers, &nowhere).await,
            );
            let names_a_cluster = format!("{:?}", there.body).contains(&foreign);
            if !names_a_cluster {
                continue;
            }
            assert_eq!(
                comparable(&one, &foreign),
                comparable(&two, &missing),
                "{user} {}",
                there.path
            );
            let is_nothing = one.status >= 400 || one.body == "[]";
            assert!(is_nothing, "{user} {}: {}", there.path, one.body);
        }
        let [_, exec, kubeconfig] = site.streams(site.acme(), &foreign);
        let [_, no_exec, no_kubeconfig] = site.streams(site.acme(), &missing);
        assert_eq!(
            comparable(&site.get(&headers, &kubeconfig).await, &foreign),
            comparable(&site.get(&headers, &no_kubeconfig).await, &missing)
        );
        let mut ends = Vec::new();
        for path in [exec, no_exec] {
            let mut socket = connect_with(headers.clone(), &site.address, &path, PUBLIC_URL)
                .await
                .unwrap();
            let end = socket.next().await.unwrap().unwrap();
            ends.push(end.to_text().unwrap().to_owned());
        }
        assert_eq!(ends[0], ends[1]);
        assert!(ends[0].contains("ended"), "{ends:?}");
        let (one, two) = (
            heard(&site, &headers, &at(&foreign)).await,
            heard(&site, &headers, &at(&missing)).await,
        );
        let sorted = |texts: Vec<String>| -> BTreeSet<String> {
            texts
                .into_iter()
                .filter(|text| !text.contains("ping"))
                .collect()
        };
        assert_eq!(sorted(one.clone()), sorted(two));
        let ended = one.iter().filter(|text| text.contains("ended"));
        assert!(ended.count() >= 2, "{one:?}");
        let pages = |cluster: &str| site.pages(cluster, "shop", "pods", "any");
        for (there, nowhere) in pages(&foreign).into_iter().zip(pages(&missing)) {
            let (one, two) = (
                site.get(&headers, &there).await,
                site.get(&headers, &nowhere).await,
            );
            assert_eq!(one.status, two.status, "{user} {there}");
            for name in ["globex-dev", site.stack.var("KUBE2_API_URL")] {
                assert!(!one.body.contains(name), "{user} {there}: {name}");
            }
        }
    }
    let ada = site.user("ada").await;
    let own = calls(&site.storefront());
    for call in own.iter().filter(|call| !call.changes) {
        let answer = site.call(&ada, call).await;
        assert_eq!(
            answer.status, call.status,
            "the control case, {}",
            call.path
        );
    }
}

/// Every line of private keys, and every token, of the stack's own files.
fn operators_secrets() -> Vec<String> {
    let installation = TestEnv::load().unwrap().installation();
    let mut found = Vec::new();
    for directory in ["keys", "clusters/acme-prod", "tls"] {
        let Ok(files) = std::fs::read_dir(installation.join(directory)) else {
            continue;
        };
        for file in files {
            let path = file.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if ![".key", ".pem", ".token"]
                .iter()
                .any(|end| name.ends_with(end))
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines = text.lines().filter(|line| !line.contains("certificate"));
            let words = lines.flat_map(str::split_whitespace);
            found.extend(words.filter(|word| word.len() > 40).map(str::to_owned));
        }
    }
    assert!(found.len() > 2, "no key in {}", installation.display());
    found
}

#[tokio::test]
async fn flaw_21_no_answer_to_a_member_holds_a_credential() {
    let site = Site::open().await;
    let own = site.stack.namespace("canary").await;
    let value = format!("canary-{}", Uuid::new_v4());
    let secrets = Api::<Secret>::namespaced(own.client.clone(), &own.name);
    let manifest = json!({ "metadata": { "name": "database" },
        "stringData": { "password": value } });
    let mut applied = manifest.clone();
    applied["metadata"]["annotations"] = json!({
        "kubectl.kubernetes.io/last-applied-configuration": manifest.to_string() });
    secrets
        .create(
            &Default::default(),
            &serde_json::from_value(applied).unwrap(),
        )
        .await
        .unwrap();
    own.pod("waits").await;
    let mut wanted = operators_secrets();
    wanted.push(value.clone());
    wanted.push(STANDARD.encode(&value));
    // a service account's token, where the cluster makes one
    for secret in secrets.list(&Default::default()).await.unwrap() {
        for (name, bytes) in secret.data.unwrap_or_default() {
            if name == "token" {
                wanted.push(String::from_utf8(bytes.0).unwrap());
            }
        }
    }
    let cluster = site.stack.acme().to_string();
    let reference = object("", "secrets", Some(&own.name), "database");
    let in_cluster = |body: Value| json!({ "cluster": cluster, "object": body });
    for user in ["vera", "devi", "ada"] {
        let headers = site.user(user).await;
        let mut answers = Vec::new();
        for path in [
            site.pages(&cluster, &own.name, "secrets", "database"),
            site.pages(&cluster, &own.name, "pods", "waits"),
            vec![format!(
                "/projects/{}/clusters/{cluster}/kubeconfig",
                site.acme()
            )],
        ]
        .concat()
        {
            answers.push((path.clone(), site.get(&headers, &path).await));
        }
        for path in [
            "/api/objects/get",
            "/api/objects/yaml",
            "/api/objects/events",
        ] {
            let answer = site
                .post(&headers, path, in_cluster(reference.clone()))
                .await;
            answers.push((path.to_owned(), answer));
        }
        let secrets_query = query_of("", "secrets", &[&own.name], "");
        for path in [
            "/api/resources/list",
            "/api/resources/select",
            "/api/resources/labels",
        ] {
            let body = json!({ "cluster": cluster, "query": secrets_query, "typed": "",
                "range": { "offset": 0, "limit": 50 } });
            answers.push((path.to_owned(), site.post(&headers, path, body).await));
        }
        for call in calls(&site.storefront())
            .iter()
            .filter(|call| !call.changes)
        {
            answers.push((call.path.to_owned(), site.call(&headers, call).await));
        }
        for (path, answer) in &answers {
            let everything = answer.everything();
            for secret in &wanted {
                assert!(
                    !everything.contains(secret.as_str()),
                    "{user} {path} holds a secret"
                );
            }
            assert!(
                !everything.contains("portico_v1."),
                "{user} {path} holds a cluster token"
            );
        }
        if user == "ada" {
            let named = answers
                .iter()
                .filter(|(_, answer)| answer.body.contains("database"));
            assert!(named.count() > 4, "the control case: the Secret is there");
        }
    }
    own.done().await;
}

#[tokio::test]
async fn flaw_20_no_secret_of_a_request_is_in_the_log_or_in_a_metric() {
    let log = Log::start();
    let site = Site::open().await;
    let own = site.stack.namespace("log").await;
    let value = format!("canary-{}", Uuid::new_v4());
    let secret = json!({ "metadata": { "name": "database" }, "stringData": { "password": value } });
    Api::<Secret>::namespaced(own.client.clone(), &own.name)
        .create(
            &Default::default(),
            &serde_json::from_value(secret).unwrap(),
        )
        .await
        .unwrap();
    let ada = site.user("ada").await;
    let caller = site.stack.admit(&ada);
    let token = caller.token().unwrap().token.expose_secret().to_owned();
    let typed = format!("typed-{}", Uuid::new_v4());
    let cluster = site.stack.acme().to_string();
    let target = Target {
        namespace: own.name.clone(),
        ..site.storefront()
    };
    for call in calls(&target) {
        site.call(&ada, &call).await;
    }
    let about = json!({ "cluster": cluster,
        "object": object("", "secrets", Some(&own.name), "database") });
    let shown = site.post(&ada, "/api/objects/yaml", about).await;
    assert_eq!(shown.status, 200, "{}", shown.body);
    let delete = Call {
        path: "/api/objects/delete",
        body: super::calls::Body::Form(
            [
                ("cluster", cluster.as_str()),
                ("object[version]", "v1"),
                ("object[plural]", "namespaces"),
                ("object[name]", "kube-system"),
                ("uid", "none"),
                ("typed", &typed),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ),
        changes: true,
        status: 200,
    };
    let refused = site.call(&ada, &delete).await;
    assert!(
        refused.status >= 400 && !refused.body.contains(&typed),
        "{}",
        refused.body
    );
    heard(&site, &ada, &target).await;
    let text = log.text();
    for (what, secret) in [
        ("the assertion", ada["portico-assertion"].to_str().unwrap()),
        ("the sealed token", ada["portico-token"].to_str().unwrap()),
        ("the Keystone token", &token),
        ("the CSRF token", CSRF),
        ("a Secret's value", &value),
        ("a Secret's value", &STANDARD.encode(&value)),
        ("what was typed", &typed),
        ("a cluster token", "portico_v1."),
    ] {
        let line = text.lines().find(|line| line.contains(secret));
        let place = line.map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
        assert!(
            place.is_none(),
            "{what} in a line of {}",
            place.unwrap()["target"]
        );
    }
    assert!(
        log.audited().iter().any(|line| line["action"] == "yaml"),
        "the control case: the log was captured"
    );
    let metrics = reqwest::get(format!("{}/metrics", site.stack.var("PORTICO_ADMIN_URL")))
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(metrics.contains("portico_"), "the control case");
    for label in [own.name.as_str(), "storefront", "gAAAA", "portico_v1."] {
        assert!(!metrics.contains(label), "{label} is a metric's label");
    }
    own.done().await;
}
