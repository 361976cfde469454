//! Fuzzes rules files as operators write them: an accepted file refuses what its rules refuse.
use std::path::Path;

use bolero::check;
use http::Method;
use portico_access_policy::{Outcome, Policy, PolicyQuery, Step, Subject};
use portico_testkit::fuzz::{Change, edited, seeds, time};
use serde_json::{Value, json};

use crate::config::AppConfig;

const FILES: &str = include_str!("seeds/rules-files.json");
const SHIPPED: [&str; 2] = [
    include_str!("../../../deploy/rules/prometheus.toml"),
    include_str!("../../../deploy/rules/alertmanager.toml"),
];

const PIECES: [&str; 24] = [
    "[[rules]]\n",
    "[[tests]]\n",
    "name = \"x\"\n",
    "effect = \"deny\"\n",
    "effect = \"public\"\n",
    "effect = \"allow\"\n",
    "paths = [\"/\"]\n",
    "paths = [\"regex:^/.*$\"]\n",
    "paths = [\"prefix:/\"]\n",
    "methods = [\"unsafe\"]\n",
    "who = [{ signed_in = true }]\n",
    "who = [{ role = \"admin\", project = \"$app\" }]\n",
    "except = { networks = [\"192.0.2.0/24\"] }\n",
    "networks = [\"0.0.0.0/0\"]\n",
    "signed_in_within = \"5m\"\n",
    "factors = [\"mfa\"]\n",
    "preflight = true\n",
    "regex:",
    "exact:",
    "(",
    "|",
    "..",
    "%2f",
    "\"",
];

const PATHS: [&str; 10] = [
    "/",
    "/x",
    "/x/",
    "/X/1",
    "/x;a=1/2",
    "/api/v2/silences",
    "/api/v1/admin/tsdb/snapshot",
    "/-/reload",
    "/%78",
    "/x/..%2fy",
];

fn app(rules: &Value) -> AppConfig {
    let app = json!({
        "id": "app", "name": "App", "project": "p1", "url": "http://127.0.0.1:1",
        "allow": [{ "role": "member", "project": "p1" }], "rules": rules,
    });
    serde_json::from_value(app).unwrap()
}

fn policy(rules: &Value, text: &[u8]) -> Option<Policy> {
    let file = Some((Path::new("rules.toml"), text.to_vec()));
    Policy::parse(&app(rules).policy(), &[], file).ok()
}

fn questions() -> impl Iterator<Item = PolicyQuery> {
    let people = [None, Some(Subject::named("u1", "ada", "Default"))];
    let asked = PATHS.iter().flat_map(move |path| {
        let people = people.clone();
        [Method::GET, Method::POST]
            .into_iter()
            .map(move |method| (method, *path, people.clone()))
    });
    asked.flat_map(|(method, path, people)| {
        people.into_iter().map(move |person| PolicyQuery {
            method: method.clone(),
            path: path.to_owned(),
            client: Some([192, 0, 2, 7].into()),
            person,
        })
    })
}

/// Returns whether a file is accepted. The file is compared with itself plus one more rule.
fn check_file(text: &[u8]) -> bool {
    let Some(plain) = policy(&json!([]), text) else {
        return false;
    };
    let closed = json!([{ "name": "closed to everyone", "effect": "deny" }]);
    let closed = policy(&closed, text);
    let open = json!([{ "name": "open to everyone", "effect": "public" }]);
    let open = policy(&open, text);
    for question in questions() {
        let explained = plain.explain(&question);
        let outcome = &explained.outcome;
        if question.person.is_none() {
            let by_a_user = matches!(outcome, Outcome::Open { .. } | Outcome::SignInAgain { .. });
            assert!(!by_a_user, "anonymous: {question:?}: {outcome:?}");
        }
        if let Outcome::BadRequest { .. } = outcome {
            continue;
        }
        let deciding: Vec<_> = explained
            .steps
            .iter()
            .filter(|(_, _, step)| *step == Step::Decides)
            .map(|(name, _, _)| name.as_str())
            .collect();
        assert_eq!(deciding, Vec::from_iter(outcome.rule()), "{question:?}");
        // the file may hold the maximum number of rules already, or one of that name
        if let Some(closed) = &closed {
            let outcome = closed.explain(&question).outcome;
            assert!(
                matches!(outcome, Outcome::Refused { rule: Some(_) }),
                "a deny about everything: {question:?}: {outcome:?}"
            );
        }
        if let Some(open) = &open {
            let after = open.explain(&question).outcome;
            let stays_closed = match outcome {
                // redirected to sign-in or to reauthentication by a `deny`, or because nothing
                // permitted it before
                Outcome::SignIn { rule: None } | Outcome::Refused { rule: None } => true,
                Outcome::Refused { .. } => after == *outcome,
                Outcome::SignIn { .. } => !after.is_open(),
                _ => true,
            };
            assert!(
                stays_closed,
                "a public opens: {question:?}: {outcome:?}, {after:?}"
            );
        }
    }
    true
}

#[test]
fn fuzz_rules_files() {
    let mut all = seeds(FILES);
    all.extend(SHIPPED.map(str::to_owned));
    for seed in &all {
        assert!(check_file(seed.as_bytes()), "{seed}");
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            check_file(&edited(&all, &PIECES, change));
        });
}
