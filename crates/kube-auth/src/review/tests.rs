use super::*;
use proptest::prelude::*;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

fn body() -> Value {
    json!({"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1",
           "metadata": {"creationTimestamp": null}, "spec": {"token": "t"}, "status": {"user": {}}})
}

fn decode(body: &Value) -> Result<Review, Invalid> {
    Review::decode(body.to_string().as_bytes())
}

#[test]
fn both_versions_are_decoded() {
    let mut body = body();
    assert_eq!(decode(&body).unwrap().version, ApiVersion::V1);
    body["apiVersion"] = json!("authentication.k8s.io/v1beta1");
    body["spec"]["audiences"] = json!(["a", "b"]);
    let review = decode(&body).unwrap();
    assert_eq!(review.version, ApiVersion::V1Beta1);
    assert_eq!(review.audiences, ["a", "b"]);
    assert_eq!(review.token.expose_secret(), "t");
}

#[test]
fn fields_of_the_wrong_type_are_refused() {
    let with = |pointer: &str, value: Value| {
        let mut body = body();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let cases = [
        (with("/kind", json!("SubjectAccessReview")), Invalid::Kind),
        (with("/kind", json!("tokenreview")), Invalid::Kind),
        (with("/kind", json!(null)), Invalid::Json),
        (
            with("/apiVersion", json!("authentication.k8s.io/v2")),
            Invalid::Version,
        ),
        (
            with("/apiVersion", json!("authorization.k8s.io/v1")),
            Invalid::Version,
        ),
        (with("/apiVersion", json!("v1")), Invalid::Version),
        (with("/apiVersion", json!(1)), Invalid::Json),
        (with("/spec", json!(null)), Invalid::Json),
        (with("/spec", json!({})), Invalid::Json),
        (with("/spec", json!("t")), Invalid::Json),
        (with("/spec/token", json!(null)), Invalid::Json),
        (with("/spec/token", json!(7)), Invalid::Json),
        (with("/spec/token", json!(["t"])), Invalid::Json),
        (
            with("/spec", json!({"token": "t", "audiences": "a"})),
            Invalid::Json,
        ),
        (
            with("/spec", json!({"token": "t", "audiences": [1]})),
            Invalid::Json,
        ),
        (with("/spec", json!({"Token": "t"})), Invalid::Json),
        (json!({"spec": {"token": "t"}}), Invalid::Json),
        (json!([]), Invalid::Json),
        (
            json!(["TokenReview", "authentication.k8s.io/v1", {"token": "t"}]),
            Invalid::Json,
        ),
        (with("/spec", json!(["t", null])), Invalid::Json),
        (json!(null), Invalid::Json),
    ];
    for (body, expected) in cases {
        assert_eq!(decode(&body).unwrap_err(), expected, "{body}");
    }
}

#[test]
fn bodies_that_are_not_one_json_object_are_refused() {
    let good = body().to_string();
    let doubled = good.replace(r#""token":"t""#, r#""token":"t","token":"u""#);
    assert_ne!(good, doubled);
    for text in [
        "",
        "{",
        "token=t",
        &good[..good.len() - 1],
        &format!("{good}{good}"),
        &format!("{good}x"),
        &doubled,
        &"[".repeat(60_000),
    ] {
        assert!(Review::decode(text.as_bytes()).is_err(), "{text:.80}");
    }
    assert!(Review::decode(b"\xff\xfe").is_err());
}

#[test]
fn a_refusal_contains_nothing_but_the_refusal() {
    let answer = serde_json::to_value(Answer::refused(ApiVersion::V1Beta1)).unwrap();
    let expected = json!({"apiVersion": "authentication.k8s.io/v1beta1", "kind": "TokenReview",
                          "status": {"authenticated": false}});
    assert_eq!(answer, expected);
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Review::decode(&bytes);
    }

    #[test]
    fn any_names_come_back_from_the_answer(username in ".*", group in ".*") {
        let user = UserInfo {
            username: username.clone(),
            uid: "u".to_owned(),
            groups: vec![group.clone()],
            extra: BTreeMap::new(),
        };
        let text = serde_json::to_string(&Answer::authenticated(ApiVersion::V1, user, vec![])).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(value["status"]["user"]["username"].as_str(), Some(username.as_str()));
        prop_assert_eq!(value["status"]["user"]["groups"][0].as_str(), Some(group.as_str()));
    }
}
