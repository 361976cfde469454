use super::*;
use serde_json::{Value, json};

fn answer(status: u16, body: &str) -> Answer {
    Answer {
        status: StatusCode::from_u16(status).unwrap(),
        retry_after: None,
        subject_token: Some("gAAAA-issued".into()),
        receipt: None,
        body: body.as_bytes().to_vec(),
    }
}

fn error_body(code: u16) -> String {
    json!({"error": {"code": code, "message": "m", "title": "t"}}).to_string()
}

fn token(extra: &Value) -> String {
    let mut token = json!({
        "methods": ["password"],
        "user": {"id": "u1", "name": "ada", "domain": {"id": "default", "name": "Default"},
                 "password_expires_at": null},
        "audit_ids": ["a1"],
        "issued_at": "2026-11-21T10:55:24.000000Z",
        "expires_at": "2026-11-21T11:55:24.000000Z",
    });
    for (name, value) in extra.as_object().unwrap() {
        token[name] = value.clone();
    }
    json!({ "token": token }).to_string()
}

fn project_scope() -> Value {
    json!({
        "project": {"id": "p1", "name": "acme", "domain": {"id": "default", "name": "Default"}},
        "is_domain": false,
        "roles": [{"id": "r1", "name": "k8s_admin"}],
    })
}

#[test]
fn a_no_counts_only_in_keystones_own_form() {
    let unavailable = |status| Error::Unavailable(Unavailable::Status(status));
    let cases = [
        (401, error_body(401), Error::InvalidToken),
        (404, error_body(404), Error::InvalidToken),
        (403, error_body(403), Error::Forbidden),
        (400, error_body(400), Error::BadRequest),
        (413, error_body(413), Error::BadRequest),
        (
            401,
            error_body(404),
            Error::Malformed("an error that is not Keystone's"),
        ),
        (
            404,
            "<html>nginx</html>".to_owned(),
            Error::Malformed("an error that is not Keystone's"),
        ),
        (
            404,
            String::new(),
            Error::Malformed("an error that is not Keystone's"),
        ),
        (
            401,
            "{}".to_owned(),
            Error::Malformed("an error that is not Keystone's"),
        ),
        (
            200,
            "<html>portal</html>".to_owned(),
            Error::Malformed("unexpected content"),
        ),
        (200, "{".to_owned(), Error::Malformed("unexpected content")),
        (200, "{}".to_owned(), Error::Malformed("unexpected content")),
        (204, String::new(), Error::Malformed("unexpected status")),
        (300, "{}".to_owned(), Error::Malformed("unexpected status")),
        (302, String::new(), Error::Malformed("unexpected status")),
        (409, error_body(409), Error::Malformed("unexpected status")),
        (429, error_body(429), unavailable(429)),
        (500, error_body(500), unavailable(500)),
        (502, "<html>bad gateway</html>".to_owned(), unavailable(502)),
        (503, String::new(), unavailable(503)),
        (504, String::new(), unavailable(504)),
    ];
    for (status, body, expected) in cases {
        let result = answer(status, &body).validated();
        assert_eq!(result.unwrap_err(), expected, "{status} {body}");
    }
}

#[test]
fn each_scope_is_distinguished() {
    let role = json!([{"id": "r1", "name": "admin"}]);
    let cases = [
        (json!({}), TokenScope::Unscoped, 0),
        (project_scope(), TokenScope::Project, 1),
        (
            json!({"domain": {"id": "d", "name": "D"}, "roles": role}),
            TokenScope::Domain,
            0,
        ),
        (
            json!({"system": {"all": true}, "roles": role}),
            TokenScope::System,
            0,
        ),
    ];
    for (extra, scope, roles) in cases {
        let details = answer(200, &token(&extra)).validated().unwrap();
        assert_eq!(details.scope, scope);
        assert_eq!(details.identity.roles.len(), roles);
        assert_eq!(
            details.identity.project.is_some(),
            scope == TokenScope::Project
        );
    }
    let mut both = project_scope();
    both["system"] = json!({"all": true});
    assert!(matches!(
        answer(200, &token(&both)).validated(),
        Err(Error::Malformed(_))
    ));
}

