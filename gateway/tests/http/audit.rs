//! The audit log at the gateway: what the panel reports is recorded, and users read what is theirs.
use std::{sync::OnceLock, time::Duration};

use http::{Method, StatusCode};
use jiff::Timestamp;
use portico_assertion::audit_report::{self, AuditReport, Candidate, ReportedOutcome};
use portico_store::{NewAuditEvent, Outcome};
use portico_testkit::snapshot_settings;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tokio_util::sync::CancellationToken;

use crate::support::{
    browser::Browser,
    raw::{Act, Raw},
    stack::{CLUSTER, MAIN, MAIN_HOST, Stack, Wanted},
};

const PAGE: &str = "http://localhost:8080/oauth2/audit";

fn report(action: &str, object: &str) -> AuditReport {
    AuditReport {
        action: action.to_owned(),
        cluster: CLUSTER,
        object: object.to_owned(),
        outcome: ReportedOutcome::Succeeded,
        candidate: None,
        journal: None,
    }
}

/// A request that the panel answers with these reports.
fn reporting(host: &str, path: &str, reports: &[AuditReport]) -> String {
    let value = audit_report::encode(reports).expect("a report");
    format!("{host}{path}?value={value}")
}

async fn with_project_admins() -> Stack {
    Stack::start(Wanted {
        gateway: json!({ "audit": { "project_admin_roles": ["project_admin"] } }),
        ..Wanted::default()
    })
    .await
}

async fn append(stack: &Stack, user: &str, project: &str, action: &str, detail: Value) {
    let event = NewAuditEvent {
        user_id: Some(user.to_owned()),
        user_name: Some(format!("name-of-{user}")),
        project_id: Some(project.to_owned()),
        cluster_id: Some(CLUSTER.to_string()),
        target: format!("object-of-{user}"),
        detail,
        ..NewAuditEvent::new(action, Outcome::Succeeded)
    };
    let appended = stack.store.audit().append(&event, Timestamp::now()).await;
    appended.expect("store");
}

#[tokio::test]
async fn finding_o5_what_the_panel_changes_reaches_the_audit_log() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, session) = stack.signed_in(&["k8s_admin"]).await;
    let url = reporting(
        MAIN,
        "/projects/p1/reports",
        &[
            report("scale", "shop/deployments.apps/web to 3"),
            AuditReport {
                outcome: ReportedOutcome::Denied,
                journal: Some("17:7f3a".to_owned()),
                ..report("delete", "shop/pods/web-1")
            },
        ],
    );
    let answer = browser.call(Method::POST, &url, "{}").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.headers.contains_key(audit_report::HEADER));

    let scaled = stack.audited("panel.scale").await;
    let [event] = scaled.as_slice() else {
        panic!("{scaled:?}")
    };
    assert_eq!(event.user_id.as_deref(), Some("u1"));
    assert_eq!(event.user_name.as_deref(), Some("ada"));
    assert_eq!(event.session, Some(session.id));
    assert_eq!(event.project_id.as_deref(), Some("p1"));
    assert_eq!(event.cluster_id, Some(CLUSTER.to_string()));
    assert_eq!(event.target, "shop/deployments.apps/web to 3");
    assert_eq!(event.outcome, Outcome::Succeeded);
    assert!(event.request_id.is_some());
    let deleted = stack.audited("panel.delete").await;
    assert_eq!(deleted[0].outcome, Outcome::Denied);
    // the chain of the cluster's journal is held by the sealed entry
    assert_eq!(deleted[0].detail["journal"], json!("17:7f3a"));
    assert_eq!(event.detail.get("journal"), None);

    // a page that reports, as the opening of a terminal does
    let url = reporting(
        MAIN,
        "/projects/p1/reports",
        &[report("exec", "shop/pods/web-1")],
    );
    browser.open(&url).await;
    assert_eq!(stack.audited("panel.exec").await.len(), 1);
}

#[tokio::test]
async fn finding_o5_an_app_cannot_write_to_the_audit_log() {
    let stack = Stack::start(Wanted::default()).await;
    let mut browser = stack.in_app().await;
    let app = "http://prometheus.apps.localhost:8080";
    let url = reporting(app, "/projects/p1/reports", &[report("scale", "forged")]);
    for method in [Method::GET, Method::POST] {
        let answer = browser.call(method, &url, "").await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(!answer.headers.contains_key(audit_report::HEADER));
    }
    assert!(stack.audited("panel.scale").await.is_empty());
    // nor can a client, by sending it
    let (mut browser, _) = stack.signed_in(&[]).await;
    let value = audit_report::encode(&[report("scale", "forged")]).expect("a report");
    let headers = [(audit_report::HEADER, value.as_str())];
    let url = format!("{MAIN}/projects/p1");
    let page = browser
        .send(Method::GET, &url, &headers, String::new())
        .await;
    assert!(!page.body.contains(&value), "it arrived at the panel");
    assert!(stack.audited("panel.scale").await.is_empty());
}

