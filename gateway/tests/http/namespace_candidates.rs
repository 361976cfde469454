//! Namespaces that the panel reports reach it again with the assertions of the users who may have
//! rights in them.
use http::{Method, StatusCode};
use portico_assertion::audit_report::{self, AuditReport, Candidate, ReportedOutcome};
use portico_domain::identity::{project_role_group, user_group};
use serde_json::{Value, json};

use crate::support::{
    browser::Browser,
    received_identity::{claims, header},
    stack::{CLUSTER, MAIN, Stack, Wanted},
};

/// Returns the namespaces in the assertion for the panel when a user opens a page of a project.
async fn namespaces(browser: &mut Browser, path: &str) -> Value {
    let page = browser
        .call(Method::GET, &format!("{MAIN}{path}"), "")
        .await;
    let assertion = header(&page.json(), "portico-assertion")[0].to_owned();
    claims(&assertion)["namespaces"].clone()
}

async fn report(browser: &mut Browser, outcome: ReportedOutcome, subject: &str, namespace: &str) {
    let value = audit_report::encode(&[AuditReport {
        action: "grant".to_owned(),
        cluster: CLUSTER,
        object: "edit".to_owned(),
        outcome,
        candidate: Some(Candidate {
            subject: subject.to_owned(),
            namespace: namespace.to_owned(),
        }),
        journal: None,
    }]);
    let value = value.expect("a report");
    let url = format!("{MAIN}/projects/p1/reports?value={value}");
    let answer = browser.call(Method::POST, &url, "{}").await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn a_reported_namespace_reaches_the_panel_for_its_subjects_only() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let page = "/projects/p1/clusters";
    assert_eq!(namespaces(&mut browser, page).await, Value::Null);

    let role = claims_of_role(&mut browser, page).await;
    let done = ReportedOutcome::Succeeded;
    let user = user_group(&session.user.id);
    report(&mut browser, done, &role, "by-role").await;
    report(
        &mut browser,
        done,
        &project_role_group("p1", &role),
        "by-project",
    )
    .await;
    report(&mut browser, done, &user, "own").await;
    report(&mut browser, done, "portico:user:another", "foreign").await;
    report(
        &mut browser,
        done,
        &project_role_group("p2", &role),
        "elsewhere",
    )
    .await;
    report(&mut browser, ReportedOutcome::Denied, &user, "refused").await;
    let expected = json!({ CLUSTER.to_string(): ["by-project", "by-role", "own"] });
    assert_eq!(namespaces(&mut browser, page).await, expected);
}

/// Returns the ID of the user's first role.
async fn claims_of_role(browser: &mut Browser, path: &str) -> String {
    let page = browser
        .call(Method::GET, &format!("{MAIN}{path}"), "")
        .await;
    let assertion = header(&page.json(), "portico-assertion")[0].to_owned();
    let roles = claims(&assertion)["roles"].clone();
    roles[0]["id"].as_str().expect("a role").to_owned()
}
