//! Versions, errors and lists: what the client makes of the answers of a real Magnum.
use crate::service_proxy::Rules;
use crate::tenant::{FULL, Tenant, cluster, create, json, patiently};
use portico_openstack::magnum::{Cluster, Feature, NewCluster};
use portico_openstack::rest::ErrorKind;
use reqwest::Method;
use secrecy::ExposeSecret as _;
use serde_json::json;

#[tokio::test]
async fn case_01_below_1_9_node_groups_are_explained_and_not_requested() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("old");
        let made = tenant.make(&name, FULL, &[]).await;
        let rules = || Rules {
            max_version: Some("1.8"),
            ..Rules::default()
        };
        let (old, proxy) = tenant.client_through(rules()).await;
        let error = old.node_groups(&tenant.token, made.uuid).await.unwrap_err();
        let explanation = "not available: needs 1.9, this cloud has 1.8 (node groups)";
        assert!(error.to_string().contains(explanation), "{error}");
        assert!(matches!(error.kind, ErrorKind::NotAvailable(_)), "{error}");
        // what that version has works
        let shown = old.cluster(&tenant.token, made.uuid).await.unwrap();
        assert_eq!(shown.name, name);
        let features = old.features(&tenant.token).await.unwrap();
        assert!(features.check(Feature::Resize).is_ok());
        let (person, of_program) = tenant.through(rules()).await;
        let ran = cluster(&person, &["show", &name, "-o", "json"]).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(json(&ran)["node_groups"], json!([]));
        for request in proxy.received().iter().chain(&of_program.received()) {
            assert!(!request.path.contains("nodegroups"), "{request:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn case_02_every_call_asks_for_the_version_that_both_know() {
    Tenant::run(|tenant| async move {
        let (magnum, proxy) = tenant.client_through(Rules::default()).await;
        let token = &tenant.token;
        magnum.clusters(token).await.unwrap();
        magnum.templates(token).await.unwrap();
        magnum.quota(token, &tenant.project).await.unwrap();
        // refused, and changes nothing
        let mut new = tenant.new_cluster("a", FULL, &[]).await;
        new.flavor_id = Some("nosuch".to_owned());
        magnum.create_cluster(token, &new).await.unwrap_err();
        let mut received = proxy.received();
        // the version document needs none
        received.retain(|request| request.path != "/");
        assert_eq!(received.len(), 4, "{received:?}");
        for request in received {
            let version = request.version.as_deref();
            assert_eq!(version, Some("container-infra 1.14"), "{request:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn case_03_a_refused_version_is_an_error_of_its_own() {
    Tenant::run(|tenant| async move {
        let rules = || Rules {
            asks_version: Some("1.99"),
            ..Rules::default()
        };
        let (magnum, _proxy) = tenant.client_through(rules()).await;
        let error = magnum.clusters(&tenant.token).await.unwrap_err();
        let ErrorKind::Incompatible(offered) = error.kind else {
            panic!("{error}");
        };
        assert_eq!(offered.to_string(), "1.1 to 1.14");
        let (person, _proxy) = tenant.through(rules()).await;
        let ran = cluster(&person, &["list"]).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        assert!(ran.err.contains("1.1 to 1.14"), "{}", ran.err);
    })
    .await;
}

#[tokio::test]
async fn case_04_a_revoked_token_and_a_wrong_password_ask_for_a_sign_in() {
    Tenant::run(|tenant| async move {
        let (revoked, _) = tenant.sign_in(&tenant.member, &tenant.project).await;
        tenant.admin.revoke_token(&revoked.token).await.unwrap();
        let error = tenant.magnum.clusters(&revoked).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidToken, "{error}");
        assert_eq!(error.next_step(), Some("sign in again"));
        let mut person = tenant.person_of(&tenant.member);
        person.set("OS_PASSWORD", "wrong");
        let ran = cluster(&person, &["list"]).await;
        assert_eq!(ran.code, 10, "{}", ran.err);
        assert!(!ran.err.contains(tenant.member.password.expose_secret()));
    })
    .await;
}

#[tokio::test]
async fn case_05_an_error_is_shown_whole_with_the_id_of_the_request() {
    Tenant::run(|tenant| async move {
        let new = NewCluster {
            flavor_id: Some("m1.9.none".to_owned()),
            ..tenant.new_cluster("dots", FULL, &[]).await
        };
        let created = tenant.magnum.create_cluster(&tenant.token, &new).await;
        let error = created.unwrap_err();
        // Magnum's title ends at the first dot
        let text = "Unable to find flavor m1.9.none.";
        assert!(error.to_string().contains(text), "{error}");
        let id = error.request_id.unwrap();
        assert!(id.starts_with("req-"), "{id}");
    })
    .await;
}

#[tokio::test]
async fn case_06_a_list_of_three_pages_has_every_cluster_once() {
    Tenant::run(|tenant| async move {
        let first = tenant.make(&tenant.name("one"), FULL, &[]).await;
        let second = tenant.make(&tenant.name("two"), FULL, &[]).await;
        let rules = Rules {
            page_size: Some(1),
            ..Rules::default()
        };
        let (magnum, proxy) = tenant.client_through(rules).await;
        let listing = magnum.clusters(&tenant.token).await.unwrap();
        let uuids: Vec<_> = listing.items.iter().map(|cluster| cluster.uuid).collect();
        assert_eq!(uuids, [first.uuid, second.uuid]);
        assert_eq!(listing.cut, None);
        let received = proxy.received();
        let pages = received
            .iter()
            .filter(|one| one.path.contains("/clusters/detail"));
        // the second is full, so Magnum names a third, which is empty
        assert_eq!(pages.count(), 3, "{received:?}");
    })
    .await;
}

#[tokio::test]
async fn case_07_an_administrator_sees_the_clusters_of_the_tokens_project_only() {
    Tenant::run(|tenant| async move {
        let made = tenant.make(&tenant.name("foreign"), FULL, &[]).await;
        let other = tenant.admin.create_project("other").await.unwrap();
        let root = tenant.user_in(&other, "admin").await;
        let (token, _) = tenant.sign_in(&root, &other).await;
        let everywhere = patiently(|| tenant.magnum.clusters_of_all_projects(&token)).await;
        let is_made = |cluster: &Cluster| cluster.uuid == made.uuid;
        assert!(everywhere.items.iter().any(is_made));
        let own = patiently(|| tenant.magnum.clusters(&token)).await;
        assert!(own.items.is_empty(), "{own:?}");
        tenant.admin.delete_project(&other).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn case_17_a_new_cluster_is_found_although_its_record_is_made_later() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("new");
        let words = create(&name, &["--no-wait", "-o", "json"]);
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.err.contains("not found"), "{}", ran.err);
        assert_eq!(json(&ran)[0]["name"], name.as_str());
        let changes = proxy.changes();
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert_eq!(changes[0].method, Method::POST);
    })
    .await;
}
