//! Fuzz targets: untrusted input, changed at random from valid seeds.
use crate::access::AccessReview;
use crate::policy::{Attributes, Policy, ResourceAttributes, Target, User, extra};
use crate::review::Review;
use crate::shape::is_keystone_token;
use bolero::check;
use jiff::{SignedDuration, Timestamp};
use portico_assertion::{PrivateKey, cluster_token};
use portico_domain::cluster::RawTokens;
use portico_testkit::fuzz::{Change, edited, time};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use uuid::Uuid;

/// Fragments that often confuse parsers.
const PIECES: [&str; 16] = [
    "\"",
    "\\u0000",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "1e999",
    "\u{202e}",
    "\n",
    "portico_v1.",
    "gAAAAA",
    "*",
    "!",
];

const REVIEWS: [&str; 3] = [
    r#"{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":null},"spec":{"token":"t","audiences":["https://kubernetes.default.svc"]},"status":{"user":{}}}"#,
    r#"{"apiVersion":"authentication.k8s.io/v1beta1","kind":"TokenReview","spec":{"token":""}}"#,
    r#"{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"\u00e4\"","audiences":null}}"#,
];

const ACCESS: [&str; 2] = [
    r#"{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{"resourceAttributes":{"namespace":"x","verb":"get","version":"v1","resource":"pods","subresource":"exec","name":"p"},"user":"u","groups":["g"],"extra":{"a":["b"]},"uid":"i"}}"#,
    r#"{"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1beta1","spec":{"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"u","group":["g"]}}"#,
];

const POLICIES: [&str; 3] = [
    r#"[{"resource":{"verbs":["get"],"resources":["pods","pods/*"],"version":"*","namespace":"shop"},"match":[{"type":"role","values":["k8s_viewer"]}]},{"nonresource":{"verbs":["get"],"path":"/api*"},"match":[{"type":"user","values":["*"]}]}]"#,
    r#"[{"users":{"roles":["k8s_viewer"],"projects":["p1"]},"resource_permissions":{"!kube-system/['pods','services']":["get"],"*/*":["list"]},"nonresource_permissions":{"/healthz":["get"]}}]"#,
    "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- name: readers\n  subjects: {roleIDs: [r1], projectIDs: [p1]}\n  resources:\n  - {groups: [''], resources: [pods, pods/log], namespaces: ['*'], verbs: [get]}\n  paths:\n  - {paths: [/healthz, '/api/*'], verbs: [get]}\n",
];

#[test]
fn fuzz_token_reviews() {
    for seed in REVIEWS {
        assert!(Review::decode(seed.as_bytes()).is_ok(), "{seed}");
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let body = edited(&REVIEWS, &PIECES, change);
            let Ok(review) = Review::decode(&body) else {
                return;
            };
            // what was accepted is what any other JSON parser reads
            let seen: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(seen["kind"], "TokenReview");
            assert_eq!(seen["spec"]["token"], review.token.expose_secret());
            let audiences = seen["spec"]["audiences"].as_array();
            assert_eq!(audiences.map_or(0, Vec::len), review.audiences.len());
        });
}

#[test]
fn fuzz_access_reviews() {
    for seed in ACCESS {
        assert!(AccessReview::decode(seed.as_bytes()).is_ok(), "{seed}");
    }
    let policies: Vec<_> = POLICIES
        .iter()
        .map(|text| Policy::parse(text).unwrap())
        .collect();
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let body = edited(&ACCESS, &PIECES, change);
            let Ok(review) = AccessReview::decode(&body) else {
                return;
            };
            for policy in &policies {
                policy.decide(&review.attributes);
            }
            assert!(!review.attributes.to_string().is_empty());
        });
}

#[test]
fn fuzz_tokens() {
    let key = PrivateKey::generate();
    let (cluster, now) = (Uuid::from_u128(1), Timestamp::constant(1_800_000_000, 0));
    let end = now + SignedDuration::from_hours(1);
    let sealed = cluster_token::seal(key.public(), cluster, &"gAAAA-inside".into(), end, now);
    let sealed = sealed.unwrap().token.expose_secret().to_owned();
    let keys = [key];
    assert!(cluster_token::open(&keys, cluster, &sealed, now).is_ok());
    let fernet = format!("gAAAAABp{}", "x-_9".repeat(44));
    assert!(is_keystone_token(RawTokens::Fernet, &fernet));
    let jws = "eyJhbGciOiJFUzI1NiJ9.eyJvcGVuc3RhY2tfbWV0aG9kcyI6WyJwYXNzd29yZCJdfQ.c2ln";
    assert!(is_keystone_token(RawTokens::Jws, jws));
    let seeds = [sealed.as_str(), &fernet, jws];
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let bytes = edited(&seeds, &PIECES, change);
            let text = String::from_utf8_lossy(&bytes);
            // only the token itself can be opened
            let opened = cluster_token::open(&keys, cluster, &text, now).is_ok();
            assert_eq!(opened, text == sealed);
            for provider in [RawTokens::Off, RawTokens::Fernet, RawTokens::Jws] {
                let counts = is_keystone_token(provider, &text);
                let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
                assert!(!counts || printable && text.len() <= 8_000, "{text}");
                assert!(!counts || provider != RawTokens::Off);
            }
        });
}

#[test]
fn fuzz_policies() {
    let values = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let stranger = |target| Attributes {
        user: User {
            name: "mallory@evil".to_owned(),
            uid: "u9".to_owned(),
            groups: values(&["system:authenticated"]),
            extra: [
                (extra::ROLES.to_owned(), values(&["nothing"])),
                (extra::PROJECT_ID.to_owned(), values(&["nowhere"])),
            ]
            .into(),
        },
        verb: "get".to_owned(),
        target,
    };
    let asked = [
        stranger(Target::Resource(ResourceAttributes {
            namespace: "kube-system".to_owned(),
            ..ResourceAttributes::parse("secrets")
        })),
        stranger(Target::Path("/metrics".to_owned())),
    ];
    for seed in POLICIES {
        assert!(Policy::parse(seed).is_ok(), "{seed}");
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let bytes = edited(&POLICIES, &PIECES, change);
            let text = String::from_utf8_lossy(&bytes);
            let Ok(policy) = Policy::parse(&text) else {
                return;
            };
            for attributes in &asked {
                let decision = policy.decide(attributes);
                assert_eq!(policy.decide(attributes), decision);
                if let Some(rule) = decision.allowed_by {
                    // an explanation names the rule that allowed it; rules are counted from one
                    assert!(!policy.describe(rule - 1).is_empty());
                }
                assert!(policy.steps(attributes).count() <= policy.len());
            }
            for finding in policy.lint() {
                assert!(!finding.to_string().is_empty());
            }
        });
}
