use std::{fmt::Write as _, time::Duration};

use axum::response::IntoResponse as _;
use http::{StatusCode, header};
use http_body_util::BodyExt as _;
use jiff::SignedDuration;
use portico_openstack::keystone::{self, error::Unavailable};
use portico_proxy::forward::ForwardError;
use portico_request::{path::PathFault, rewrite::RewriteFault};
use portico_store::StoreError;
use portico_testkit::snapshot_settings;
use serde_json::json;

use super::Problem;
use crate::{http::origin::OriginFault, sessions::keystone_tokens::TokenError};

#[tokio::test]
async fn a_problem_is_a_complete_response_wherever_it_is_returned() {
    let problem = Problem::downstream(StatusCode::CONFLICT, "taken", "Taken", "It is taken.")
        .steps(["Choose another."]);
    let problem = Problem {
        retry_after: Some(7),
        ..problem
    };
    let response = problem.into_response();
    assert_eq!(response.status(), StatusCode::CONFLICT);
    assert_eq!(response.headers()[header::RETRY_AFTER], "7");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    let body = response.into_body().collect().await.expect("body");
    let body: serde_json::Value = serde_json::from_slice(&body.to_bytes()).expect("JSON");
    let expected = json!({
        "error": "taken",
        "message": "It is taken.",
        "request_id": "",
        "steps": ["Choose another."],
    });
    assert_eq!(body, expected);
}

/// Returns a problem as a paragraph: status, code and side; then what users read.
fn in_words(problem: &Problem) -> String {
    let mut text = format!(
        "{} {} ({:?})",
        problem.status.as_u16(),
        problem.code,
        problem.source
    );
    // writing to a string cannot fail
    if let Some(seconds) = problem.retry_after {
        let _ = write!(text, ", Retry-After: {seconds}");
    }
    let _ = write!(text, "\n{}\n{}\n", problem.title, problem.detail);
    for step in &problem.steps {
        let _ = writeln!(text, "- {step}");
    }
    if let Some(link) = &problem.leads_to {
        let _ = writeln!(text, "[{}]({})", link.label, link.href);
    }
    text
}

fn all(problems: &[Problem]) -> String {
    let problems: Vec<_> = problems.iter().map(in_words).collect();
    problems.join("\n")
}

#[test]
fn a_refusal_names_its_reason_and_the_remedy() {
    let refusals = [
        Problem::bad_path(PathFault::DotSegment),
        Problem::bad_request("A field is missing."),
        Problem::foreign_origin(OriginFault::Foreign),
        Problem::foreign_origin(OriginFault::Unknown),
        Problem::foreign_origin(OriginFault::Embedded),
        Problem::csrf(),
        Problem::signed_out(),
        Problem::not_found(),
        Problem::service_worker("Grafana"),
        Problem::method_not_allowed(),
        Problem::too_many_requests("Grafana", Duration::from_secs(4)),
        Problem::throttled(
            "Too many attempts",
            "Too many sign-ins failed.",
            SignedDuration::from_secs(30),
        ),
        TokenError::Bound.into(),
    ];
    snapshot_settings().bind(|| insta::assert_snapshot!("refusals", all(&refusals)));
}

#[test]
fn an_outage_names_what_fails_and_what_still_works() {
    let outages = [
        Problem::store_unavailable(&StoreError::Uninitialised),
        Problem::store_unavailable(&StoreError::RedisTimeout {
            operation: "read a session",
        }),
        Problem::state_unavailable(),
        Problem::keystone_unavailable(),
        Problem::keystone_unavailable_by(&keystone::Error::Unavailable(Unavailable::Status(502))),
        Problem::provider_unavailable("Google", true),
        Problem::provider_unavailable("Google", false),
        Problem::busy(),
        Problem::internal(),
    ];
    snapshot_settings().bind(|| insta::assert_snapshot!("outages", all(&outages)));
}

#[test]
fn a_failed_request_to_an_app_names_the_side_that_failed() {
    let secret = "10.0.0.7:9090 with the token s3cret";
    let errors = [
        ForwardError::TooLarge,
        ForwardError::HeadersTooLarge,
        ForwardError::BadUpgrade,
        ForwardError::Rewrite(RewriteFault::OtherPrefix),
        ForwardError::Rewrite(RewriteFault::Path(PathFault::NotText)),
        ForwardError::Rewrite(RewriteFault::Unfit),
        ForwardError::ClientTimeout(Duration::from_secs(60)),
        ForwardError::NoSockets,
        ForwardError::NoneHealthy,
        ForwardError::SessionEnded,
        ForwardError::Connect(secret.into()),
        ForwardError::AnswerTooLarge,
        ForwardError::Broken(secret.into()),
        ForwardError::UnaskedSwitch,
        ForwardError::Timeout(Duration::from_secs(60)),
    ];
    let problems: Vec<_> = errors
        .iter()
        .map(|error| Problem::forwarding("Grafana", error))
        .collect();
    let text = all(&problems);
    assert!(!text.contains(secret), "{text}");
    snapshot_settings().bind(|| insta::assert_snapshot!("forwarding", text));
}
