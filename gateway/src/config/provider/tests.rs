use super::*;
use serde_json::{Value, json};

fn provider(more: Value) -> ProviderConfig {
    let mut text = json!({
        "id": "corp", "name": "Corp", "kind": "oidc", "issuer": "https://id.example.org",
        "client_id": "portico",
    });
    for (key, value) in more.as_object().expect("object") {
        text[key] = value.clone();
    }
    serde_json::from_value(text).expect("shape")
}

fn app(allow: Value) -> AppConfig {
    serde_json::from_value(json!({
        "id": "logs", "name": "Logs", "project": "p", "url": "http://127.0.0.1:1",
        "allow": allow,
    }))
    .expect("app")
}

#[test]
fn several_providers_work_side_by_side() {
    let keystone: ProviderConfig =
        serde_json::from_value(json!({ "id": "cloud", "name": "Cloud", "kind": "keystone" }))
            .expect("shape");
    let apps = [app(json!([{ "group": "ops", "provider": "corp" }]))];
    let other = provider(json!({ "id": "other", "hosts": ["logs", "main"] }));
    assert_eq!(
        validate(
            &[keystone.clone(), provider(json!({})), other.clone()],
            &apps
        ),
        Ok(())
    );
    assert!(other.is_offered_for(Some("logs")));
    assert!(other.is_offered_for(None));
    assert!(!other.is_offered_for(Some("metrics")));
    assert_eq!(
        validate(
            &[
                keystone.clone(),
                ProviderConfig {
                    id: "x".into(),
                    ..keystone
                }
            ],
            &[]
        ),
        Err(ProviderError::TwoKeystones)
    );
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let one = |more| validate(&[provider(more)], &[]);
    assert!(matches!(
        one(json!({ "id": "A b" })),
        Err(ProviderError::Id(_))
    ));
    assert!(matches!(
        one(json!({ "hosts": ["nowhere"] })),
        Err(ProviderError::Host { .. })
    ));
    assert!(matches!(
        one(json!({ "issuer": null })),
        Err(ProviderError::Missing {
            field: "issuer",
            ..
        })
    ));
    assert!(matches!(
        one(json!({ "issuer": "http://id.example.org" })),
        Err(ProviderError::Settings { .. })
    ));
    assert!(matches!(
        one(json!({ "api_audience": "portico" })),
        Err(ProviderError::Settings { .. })
    ));
    assert!(matches!(
        one(json!({ "kind": "keystone" })),
        Err(ProviderError::NotForKeystone { .. })
    ));
    let twice = [provider(json!({})), provider(json!({}))];
    assert!(matches!(
        validate(&twice, &[]),
        Err(ProviderError::Twice(_))
    ));
}

#[test]
fn attack_55_a_rule_that_cannot_be_decided_stops_the_start() {
    let apps = [app(json!([{ "group": "ops", "provider": "corp" }]))];
    assert!(matches!(
        validate(&[], &apps),
        Err(ProviderError::Group(GroupError::NoSuchProvider { .. }))
    ));
    let roles_of = json!({ "kind": "jwt", "roles": [
        { "value": "Admin", "for": [{ "group": "ops", "provider": "corp" }] },
    ]});
    let mut telling = app(json!([]));
    telling.identity = serde_json::from_value(roles_of).expect("identity");
    assert!(matches!(
        validate(&[], &[telling]),
        Err(ProviderError::Group(GroupError::NoSuchProvider { .. }))
    ));
    let blind = provider(json!({ "claims": { "groups": "" } }));
    assert!(matches!(
        validate(&[blind], &apps),
        Err(ProviderError::Group(GroupError::NotRead {
            what: "groups",
            ..
        }))
    ));
    let roles = [app(json!([{ "group": "role:ops", "provider": "corp" }]))];
    assert!(matches!(
        validate(&[provider(json!({}))], &roles),
        Err(ProviderError::Group(GroupError::NotRead {
            what: "roles",
            ..
        }))
    ));
}

#[test]
fn none_is_not_an_algorithm() {
    let text = json!({
        "id": "corp", "name": "Corp", "kind": "oidc", "algorithms": ["none"],
    });
    assert!(serde_json::from_value::<ProviderConfig>(text).is_err());
}
