//! 1 to 12: which user another one is made to look like.
use crate::lab::eventually;
use crate::reviews::{CLUSTER, review_of, until, webhook_at};
use crate::stand_in::{StandIn, token};
use crate::world::{TTL, World, role_called};
use portico_test_support::log::Log;
use portico_test_support::webhook::{Webhook, cluster};
use portico_testkit::{Cluster, Kubectl, TestDomain};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// Ways to write the group that may do everything. Keystone itself cuts spaces around names.
const MASTERS: [&str; 5] = [
    "system:masters",
    "System:Masters",
    "\u{200b}system:masters",
    "ｓｙｓｔｅｍ：ｍａｓｔｅｒｓ",
    "system:system:masters",
];

#[tokio::test]
async fn attack_01_no_group_or_role_of_keystones_becomes_a_reserved_group() {
    let world = World::new().await;
    let user = world.user("mallory").await;
    let mut roles = BTreeSet::from([world.role.clone()]);
    let acme = world.env.get("PROJECT_ID_ACME").unwrap().to_owned();
    for name in MASTERS {
        let group = json!({ "group": { "name": name, "domain_id": world.domain.id } });
        let group = world.admin.post("/groups", group).await.unwrap();
        let id = group["group"]["id"].as_str().unwrap();
        let path = format!("/groups/{id}/users/{}", user.id);
        world.admin.put(&path).await.unwrap();
        let role = role_called(&world.admin, name).await;
        for project in [&world.project, &acme] {
            world.admin.grant(&user.id, project, &role).await.unwrap();
        }
        roles.insert(role);
    }
    let reply = world.review(&world.sign_in(&user).await).await;
    reply.assert_authenticated("mallory");
    let project = &world.project;
    let mut expected = BTreeSet::from([
        format!("portico:user:{}", user.id),
        format!("portico:project:{project}"),
    ]);
    for role in &roles {
        expected.insert(role.clone());
        expected.insert(format!("portico:project:{project}:role:{role}"));
    }
    assert_eq!(reply.groups(), expected);

    // at the real API server they are a viewer and nothing else
    let (cluster, _, token) = world.at_the_real_cluster(&user).await;
    let mallory = cluster.with_token(&token);
    let get = async |path| mallory.get(path).await.unwrap().0;
    assert_eq!(get("/api/v1/namespaces/shop/pods").await, 200);
    assert_eq!(get("/api/v1/namespaces/kube-system/secrets").await, 403);
    assert_eq!(get("/api/v1/secrets").await, 403);
    world.end().await;
}

#[tokio::test]
async fn attack_02_a_user_named_like_kubernetes_own_is_not_authenticated() {
    let world = World::new().await;
    for name in [
        "system:kube-scheduler",
        "system:node:n1",
        "system:serviceaccount:kube-system:default",
        "System:Admin",
        "SYSTEM:apiserver",
    ] {
        let user = world.user(name).await;
        let reply = world.review(&world.sign_in(&user).await).await;
        reply.assert_refused(name);
        let (cluster, _, token) = world.at_the_real_cluster(&user).await;
        assert!(
            !cluster.with_token(&token).is_known().await.unwrap(),
            "{name}"
        );
    }
    let user = world.user("systematic").await;
    let reply = world.review(&world.sign_in(&user).await).await;
    assert_eq!(
        reply.username(),
        format!("systematic@{}", world.domain.name)
    );
    let (cluster, _, token) = world.at_the_real_cluster(&user).await;
    assert!(cluster.with_token(&token).is_known().await.unwrap());
    world.end().await;
}

/// Binds a subject to a role of Kubernetes' own that no tenant has.
async fn bind_to_drivers(kubectl: &Kubectl, name: &str, subject: &str) {
    let role = "--clusterrole=system:kube-scheduler";
    let arguments = ["create", "clusterrolebinding", name, role, subject];
    kubectl.run(&arguments).await.unwrap();
}

/// The status of a request that the role allows.
async fn list_drivers(cluster: &Cluster, token: &str) -> u16 {
    let path = "/apis/storage.k8s.io/v1/csinodes";
    cluster.with_token(token).get(path).await.unwrap().0
}

