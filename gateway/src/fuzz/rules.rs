//! Fuzzes rules as operators write them.
use bolero::check;
use portico_domain::{
    access::Rule,
    identity::{Identity, Named, Project, User},
};
use portico_testkit::fuzz::{Change, edited, seeds, time};

use crate::config::AppConfig;

const APPS: &str = include_str!("seeds/apps.json");

const PIECES: [&str; 16] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "\"role\"",
    "\"project\"",
    "\"group\"",
    "\"provider\"",
    "\"*\"",
    "\"\"",
    "\"role:\"",
    "\\u0000",
];

/// Returns a user that no rule of the seeds matches.
fn stranger() -> Identity {
    let named = |name: &str| Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    };
    Identity {
        user: User {
            id: "mallory".to_owned(),
            name: "mallory".to_owned(),
            domain: named("Default"),
        },
        project: Some(Project {
            id: "nowhere".to_owned(),
            name: "acme".to_owned(),
            domain: named("Default"),
        }),
        roles: vec![named("k8s_admin"), named("*"), named("")],
    }
}

fn check_app(text: &[u8]) {
    let Ok(app) = serde_json::from_slice::<AppConfig>(text) else {
        return;
    };
    let read = serde_json::to_value(&app).unwrap();
    let again: AppConfig = serde_json::from_value(read.clone()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), read);
    for rule in &app.allow {
        match rule {
            Rule::Role(rule) => {
                let theirs = rule.project == "nowhere";
                assert!(theirs || !rule.holds(&stranger()), "{rule:?}");
            }
            Rule::Group(rule) => {
                assert!(!rule.holds("elsewhere", &[], &[]), "{rule:?}");
                let of_no_user = rule.holds(&rule.provider, &[], &[]);
                assert!(!of_no_user, "{rule:?}");
            }
        }
    }
}

#[test]
fn fuzz_rules() {
    let all = seeds(APPS);
    for seed in &all {
        let app: AppConfig = serde_json::from_str(seed).unwrap();
        assert!(!app.allow.is_empty(), "{seed}");
        check_app(seed.as_bytes());
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| check_app(&edited(&all, &PIECES, change)));
}