#[test]
fn delegated_tokens_are_marked() {
    let details = |name: &str, value: Value| {
        let mut extra = project_scope();
        extra[name] = value;
        answer(200, &token(&extra)).validated().unwrap()
    };
    let credential = |value: Value| {
        let details = details("application_credential", value);
        details.application_credential.unwrap().access_rules
    };
    let plain = json!({"id": "c", "name": "ci", "restricted": true});
    assert_eq!(credential(plain), None);
    assert_eq!(
        credential(json!({"id": "c", "access_rules": []})),
        Some(vec![])
    );
    let rule = json!({"service": "compute", "method": "GET", "path": "/v2.1/servers"});
    assert_eq!(
        credential(json!({"id": "c", "access_rules": [rule]})),
        Some(vec!["compute".to_owned()])
    );
    let trust = json!({"id": "t", "impersonation": true, "trustor_user": {"id": "ada"},
        "trustee_user": {"id": "bob"}});
    let trust = details("OS-TRUST:trust", trust).trust.unwrap();
    assert!(trust.impersonation);
    assert_eq!(trust.trustor_id, "ada");
    assert!(details("OS-OAUTH1", json!({"consumer_id": "c"})).is_oauth);
    assert!(details("oauth2_credential", json!({"x5t#S256": "x"})).is_oauth);
    let plain = answer(200, &token(&project_scope())).validated().unwrap();
    assert!(plain.application_credential.is_none() && plain.trust.is_none() && !plain.is_oauth);
    assert_eq!(plain.expires_at.to_string(), "2026-11-21T11:55:24Z");
}

#[test]
fn a_missing_second_factor_is_not_a_refusal() {
    let mut step = answer(
        401,
        r#"{"receipt": {"methods": ["password"]}, "required_auth_methods": [["password", "totp"]]}"#,
    );
    step.receipt = Some("gAAAA-receipt".into());
    let AuthOutcome::ReceiptRequired { required, .. } = step.authenticated().unwrap() else {
        panic!("a receipt was expected");
    };
    assert_eq!(required, [["password", "totp"]]);
    let wrong = answer(401, &error_body(401)).authenticated();
    assert_eq!(wrong.unwrap_err(), Error::InvalidCredentials);
}

#[test]
fn a_token_answer_without_its_header_is_malformed() {
    let mut issued = answer(201, &token(&project_scope()));
    issued.subject_token = None;
    let error = issued.issued(Error::InvalidToken).unwrap_err();
    assert_eq!(error, Error::Malformed("no X-Subject-Token"));
}

#[test]
fn revoking_a_dead_token_is_success() {
    assert_eq!(answer(204, "").revoked(), Ok(Revoked::Now));
    assert_eq!(
        answer(404, &error_body(404)).revoked(),
        Ok(Revoked::Already)
    );
    assert_eq!(
        answer(401, &error_body(401)).revoked(),
        Ok(Revoked::Already)
    );
    assert!(answer(404, "<html>").revoked().is_err());
    assert!(answer(503, "").revoked().is_err());
}

#[test]
fn projects_are_sorted_and_only_those_one_can_use() {
    let body = json!({"projects": [
        {"id": "2", "name": "globex", "domain_id": "other", "enabled": true, "is_domain": false},
        {"id": "1", "name": "acme", "domain_id": "default", "enabled": true, "is_domain": false},
        {"id": "3", "name": "retired", "domain_id": "default", "enabled": false},
        {"id": "4", "name": "d", "domain_id": null, "enabled": true, "is_domain": true},
    ]});
    let home = Named {
        id: "default".to_owned(),
        name: "Default".to_owned(),
    };
    let projects = answer(200, &body.to_string()).projects(&home).unwrap();
    let shown: Vec<_> = projects
        .iter()
        .map(|project| (project.name.as_str(), project.domain.name.as_str()))
        .collect();
    assert_eq!(shown, [("acme", "Default"), ("globex", "other")]);
}

#[test]
fn only_version_3_is_the_identity_api() {
    let version = |id: &str| {
        answer(
            200,
            &json!({"version": {"id": id, "status": "stable"}}).to_string(),
        )
        .version()
    };
    assert_eq!(version("v3.14").unwrap().status, "stable");
    assert!(version("v2.0").is_err());
}