#[tokio::test]
async fn attack_03_the_same_name_in_another_domain_is_another_user() {
    let world = World::new().await;
    let elsewhere = world.admin.create_domain("attack").await.unwrap();
    let own = world.user("alice").await;
    let other = world.admin.create_user_called("alice", &elsewhere).await;
    let other = other.unwrap();
    let granted = world.admin.grant(&other.id, &world.project, &world.role);
    granted.await.unwrap();
    let mut seen = Vec::new();
    for user in [&own, &other] {
        let reply = world.review(&world.sign_in(user).await).await;
        seen.push((reply.username(), reply.user()["uid"].clone()));
    }
    assert_ne!(seen[0].0, seen[1].0);
    assert_ne!(seen[0].1, seen[1].1);

    // a binding for one by name, which no administrator should make, does not work for the other
    let kubectl = Kubectl::admin(&world.env).unwrap();
    let name = format!("attack-{}", own.id);
    let user = format!("--user={}", seen[0].0);
    bind_to_drivers(&kubectl, &name, &user).await;
    let (cluster, _, own_token) = world.at_the_real_cluster(&own).await;
    let (_, _, other_token) = world.at_the_real_cluster(&other).await;
    let drivers = async |token: &str| list_drivers(&cluster, token).await;
    eventually("the binding", async || drivers(&own_token).await == 200).await;
    let of_other = drivers(&other_token).await;
    kubectl
        .run(&["delete", "clusterrolebinding", &name])
        .await
        .unwrap();
    assert_eq!(of_other, 403);
    world.admin.delete_domain(&elsewhere).await.unwrap();
    world.end().await;
}

#[tokio::test]
async fn attack_04_no_separator_makes_two_users_one() {
    let world = World::new().await;
    let unique = &world.domain.name;
    let mut usernames = HashSet::new();
    let mut domains = Vec::new();
    for domain in [
        unique.clone() + "a",
        format!("{unique}a@b"),
        format!("b@{unique}a"),
        format!("{unique}%40"),
    ] {
        let body = json!({ "domain": { "name": domain } });
        let made = world.admin.post("/domains", body).await.unwrap();
        let id = made["domain"]["id"].as_str().unwrap().to_owned();
        let domain = TestDomain { id, name: domain };
        for name in [
            "bob".to_owned(),
            format!("bob@{unique}a"),
            "bob@b".to_owned(),
            "bob%40b".to_owned(),
            "bob@".to_owned(),
        ] {
            let user = world
                .admin
                .create_user_called(&name, &domain)
                .await
                .unwrap();
            let granted = world.admin.grant(&user.id, &world.project, &world.role);
            granted.await.unwrap();
            let username = world.review(&world.sign_in(&user).await).await.username();
            assert_eq!(username.matches('@').count(), 1, "{username}");
            assert!(usernames.insert(username.clone()), "{username} twice");
        }
        domains.push(domain);
    }
    assert_eq!(usernames.len(), 20);
    for domain in &domains {
        world.admin.delete_domain(domain).await.unwrap();
    }
    world.end().await;
}

#[tokio::test]
async fn attack_05_names_with_control_characters_are_refused_and_forge_no_log_line() {
    let world = World::new().await;
    let names = [
        "line\nbreak decision=authenticated",
        "return\rcarriage",
        "escape\u{1b}[2J",
        "rtl\u{202e}gnp",
        "separator\u{2028}x",
        "delete\u{7f}",
    ];
    let mut tokens = Vec::new();
    for name in names {
        tokens.push(world.sign_in(&world.user(name).await).await);
    }
    let log = Log::start();
    for (name, issued) in names.iter().zip(&tokens) {
        world.review(issued).await.assert_refused(name);
    }
    // reads every line as JSON
    let decisions = log.audited();
    assert_eq!(decisions.len(), names.len());
    for decision in decisions {
        assert_eq!(decision["decision"], "refused");
        assert_eq!(decision["reason"], "an empty or unprintable name or ID");
    }
    let plain = world.user("line break").await;
    let reply = world.review(&world.sign_in(&plain).await).await;
    reply.assert_authenticated("a space");
    world.end().await;
}

