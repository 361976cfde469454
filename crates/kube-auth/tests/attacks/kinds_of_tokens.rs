//! 13 to 18: tokens that are good, but not for this.
use crate::reviews::{review_of, seal, webhook_at, webhook_of};
use crate::stand_in::{StandIn, token};
use crate::world::{LENIENT, World, real_token};
use portico_domain::cluster::TokenKind;
use portico_openstack::keystone::{AuthOutcome, Login, Scope, UserRef};
use portico_test_support::webhook::V1;
use portico_testkit::Cluster;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn attack_13_a_token_of_another_project_is_nothing_here() {
    let world = World::new().await;
    let user = world.user("frank").await;
    let other = world
        .admin
        .create_project_called("other", &world.domain)
        .await
        .unwrap();
    // the same role there, and a stronger one
    let admin = world.env.get("ROLE_ID_K8S_ADMIN").unwrap();
    for role in [&world.role, admin] {
        world.admin.grant(&user.id, &other, role).await.unwrap();
    }
    let own = world.sign_in(&user).await;
    world.review(&own).await.assert_authenticated("own project");
    let foreign = world.sign_in_to(&user, &other).await;
    world.review(&foreign).await.assert_refused("other project");

    // the same at the real API server
    let (cluster, _, good) = world.at_the_real_cluster(&user).await;
    assert!(cluster.with_token(&good).is_known().await.unwrap());
    let bad = real_token(&cluster, &foreign);
    assert!(!cluster.with_token(&bad).is_known().await.unwrap());
    // sealed for another cluster
    let mut elsewhere = Cluster::of_stack(&world.env).unwrap();
    elsewhere.id = world.env.get("CLUSTER2_ID").unwrap().parse().unwrap();
    let acme = world.env.get("PROJECT_ID_ACME").unwrap().to_owned();
    let issued = world.sign_in_to(&user, &acme).await;
    let bad = real_token(&elsewhere, &issued);
    assert!(!cluster.with_token(&bad).is_known().await.unwrap());
    world.end().await;
}

#[tokio::test]
async fn attack_14_an_audience_that_we_do_not_serve_is_refused() {
    let world = World::new().await;
    let token = world.sealed(&world.sign_in(&world.user("grace").await).await);
    let api_server = world.api_server();
    let own = "https://kubernetes.default.svc";
    for (audiences, answered) in [
        (&["vault"][..], None),
        (&["vault", "https://kubernetes.default.svc.evil"], None),
        (&[""], None),
        (&[own], Some(json!([own]))),
        (&["vault", own], Some(json!([own]))),
    ] {
        let reply = api_server.review_for(V1, &token, audiences).await;
        match answered {
            None => reply.assert_refused(&format!("{audiences:?}")),
            Some(answered) => {
                reply.assert_authenticated(&format!("{audiences:?}"));
                assert_eq!(reply.body["status"]["audiences"], answered);
            }
        }
    }
    world.end().await;
}

#[tokio::test]
async fn attack_15_a_token_without_a_scope_is_refused_and_crashes_nothing() {
    let world = World::new().await;
    let user = world.user("heidi").await;
    let scoped = world.sign_in(&user).await;
    let unscoped = world.client.unscope(&scoped.token).await.unwrap();
    world.review(&unscoped).await.assert_refused("unscoped");
    world.review(&scoped).await.assert_authenticated("scoped");
    // where the record says so, it is a user without any project
    let reply = world.review_at(LENIENT, &unscoped.token).await;
    reply.assert_authenticated("unscoped, allowed");
    assert_eq!(
        reply.groups(),
        BTreeSet::from([format!("portico:user:{}", user.id)])
    );
    world.end().await;
}

#[tokio::test]
async fn attack_16_an_admin_of_domain_or_system_is_not_a_cluster_admin() {
    let world = World::new().await;
    let user = world.user("ivan").await;
    let admin = world.env.get("ROLE_ID_K8S_ADMIN").unwrap();
    let domain = &world.domain.id;
    for path in [
        format!("/domains/{domain}/users/{}/roles/{admin}", user.id),
        format!("/system/users/{}/roles/{admin}", user.id),
    ] {
        world.admin.put(&path).await.unwrap();
    }
    for scope in [
        json!({ "domain": { "id": domain } }),
        json!({ "system": { "all": true } }),
    ] {
        let token = world
            .admin
            .token_with_scope(&user, scope.clone())
            .await
            .unwrap();
        let strict = world.review_at(crate::reviews::CLUSTER, &token).await;
        strict.assert_refused(&scope.to_string());
        let lenient = world.review_at(LENIENT, &token).await;
        lenient.assert_authenticated(&scope.to_string());
        assert!(!lenient.groups().contains(admin), "{:?}", lenient.groups());
    }
    let scoped = world.sign_in(&user).await;
    world.review(&scoped).await.assert_authenticated("project");
    world.end().await;
}

#[tokio::test]
async fn attack_17_an_application_credential_for_other_calls_is_refused() {
    let world = World::new().await;
    let owner = world.sign_in(&world.user("judy").await).await;
    let rule = |service: &str| json!({"access_rules": [{"service": service, "method": "GET", "path": "/**"}]});
    for (about, strict, lenient) in [
        (json!({}), true, true),
        (rule("compute"), false, false),
        (rule("kubernetes"), false, true),
    ] {
        let credential = world.credential(&owner, about.clone()).await;
        let issued = world
            .client
            .authenticate_application_credential(&credential);
        let issued = issued.await.unwrap();
        let at_strict = world.review(&issued).await;
        assert_eq!(
            at_strict.is_authenticated(),
            strict,
            "{about} {}",
            at_strict.text
        );
        assert!(strict || at_strict.is_refusal(V1));
        let at_lenient = world.review_at(LENIENT, &issued.token).await;
        assert_eq!(at_lenient.is_authenticated(), lenient, "{about}");
    }
}

