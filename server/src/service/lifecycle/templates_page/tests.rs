//! Templates against a Magnum inside of the test.
use super::super::changing_magnum::{Answer, ChangingMagnum, Received, TEMPLATE, cluster, error};
use super::super::fixtures::NOW;
use super::reading::{details, list};
use super::request::{send_copy, send_deletion, send_flag};
use app::error::UiErrorKind;
use portico_domain::panel::lifecycle::{TemplateFlag, TemplateOutcome, TemplateValues};
use serde_json::{Value, json};
use uuid::Uuid;

const COPY: &str = "0f6a0fb5-2f0a-4a53-9c1f-9d1b64f2f001";

fn template() -> Uuid {
    TEMPLATE.parse().unwrap()
}

/// Returns a template, with other fields.
fn with(change: Value) -> Value {
    let mut template = json!({
        "uuid": TEMPLATE, "name": "small", "project_id": "acme", "public": false, "hidden": false,
        "image_id": "ubuntu", "flavor_id": "m1.small", "master_flavor_id": "m1.medium",
        "keypair_id": "ops", "driver": "k8s_capi_helm_v1", "coe": "kubernetes",
        "labels": {"kube_tag": "v1.31.0", "monitoring_enabled": "yes", "own": "1"}
    });
    for (key, value) in change.as_object().unwrap() {
        template[key] = value.clone();
    }
    template
}

/// Answers requests about the only template.
fn of_template(request: &Received, template: &Value) -> Option<Answer> {
    let path = request.path.as_str();
    let is_own = path == format!("clustertemplates/{TEMPLATE}");
    match request.method.as_str() {
        "GET" if path == "clustertemplates/detail" => {
            Some((200, json!({"clustertemplates": [template]})))
        }
        "GET" | "PATCH" if is_own => Some((200, template.clone())),
        "DELETE" if is_own => Some((204, Value::Null)),
        "POST" if path == "clustertemplates" => {
            let mut created = request.body.clone();
            created["uuid"] = json!(COPY);
            Some((201, created))
        }
        _ => None,
    }
}

async fn magnum(clusters: Vec<Value>, change: Value) -> ChangingMagnum {
    let template = with(change);
    ChangingMagnum::start(clusters, move |request, _| of_template(request, &template)).await
}

fn values() -> TemplateValues {
    TemplateValues {
        name: "small-2".to_owned(),
        image: "ubuntu-2".to_owned(),
        flavor: "m1.small".to_owned(),
        ..TemplateValues::default()
    }
}