#[tokio::test]
async fn attack_06_homoglyphs_are_never_equal() {
    let world = World::new().await;
    let mut usernames = HashSet::new();
    let names = [
        "alice",
        "аlice",
        "ALICE",
        "alice\u{a0}x",
        "alice\u{200b}",
        "ａlice",
        "alicé",
        "alice\u{301}",
    ];
    for name in names {
        let user = world.user(name).await;
        let reply = world.review(&world.sign_in(&user).await).await;
        reply.assert_authenticated(name);
        assert!(usernames.insert(reply.username()), "{name}");
        assert_eq!(reply.user()["uid"], user.id);
    }
    let alice = format!("alice@{}", world.domain.name);
    assert!(usernames.contains(&alice));
    world.end().await;
}

#[tokio::test]
async fn attack_07_a_new_name_changes_no_rights() {
    let world = World::new().await;
    let user = world.user("carol").await;
    let issued = world.sign_in(&user).await;
    let before = world.review(&issued).await;
    let rename = json!({ "user": { "name": "admin" } });
    world
        .admin
        .patch(&format!("/users/{}", user.id), rename)
        .await
        .unwrap();
    let rename = json!({ "project": { "name": "bank" } });
    let path = format!("/projects/{}", world.project);
    world.admin.patch(&path, rename).await.unwrap();
    // the cache has a clock of its own
    tokio::time::sleep(TTL).await;
    let after = world.review(&issued).await;
    let anew = world.review(&world.sign_in(&user).await).await;
    for reply in [&after, &anew] {
        reply.assert_authenticated("carol");
        assert_eq!(reply.groups(), before.groups());
        assert_eq!(reply.user()["uid"], before.user()["uid"]);
    }
    assert_eq!(anew.username(), format!("admin@{}", world.domain.name));
    let name = &anew.user()["extra"]["portico.dev/project-name"];
    assert_eq!(name, &json!(["bank"]));
    world.end().await;
}