#[tokio::test]
async fn attack_18_delegated_rights_count_only_where_the_record_allows_them() {
    let world = World::new().await;
    let (trustor, trustee) = (world.user("kim").await, world.user("leo").await);
    let lender = world.sign_in(&trustor).await;
    for impersonation in [false, true] {
        let trust = json!({ "trust": {
            "trustor_user_id": trustor.id, "trustee_user_id": trustee.id,
            "project_id": world.project, "impersonation": impersonation,
            "roles": [{ "id": world.role }],
        }});
        let made = world
            .post_as(&lender.token, "/OS-TRUST/trusts", trust)
            .await;
        let scope = json!({ "OS-TRUST:trust": { "id": made["trust"]["id"] } });
        let token = world.admin.token_with_scope(&trustee, scope).await.unwrap();
        let strict = world.review_at(crate::reviews::CLUSTER, &token).await;
        let lenient = world.review_at(LENIENT, &token).await;
        if impersonation {
            // Keystone does not tell such a token about itself
            strict.assert_undecided("a trust in another's name");
            lenient.assert_undecided("a trust in another's name");
            continue;
        }
        strict.assert_refused("a trust");
        lenient.assert_authenticated("a trust, allowed");
        // marked, whichever user it looks like
        let extra = &lenient.user()["extra"];
        assert_eq!(extra["portico.dev/trustor-id"], json!([trustor.id]));
        let marked = json!([impersonation.to_string()]);
        assert_eq!(extra["portico.dev/trust-impersonation"], marked);
        assert_eq!(lenient.user()["uid"], trustee.id);
    }
    // restricted or not, a plain application credential is its owner
    for unrestricted in [false, true] {
        let about = json!({ "unrestricted": unrestricted });
        let credential = world.credential(&lender, about).await;
        let issued = world
            .client
            .authenticate_application_credential(&credential);
        let reply = world.review(&issued.await.unwrap()).await;
        reply.assert_authenticated("an application credential");
        let id = &reply.user()["extra"]["portico.dev/application-credential-id"];
        assert!(id[0].is_string(), "{}", reply.text);
    }
}

/// The running Keystone has no OAuth consumers and no EC2 signer beside it.
#[tokio::test]
async fn attack_18_oauth_and_ec2_count_only_where_the_record_allows_them() {
    let mut by_oauth = token();
    by_oauth["token"]["OS-OAUTH1"] = json!({"consumer_id": "c", "access_token_id": "a"});
    let mut by_certificate = token();
    by_certificate["token"]["oauth2_credential"] = json!({"x5t#S256": "x"});
    let mut by_ec2 = token();
    by_ec2["token"]["methods"] = json!(["ec2credential"]);
    for (answer, kind) in [
        (by_oauth, TokenKind::Oauth),
        (by_certificate, TokenKind::Oauth),
        (by_ec2, TokenKind::Ec2),
    ] {
        let keystone = StandIn::saying(200, answer).await;
        let strict = review_of(&webhook_at(keystone.url()), "gAAAA-lent").await;
        strict.assert_refused(&format!("{kind:?}"));
        let mut record = portico_test_support::webhook::cluster(1, "p1", &[]);
        record.accepted_tokens = vec![kind];
        let lenient = review_of(&webhook_of(record, keystone.url()), "gAAAA-lent").await;
        lenient.assert_authenticated(&format!("{kind:?}"));
    }
}

#[tokio::test]
async fn an_application_credential_itself_is_never_a_bearer() {
    let world = World::new().await;
    let owner = world.sign_in(&world.user("mona").await).await;
    let credential = world.credential(&owner, json!({})).await;
    let portico_openstack::keystone::ApplicationCredential::Id { id, secret } = credential else {
        panic!("made by ID");
    };
    let api_server = world.api_server();
    for text in [id.clone().into(), secret.clone()] {
        let sealed = seal(
            world.webhook.current.public(),
            crate::reviews::CLUSTER,
            &text,
        );
        api_server
            .review(V1, &sealed)
            .await
            .assert_refused("sealed");
        use secrecy::ExposeSecret as _;
        let bare = api_server.review(V1, text.expose_secret()).await;
        bare.assert_refused("bare");
    }
    world.review(&owner).await.assert_authenticated("its owner");
}

#[tokio::test]
async fn a_second_factor_leaves_no_token_that_counts() {
    let world = World::new().await;
    let user = world.user("nina").await;
    let rules = json!({ "user": { "options": {
        "multi_factor_auth_enabled": true, "multi_factor_auth_rules": [["password", "totp"]],
    }}});
    let before = world.sign_in(&user).await;
    world
        .admin
        .patch(&format!("/users/{}", user.id), rules)
        .await
        .unwrap();
    let login = Login::with_password(
        UserRef::Id(user.id.clone()),
        user.password.clone(),
        Scope::Project(world.project.clone()),
    );
    let AuthOutcome::ReceiptRequired { receipt, .. } =
        world.client.authenticate(&login).await.unwrap()
    else {
        panic!("a password is not enough");
    };
    let reply = world.review_at(crate::reviews::CLUSTER, &receipt).await;
    reply.assert_refused("a receipt");
    world
        .review(&before)
        .await
        .assert_authenticated("a token of before");
    world.end().await;
}