#[tokio::test]
async fn audit_report_that_cannot_be_read_changes_no_answer() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    for value in ["nonsense", "e30"] {
        let url = format!("{MAIN}/projects/p1/reports?value={value}");
        let answer = browser.call(Method::POST, &url, "").await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(!answer.headers.contains_key(audit_report::HEADER));
    }
}

/// A response of the panel with the largest report, and as many bytes of other headers as there may be beside it.
fn largest_report() -> &'static [u8] {
    static ANSWER: OnceLock<Vec<u8>> = OnceLock::new();
    ANSWER.get_or_init(|| {
        let one = AuditReport {
            outcome: ReportedOutcome::Denied,
            candidate: Some(Candidate {
                subject: "\"".repeat(audit_report::MAX_SUBJECT_BYTES),
                namespace: "n".repeat(audit_report::MAX_NAMESPACE_BYTES),
            }),
            journal: Some("7".repeat(audit_report::MAX_JOURNAL_BYTES)),
            ..report("delete", &"x".repeat(1000))
        };
        let reports = vec![one; audit_report::MAX_ENTRIES];
        let value = audit_report::encode(&reports).expect("a report");
        let (name, others) = (audit_report::HEADER, "x".repeat(7 << 10));
        let head = format!("HTTP/1.1 200 OK\r\n{name}: {value}\r\nX-Others: {others}\r\n");
        format!("{head}Content-Length: 2\r\n\r\nok").into_bytes()
    })
}