#[tokio::test]
async fn attack_08_recreated_user_gets_no_old_rights() {
    let world = World::new().await;
    let old = world.user("dave").await;
    let (cluster, _, old_token) = world.at_the_real_cluster(&old).await;
    // what the panel binds when an administrator grants rights to this user
    let kubectl = Kubectl::admin(&world.env).unwrap();
    let name = format!("attack-{}", old.id);
    let group = format!("--group=portico:user:{}", old.id);
    bind_to_drivers(&kubectl, &name, &group).await;
    let drivers = async |token: &str| list_drivers(&cluster, token).await;
    eventually("the binding", async || drivers(&old_token).await == 200).await;

    world.admin.delete_user(&old.id).await.unwrap();
    let new = world.user("dave").await;
    assert_ne!(new.id, old.id);
    let (_, _, new_token) = world.at_the_real_cluster(&new).await;
    let new_user = cluster.with_token(&new_token);
    let shop = new_user.get("/api/v1/namespaces/shop/pods").await;
    let shop = shop.unwrap().0;
    let of_new = drivers(&new_token).await;
    kubectl
        .run(&["delete", "clusterrolebinding", &name])
        .await
        .unwrap();
    assert_eq!((shop, of_new), (200, 403));
    // and the old token dies within the stated bound
    let deleted = Instant::now();
    while drivers(&old_token).await != 401 {
        assert!(deleted.elapsed() < Duration::from_secs(50));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    world.end().await;
}

#[tokio::test]
async fn attack_09_a_project_named_like_the_id_of_another_is_not_that_project() {
    let world = World::new().await;
    let elsewhere = world.admin.create_domain("attack").await.unwrap();
    let created = world
        .admin
        .create_project_called(&world.project, &elsewhere);
    let impostor = created.await.unwrap();
    let user = world.user("erin").await;
    let granted = world.admin.grant(&user.id, &impostor, &world.role);
    granted.await.unwrap();
    let own = world.review(&world.sign_in(&user).await).await;
    own.assert_authenticated("the project itself");
    let other = world.sign_in_to(&user, &impostor).await;
    let project = other.details.identity.project.as_ref().unwrap();
    assert_eq!(project.name, world.project);
    world.review(&other).await.assert_refused("the impostor");
    world.admin.delete_domain(&elsewhere).await.unwrap();
    world.end().await;
}

/// A real Keystone never gives these answers; one with a broken back end might.
#[tokio::test]
async fn attack_10_an_empty_identity_is_not_authenticated() {
    for pointer in [
        "/token/user/id",
        "/token/user/name",
        "/token/user/domain/id",
        "/token/user/domain/name",
        "/token/project/id",
        "/token/project/name",
        "/token/roles/0/id",
    ] {
        let mut empty = token();
        *empty.pointer_mut(pointer).unwrap() = json!("");
        let keystone = StandIn::saying(200, empty).await;
        let reply = review_of(&webhook_at(keystone.url()), "gAAAA-empty").await;
        reply.assert_refused(pointer);

        let mut missing = token();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = missing.pointer_mut(parent).unwrap();
        parent.as_object_mut().unwrap().remove(name);
        let keystone = StandIn::saying(200, missing).await;
        let reply = review_of(&webhook_at(keystone.url()), "gAAAA-missing").await;
        reply.assert_undecided(pointer);
    }
    let mut without_roles = token();
    without_roles["token"]["roles"] = json!([]);
    let keystone = StandIn::saying(200, without_roles).await;
    let reply = review_of(&webhook_at(keystone.url()), "gAAAA-roles").await;
    reply.assert_refused("no roles");
    let keystone = StandIn::saying(200, token()).await;
    let reply = review_of(&webhook_at(keystone.url()), "gAAAA-whole").await;
    assert_eq!(reply.username(), "ada@Default");
}

#[tokio::test]
async fn attack_11_names_cannot_break_out_of_the_answer() {
    let world = World::new().await;
    let user = world
        .user("quote\",\"groups\":[\"system:masters\"],\"x\":\"")
        .await;
    let names = [
        "comma,system:masters",
        "\"],\"system:masters",
        "back\\slash",
        "{\"a\":1}",
    ];
    for name in names {
        let role = role_called(&world.admin, name).await;
        let granted = world.admin.grant(&user.id, &world.project, &role);
        granted.await.unwrap();
    }
    let reply = world.review(&world.sign_in(&user).await).await;
    reply.assert_authenticated("quotes");
    assert!(!reply.groups().contains("system:masters"));
    let shown = reply.user()["extra"]["portico.dev/role-names"]
        .as_array()
        .unwrap();
    let shown: BTreeSet<&str> = shown.iter().map(|name| name.as_str().unwrap()).collect();
    let expected: BTreeSet<&str> = names.into_iter().chain(["k8s_viewer"]).collect();
    assert_eq!(shown, expected);
    assert!(reply.username().starts_with("quote\",\"groups\""));
    world.end().await;
}

/// Thousands of roles would take a real Keystone minutes to make.
#[tokio::test]
async fn attack_12_too_many_roles_are_refused_and_never_cut() {
    let with_roles = |count: usize| {
        let mut answer = token();
        let role = |n| json!({"id": format!("{n:032x}"), "name": format!("role {n}")});
        answer["token"]["roles"] = (0..count).map(role).collect::<Vec<Value>>().into();
        answer
    };
    for (count, counts) in [(200, true), (1000, true), (1001, false), (5000, false)] {
        let keystone = StandIn::saying(200, with_roles(count)).await;
        let reply = review_of(&webhook_at(keystone.url()), "gAAAA-roles").await;
        assert_eq!(
            reply.is_authenticated(),
            counts,
            "{count}: {}",
            reply.status
        );
        if counts {
            // each bare and qualified, and those of user and project
            assert_eq!(reply.groups().len(), 2 * count + 2);
        }
    }
    // more than any answer of Keystone's: not read to its end
    let keystone = StandIn::saying(200, with_roles(90_000)).await;
    let reply = review_of(&webhook_at(keystone.url()), "gAAAA-roles").await;
    reply.assert_undecided("90,000 roles");
}

/// The control case of all of these: the same webhook knows its own.
#[tokio::test]
async fn a_plain_user_is_known_within_the_time_to_live_and_after_it() {
    let world = World::new().await;
    let user = world.user("alice").await;
    let token = world.sealed(&world.sign_in(&user).await);
    let api_server = world.api_server();
    until(&api_server, &token, true).await;
    // the cache has a clock of its own
    tokio::time::sleep(TTL).await;
    until(&api_server, &token, true).await;
    let other = Webhook::new(
        vec![cluster(1, &world.project, &[])],
        "http://127.0.0.1:1/v3",
        TTL,
    );
    let reply = other
        .api_server_of(CLUSTER)
        .review(portico_test_support::webhook::V1, &token)
        .await;
    reply.assert_refused("sealed to another webhook's key");
    world.end().await;
}