/// Returns why a change was refused.
fn reason(outcome: TemplateOutcome) -> String {
    match outcome {
        TemplateOutcome::Refused { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

fn done(template: &str) -> TemplateOutcome {
    TemplateOutcome::Done {
        template: template.parse().unwrap(),
    }
}

#[tokio::test]
async fn a_template_is_listed_with_the_clusters_of_the_project_that_use_it() {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    let magnum = magnum(clusters, json!({"public": true})).await;
    let bob = magnum.viewer("bob", &["reader"]);
    let page = list(&magnum.clients, &bob, NOW).await.unwrap();
    let row = &page.templates[0];
    assert_eq!(
        (row.name.as_str(), row.driver.as_str()),
        ("small", "magnum-capi-helm")
    );
    assert!(row.is_own && row.is_public && !row.is_hidden);
    let users: Vec<_> = row.used_by.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(users, ["shop"]);
    // the cloud of the test has no Glance
    assert_eq!(page.gaps.len(), 1, "{:?}", page.gaps);
    assert!(page.gaps[0].ends_with('.'), "{}", page.gaps[0]);
}

#[tokio::test]
async fn details_state_what_the_driver_ignores_and_which_label_is_invalid() {
    let magnum = magnum(Vec::new(), json!({})).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let page = details(&magnum.clients, &ada, template(), NOW)
        .await
        .unwrap();
    insta::assert_json_snapshot!("labels", page.labels);
    assert_eq!(page.values.control_plane_flavor, "m1.medium");
    insta::assert_json_snapshot!("refusals_for_a_member", page.refusals);
    assert!(page.capabilities.iter().any(|line| !line.is_offered));
}

#[tokio::test]
async fn a_private_template_of_another_project_is_not_found_by_an_administrator() {
    let magnum = magnum(Vec::new(), json!({"project_id": "globex"})).await;
    let root = magnum.viewer("root", &["admin"]);
    let error = details(&magnum.clients, &root, template(), NOW)
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotFound);
    assert!(error.next_step.unwrap().ends_with('.'));
    let outcome = send_deletion(&magnum.clients, &root, template(), "small").await;
    assert_eq!(outcome.unwrap_err().kind, UiErrorKind::NotFound);
    assert!(magnum.calls().is_empty());
}

#[tokio::test]
async fn a_public_template_of_another_project_can_be_copied_only() {
    let change = json!({"project_id": "globex", "public": true});
    let magnum = magnum(Vec::new(), change).await;
    let root = magnum.viewer("root", &["admin", "member"]);
    let page = details(&magnum.clients, &root, template(), NOW)
        .await
        .unwrap();
    insta::assert_json_snapshot!("refusals_for_another_project", page.refusals);
}

#[tokio::test]
async fn a_copy_is_private_and_has_the_values_of_the_form() {
    let magnum = magnum(Vec::new(), json!({"public": true})).await;
    let ada = magnum.viewer("ada", &["member"]);
    let mut values = values();
    values.labels.insert("own".to_owned(), "2".to_owned());
    let outcome = send_copy(&magnum.clients, &ada, template(), &values).await;
    assert_eq!(outcome.unwrap(), done(COPY));
    let body = &magnum.changes()[0].body;
    assert_eq!(body["name"], "small-2");
    assert_eq!(body["image_id"], "ubuntu-2");
    assert_eq!(body["labels"], json!({"own": "2"}));
    // left empty, or never copied
    for field in ["keypair_id", "master_flavor_id", "public", "hidden"] {
        assert!(body.get(field).is_none(), "{field}: {body}");
    }
}

#[tokio::test]
async fn a_copy_without_a_name_or_with_a_new_invalid_label_is_not_sent() {
    let magnum = magnum(Vec::new(), json!({})).await;
    let ada = magnum.viewer("ada", &["member"]);
    let unnamed = TemplateValues {
        name: " ".to_owned(),
        ..values()
    };
    let outcome = send_copy(&magnum.clients, &ada, template(), &unnamed).await;
    insta::assert_snapshot!("copy_without_a_name", reason(outcome.unwrap()));
    let mut labelled = values();
    let labels = [("auto_healing_enabled", "perhaps"), ("own", "1")];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    labelled.labels.extend(labels);
    let outcome = send_copy(&magnum.clients, &ada, template(), &labelled).await;
    insta::assert_snapshot!("copy_with_an_invalid_label", reason(outcome.unwrap()));
    assert!(magnum.calls().is_empty());
}

#[tokio::test]
async fn a_reader_changes_nothing() {
    let magnum = magnum(Vec::new(), json!({})).await;
    let bob = magnum.viewer("bob", &["reader"]);
    let (clients, template) = (&magnum.clients, template());
    let outcomes = [
        send_copy(clients, &bob, template, &values()).await,
        send_flag(clients, &bob, template, TemplateFlag::Public, true).await,
        send_deletion(clients, &bob, template, "small").await,
    ];
    let errors = outcomes.map(Result::unwrap_err);
    for error in &errors {
        assert_eq!(error.kind, UiErrorKind::NotPermitted);
    }
    let messages = errors.map(|error| error.message);
    insta::assert_snapshot!("changes_by_a_reader", messages.join("\n"));
    assert!(magnum.calls().is_empty());
}

#[tokio::test]
async fn case_55_a_member_does_not_publish_and_an_administrator_sends_one_flag() {
    let magnum = magnum(Vec::new(), json!({})).await;
    let (clients, template) = (&magnum.clients, template());
    let ada = magnum.viewer("ada", &["member"]);
    let refused = send_flag(clients, &ada, template, TemplateFlag::Public, true).await;
    insta::assert_snapshot!("publication_by_a_member", refused.unwrap_err().message);
    let root = magnum.viewer("root", &["admin"]);
    let outcome = send_flag(clients, &root, template, TemplateFlag::Hidden, true).await;
    assert_eq!(outcome.unwrap(), done(TEMPLATE));
    let expected = json!([{"op": "replace", "path": "/hidden", "value": "true"}]);
    assert_eq!(magnum.changes()[0].body, expected);
    // it is not public already
    let outcome = send_flag(clients, &root, template, TemplateFlag::Public, false).await;
    assert_eq!(outcome.unwrap(), done(TEMPLATE));
    assert_eq!(magnum.calls().len(), 1);
}

#[tokio::test]
async fn a_public_template_in_use_does_not_become_private() {
    let clusters = vec![cluster("shop", "CREATE_COMPLETE")];
    let magnum = magnum(clusters, json!({"public": true})).await;
    let (clients, root) = (&magnum.clients, magnum.viewer("root", &["admin"]));
    let outcome = send_flag(clients, &root, template(), TemplateFlag::Public, false).await;
    insta::assert_snapshot!("privacy_of_a_template_in_use", reason(outcome.unwrap()));
    let outcome = send_flag(clients, &root, template(), TemplateFlag::Hidden, true).await;
    assert_eq!(outcome.unwrap(), done(TEMPLATE));
}

#[tokio::test]
async fn case_54_a_template_in_use_is_not_deleted_and_its_clusters_are_named() {
    let magnum = magnum(vec![cluster("shop", "CREATE_COMPLETE")], json!({})).await;
    let ada = magnum.viewer("ada", &["member"]);
    let outcome = send_deletion(&magnum.clients, &ada, template(), "small").await;
    insta::assert_snapshot!("deletion_of_a_template_in_use", reason(outcome.unwrap()));
    assert!(magnum.calls().is_empty());
    magnum.clear();
    let outcome = send_deletion(&magnum.clients, &ada, template(), "smaller").await;
    insta::assert_snapshot!("deletion_with_another_name", reason(outcome.unwrap()));
    assert!(magnum.calls().is_empty());
    let outcome = send_deletion(&magnum.clients, &ada, template(), "small").await;
    assert_eq!(outcome.unwrap(), done(TEMPLATE));
    assert_eq!(
        magnum.calls(),
        [format!("DELETE clustertemplates/{TEMPLATE}")]
    );
}

#[tokio::test]
async fn a_refusal_and_a_lost_response_of_magnum_are_different_outcomes() {
    let answers: [(&str, Answer); 2] = [
        (
            "refused_deletion",
            (
                400,
                error("ClusterTemplate is referenced by one or multiple clusters."),
            ),
        ),
        (
            "deletion_with_a_lost_response",
            (500, error("Internal error.")),
        ),
    ];
    for (name, answer) in answers {
        let template_of = with(json!({}));
        let magnum = ChangingMagnum::start(Vec::new(), move |request, _| {
            if request.method == "DELETE" {
                return Some(answer.clone());
            }
            of_template(request, &template_of)
        })
        .await;
        let ada = magnum.viewer("ada", &["member"]);
        let outcome = send_deletion(&magnum.clients, &ada, template(), "small").await;
        insta::assert_json_snapshot!(name, outcome.unwrap());
    }
}
