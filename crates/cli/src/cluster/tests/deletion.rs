use super::Machine;
use super::api_server::ApiServer;
use super::stand_in::{CLUSTER, StandIn, TEMPLATE, cluster, template};
use serde_json::json;

async fn cloud() -> StandIn {
    StandIn::with(vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")]).await
}

#[tokio::test]
async fn case_49_without_the_name_nothing_is_deleted() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for (typed, code) in [(None, 2), (Some("shop2"), 1), (Some(""), 1)] {
        let ran = machine.run(&cloud, &["delete", "shop"], typed).await;
        assert_eq!(ran.code, code, "{typed:?}: {}", ran.err);
        assert!(ran.err.contains("nothing was deleted"), "{}", ran.err);
        if typed.is_none() {
            assert_ran!("without_a_terminal", ran);
        }
        // the inventory was shown before the question
        assert!(ran.out.contains("\nWill be deleted\n"), "{}", ran.out);
        assert!(cloud.calls().is_empty());
    }
}

#[tokio::test]
async fn with_the_name_or_yes_the_cluster_is_deleted_by_its_uuid() {
    for (words, typed) in [
        (vec!["delete", "shop", "--wait"], Some("shop")),
        (vec!["destroy", "shop", "--yes", "--wait"], None),
    ] {
        let (machine, cloud) = (Machine::new(), cloud().await);
        let ran = machine.run(&cloud, &words, typed).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(cloud.calls(), [format!("DELETE clusters/{CLUSTER}")]);
        // this cloud has no Nova, Cinder, Octavia and Neutron
        let end = "shop is deleted; nothing of it was found in what was checked.";
        assert!(ran.err.contains(end), "{}", ran.err);
    }
}

#[tokio::test]
async fn a_dry_run_shows_what_goes_and_what_was_not_checked() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["delete", "shop", "--dry-run", "--yes", "-o", "json"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!((ran.code, cloud.calls().len()), (0, 0), "{}", ran.err);
    let shown = ran.json();
    assert_eq!(shown["goes"][0]["kind"], "server");
    // this cloud has no Nova, Cinder, Octavia and Neutron
    assert_eq!(shown["not_checked"].as_array().unwrap().len(), 8);
    let ran = machine.run(&cloud, &words[..3], None).await;
    assert_ran!("dry_run", ran);
}

#[tokio::test]
async fn case_51_a_deletion_that_fails_ends_with_exit_code_8() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, clusters| {
        if request.method != "DELETE" {
            return None;
        }
        clusters[0]["status"] = json!("DELETE_FAILED");
        clusters[0]["status_reason"] = json!("Port 1 is in use");
        Some((204, json!(null)))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let words = ["delete", "shop", "--yes", "--wait"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert!(ran.err.contains("DELETE_FAILED"), "{}", ran.err);
}

#[tokio::test]
async fn case_53_a_protected_cluster_ends_with_exit_code_4_and_the_remedy() {
    let detail = "The cluster is protected from deletion in Portico, so the deletion was not sent. Remove \
                  the protection on the cluster's page in the panel, then delete the cluster again.";
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, move |request, _| {
        // as the panel refuses
        let error = json!({"errors": [{"status": 409, "code": "portico", "detail": detail,
                                       "title": "Portico did not pass the request on"}]});
        (request.method == "DELETE").then_some((409, error))
    });
    let (machine, cloud) = (Machine::new(), cloud.await);
    let words = ["delete", "shop", "--yes", "--wait"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains(detail), "{}", ran.err);
    assert_eq!(cloud.calls(), [format!("DELETE clusters/{CLUSTER}")]);
}

#[tokio::test]
async fn volumes_are_kept_by_a_driver_that_deletes_none_and_unknown_with_others() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let words = ["delete", "shop", "--keep-volumes", "--dry-run"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let cloud = StandIn::start(clusters, |request, _| {
        let is_template = request.path == format!("clustertemplates/{TEMPLATE}");
        let mut template = template();
        template["driver"] = json!("k8s_capi_helm_v1");
        is_template.then_some((200, template))
    })
    .await;
    // this cloud has no Cinder, so the volumes are not known
    let words = ["delete", "shop", "--keep-volumes", "--yes"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("unknown_volumes", ran);
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn without_access_to_the_cluster_nothing_is_deleted_in_it_or_of_it() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for (option, name) in [
        ("--delete-lbs", "load_balancers_without_access"),
        ("--delete-volumes", "volumes_without_access"),
    ] {
        let words = ["delete", "shop", "--yes", option];
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn what_is_deleted_in_the_cluster_is_named_before_the_question() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = ApiServer::start(Vec::new(), Vec::new()).await;
    api.claim("shop", "data");
    let words = ["delete", "shop", "--delete-volumes", "--dry-run"];
    for (words, typed, code) in [(&words[..], None, 0), (&words[..3], Some("other"), 1)] {
        // the stand-in deletes no claim
        let ran = machine.run_inside(&cloud, &api, words, typed).await;
        assert_eq!(ran.code, code, "{}", ran.err);
        let named = "Will be deleted in the cluster first:\n  PersistentVolumeClaim shop/data\n";
        assert!(ran.err.contains(named), "{}", ran.err);
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn where_only_some_namespaces_can_be_listed_the_others_are_accepted_first() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let api = ApiServer::start(Vec::new(), Vec::new()).await;
    api.load_balancer("dev", "web");
    api.load_balancer("secret", "api");
    api.permit_only_in(&["dev", "empty"]);
    let words = [
        "delete",
        "shop",
        "--delete-lbs",
        "--delete-volumes",
        "--yes",
    ];
    // no namespace is known, and the list of the cluster is refused
    let ran = machine.run_inside(&cloud, &api, &words, None).await;
    assert_ran!("namespaces_that_cannot_be_listed", ran);

    let in_namespaces = |last: &'static str| -> Vec<&str> {
        let named = ["--namespace", "empty", "-n", "secret", last];
        words.into_iter().chain(named).collect()
    };
    let shown = [&in_namespaces("--dry-run")[..], &["-n", "dev"]].concat();
    let ran = machine.run_inside(&cloud, &api, &shown, None).await;
    assert_ran!("dry_run_in_some_namespaces", ran);
    assert!(!ran.err.contains("secret"), "{}", ran.err);

    let unaccepted = in_namespaces("--no-wait");
    for (name, typed) in [
        ("some_namespaces_without_a_terminal", None),
        ("some_namespaces_that_are_not_accepted", Some("yes")),
    ] {
        let ran = machine.run_inside(&cloud, &api, &unaccepted, typed).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());

    let deletion = format!("DELETE clusters/{CLUSTER}");
    let ran = machine.run_inside(&cloud, &api, &unaccepted, Some("accept"));
    assert_eq!(ran.await.code, 0);
    assert_eq!(cloud.calls(), [deletion.as_str()]);
    let other = self::cloud().await;
    let accepted = in_namespaces("--accept-partial");
    let ran = machine.run_inside(&other, &api, &accepted, None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(other.calls(), [deletion]);
}

#[tokio::test]
async fn the_record_of_a_cluster_stays_while_magnum_has_it() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for (wanted, name) in [
        ("shop", "record_of_a_cluster_that_exists"),
        ("gone", "record_without_its_uuid"),
        // this machine has no session at a gateway
        (
            "900e3758-8071-430e-a8cf-5c48f428dc0f",
            "record_without_a_session",
        ),
    ] {
        let words = ["delete", wanted, "--force-record", "--yes"];
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(name, ran);
    }
    assert!(cloud.calls().is_empty());
}
