//! Tests of access log entries.
use super::*;

#[test]
fn a_decision_follows_from_what_was_found_out() {
    let notes = Notes::default();
    let passed = Notes {
        passed_on: true,
        ..Notes::default()
    };
    let refused = Notes {
        refused: true,
        ..Notes::default()
    };
    for (status, problem, notes, expected) in [
        (200, None, &notes, Decision::Allowed),
        (303, None, &notes, Decision::Redirected),
        (401, None, &notes, Decision::Refused),
        (503, None, &notes, Decision::Failed),
        // an upstream's own words
        (403, None, &passed, Decision::Allowed),
        (500, None, &passed, Decision::Allowed),
        (303, None, &passed, Decision::Allowed),
        (200, None, &refused, Decision::Refused),
        (502, Some(Source::Upstream), &passed, Decision::Failed),
        (403, Some(Source::Downstream), &notes, Decision::Refused),
        (500, Some(Source::Internal), &notes, Decision::Failed),
    ] {
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(Decision::of(status, problem, notes), expected, "{status}");
    }
}

#[test]
fn a_line_has_no_query_and_no_credential_of_a_url() {
    let uri: Uri = "/oauth2/handover?code=s3cret".parse().unwrap();
    assert_eq!(path(&uri), "/oauth2/handover");
    let named = HeaderValue::from_static("me:hush@localhost:8080");
    assert_eq!(host(&uri, Some(&named)), "localhost:8080");
    let long: Uri = format!("/{}", "a".repeat(5000)).parse().unwrap();
    assert!(path(&long).len() < 520);
}