#[tokio::test]
async fn the_largest_report_is_recorded_and_changes_no_answer() {
    // `gateway.limits.headers` is 32 KiB by default
    assert!(largest_report().len() > 40_000);
    let panel = Raw::start(|_, _| Act::Answer(largest_report())).await;
    let stack = Stack::start(Wanted {
        gateway: json!({ "panel_url": panel.url() }),
        ..Wanted::default()
    })
    .await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open(&format!("{MAIN}/projects/p1/clusters")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    let recorded = stack.audited("panel.delete").await;
    assert_eq!(recorded.len(), audit_report::MAX_ENTRIES);
}

/// Sends a change on which the panel works until it may go on, and leaves.
async fn leave_during_change(stack: &Stack, browser: &Browser) {
    let url = reporting(
        "",
        "/projects/p1/late-reports",
        &[report("delete", "shop/pods/x")],
    );
    let cookie = browser.cookie_line(MAIN_HOST);
    let request = format!(
        "POST {url} HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: {MAIN}\r\nCookie: {cookie}\r\n\
         Content-Length: 0\r\n\r\n"
    );
    let mut client = TcpStream::connect(stack.address).await.expect("gateway");
    client.write_all(request.as_bytes()).await.expect("sent");
    for _ in 0..500 {
        if stack.panel.asked() > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stack.panel.asked(), 1, "the panel has the request");
    drop(client);
    // the gateway has to see that the client has gone, which shows nowhere
    tokio::time::sleep(Duration::from_millis(300)).await;
}

#[tokio::test]
async fn a_stop_waits_for_the_change_of_a_client_that_has_left() {
    let stack = Stack::start(Wanted::default()).await;
    let (browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let (gateway, stop) = (stack.gateway.clone(), CancellationToken::new());
    let until = stop.clone();
    let running = tokio::spawn(async move { gateway.run(until).await });
    leave_during_change(&stack, &browser).await;
    stop.cancel();
    // a stop that does not wait for the change would have ended by then
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!running.is_finished());
    stack.panel.go_on.notify_one();
    running.await.expect("stopped");
    assert_eq!(stack.audited("panel.delete").await.len(), 1);
}

#[tokio::test]
async fn finding_o5_a_client_that_leaves_hides_no_change() {
    let stack = Stack::start(Wanted::default()).await;
    let (browser, _) = stack.signed_in(&["k8s_admin"]).await;
    leave_during_change(&stack, &browser).await;
    stack.panel.go_on.notify_one();
    let mut recorded = Vec::new();
    for _ in 0..500 {
        recorded = stack.audited("panel.delete").await;
        if !recorded.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(recorded.len(), 1);
}

#[tokio::test]
async fn finding_o5_a_change_without_an_answer_is_recorded_as_that() {
    let stack = Stack::start(Wanted {
        gateway: json!({ "panel_url": "http://127.0.0.1:9" }),
        ..Wanted::default()
    })
    .await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let url = format!("{MAIN}/projects/p1/x?token=not-in-the-log");
    browser.call(Method::POST, &url, "").await;
    browser.open(&url).await;
    let lost = stack.audited("panel.request").await;
    let [event] = lost.as_slice() else {
        panic!("{lost:?}")
    };
    assert_eq!(event.target, "/projects/p1/x");
    assert_eq!(event.outcome, Outcome::Failed);
    assert!(event.detail["reason"].is_string());
}

#[tokio::test]
async fn finding_o5_users_read_their_own_entries_only() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let own = json!({ "address": "192.0.2.99", "reason": "by \u{202e}hand" });
    append(&stack, "u1", "p1", "panel.scale", own).await;
    let others = json!({ "address": "198.51.100.7" });
    append(&stack, "u2", "p1", "panel.delete", others).await;
    for query in ["", "?user=u2", "?user_id=u2", "?user=name-of-u2"] {
        let page = browser.open(&format!("{PAGE}{query}")).await;
        assert_eq!(page.headers["cache-control"], "no-store");
        // a character that changes the direction of text is not shown by every reader of a snapshot
        let text = page.snapshot().replace('\u{202e}', "[U+202E]");
        snapshot_settings().bind(|| insta::assert_snapshot!("own_activity", text));
        for hidden in ["panel.delete", "object-of-u2", "198.51.100.7"] {
            assert!(!page.body.contains(hidden), "{query}: {hidden}");
        }
    }
    // without the configuration no user reads a project's
    let page = browser.open(&format!("{PAGE}?project=p1")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    assert!(!page.body.contains("object-of-u2"));

    let mut stranger = Browser::new(stack.address);
    let page = stranger.open(PAGE).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    assert!(page.location().as_str().contains("rd=%2Foauth2%2Faudit"));
    let answer = stranger.call(Method::GET, PAGE, "").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn finding_o5_administrators_of_a_project_read_its_entries() {
    let stack = with_project_admins().await;
    append(&stack, "u1", "p1", "panel.scale", json!({})).await;
    let others = json!({ "address": "198.51.100.7" });
    append(&stack, "u2", "p1", "panel.delete", others).await;
    append(&stack, "u2", "p2", "panel.restart", json!({})).await;
    let of_p1 = format!("{PAGE}?project=p1");

    let (mut member, _) = stack.signed_in_as("u3", "vera", &["k8s_admin"]).await;
    for project in ["p1", "p2", "nowhere", "../p1"] {
        let page = member.open(&format!("{PAGE}?project={project}")).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{project}");
        assert!(!page.body.contains("object-of"), "{project}");
    }
    assert!(!member.open(PAGE).await.body.contains("Whose activity"));
    let refused = stack.audited("audit.read").await;
    assert_eq!(refused.len(), 4);
    assert!(refused.iter().all(|event| event.outcome == Outcome::Denied));

    let (mut admin, _) = stack.signed_in(&["project_admin"]).await;
    let page = admin.open(&of_p1).await;
    snapshot_settings().bind(|| {
        insta::assert_snapshot!("activity_in_a_project", page.snapshot());
    });
    // another project's entries, and where others come from, are not the administrator's
    for hidden in ["panel.restart", "198.51.100.7"] {
        assert!(!page.body.contains(hidden), "{hidden}");
    }
    let page = admin.open(&format!("{of_p1}&user=name-of-u2")).await;
    assert!(!page.body.contains("object-of-u1"), "{}", page.body);
    assert!(page.body.contains("object-of-u2"));
    // the role counts in its project only
    let page = admin.open(&format!("{PAGE}?project=p2")).await;
    assert_eq!(page.status, StatusCode::FORBIDDEN);
    let looks = stack.audited("audit.read").await;
    assert_eq!(looks[1].outcome, Outcome::Succeeded);
    assert_eq!(looks[1].project_id.as_deref(), Some("p1"));
}

#[tokio::test]
async fn audit_page_leads_to_older_entries_and_filters() {
    let stack = Stack::start(Wanted::default()).await;
    let (mut browser, _) = stack.signed_in(&["k8s_admin"]).await;
    let page = browser.open(PAGE).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("no_activity", page.snapshot()));
    for number in 0..60 {
        let action = format!("panel.action-{number:02}");
        append(&stack, "u1", "p1", &action, json!({})).await;
    }
    let page = browser.open(PAGE).await;
    assert!(page.body.contains("panel.action-59"));
    assert!(!page.body.contains("panel.action-09"));
    assert!(page.body.contains("50 entries, newest first"));
    assert!(page.body.contains("?before=11\""), "{}", page.body);
    let page = browser.open(&format!("{PAGE}?before=11")).await;
    assert!(page.body.contains("panel.action-09"));
    assert!(page.body.contains("Newest entries"));
    assert!(!page.body.contains("Older entries"));
    let page = browser
        .open(&format!("{PAGE}?action=panel.action-07"))
        .await;
    snapshot_settings().bind(|| insta::assert_snapshot!("activity_of_one_kind", page.snapshot()));
    let page = browser.open(&format!("{PAGE}?outcome=denied")).await;
    snapshot_settings().bind(|| insta::assert_snapshot!("no_fitting_entry", page.snapshot()));
    for wrong in ["since=soon", "outcome=x", "before=-x", "action=a&action=b"] {
        let page = browser.open(&format!("{PAGE}?{wrong}")).await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    let page = browser.open(&format!("{MAIN}/oauth2/sessions")).await;
    assert!(page.body.contains("href=\"/oauth2/audit\""));
}
