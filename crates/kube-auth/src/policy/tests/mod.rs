mod bounds;
mod lint;
mod strict;
mod version1;
mod version2;

use super::attributes::extra;
use super::*;

/// `get pods/exec in shop`, `get /healthz`; the resource as `deployments.apps/scale`.
fn request(user: &User, text: &str) -> Attributes {
    let words: Vec<&str> = text.split(' ').collect();
    let (verb, what) = (words[0], words[1]);
    let target = if what.starts_with('/') {
        Target::Path(what.to_owned())
    } else {
        let namespace = words
            .iter()
            .position(|word| *word == "in")
            .map_or("", |at| words[at + 1]);
        let name = words.get(2).filter(|word| **word != "in").unwrap_or(&"");
        Target::Resource(ResourceAttributes {
            namespace: namespace.to_owned(),
            name: (*name).to_owned(),
            ..ResourceAttributes::parse(what)
        })
    };
    Attributes {
        user: user.clone(),
        verb: verb.to_owned(),
        target,
    }
}

fn user(roles: &[&str], project_id: &str, project_name: &str) -> User {
    let values = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
    User {
        name: "ada".to_owned(),
        uid: "u1".to_owned(),
        groups: vec!["g1".to_owned(), "system:authenticated".to_owned()],
        extra: [
            (extra::ROLES.to_owned(), values(roles)),
            (extra::PROJECT_ID.to_owned(), values(&[project_id])),
            (extra::PROJECT_NAME.to_owned(), values(&[project_name])),
        ]
        .into(),
    }
}

fn check(policy: &str, user: &User, cases: &[(&str, bool)]) {
    let policy = Policy::parse(policy).unwrap();
    for (text, allowed) in cases {
        let decision = policy.decide(&request(user, text));
        assert_eq!(decision.allowed(), *allowed, "{text}");
    }
}

fn refused(policy: &str) -> String {
    Policy::parse(policy).unwrap_err().to_string()
}

#[test]
fn cases_are_decided_as_kube_auth_names_their_users() {
    let policy = Policy::parse(
        "apiVersion: kube-auth.portico.dev/v1\nkind: Policy\nrules:\n- {name: a, subjects: {roleIDs: [r1], projectIDs: [p1]}, \
         resources: [{groups: [apps], resources: [deployments/scale], namespaces: [shop], verbs: [patch]}]}",
    )
    .unwrap();
    let cases = Case::parse_all(
        "- {name: scales, user: {roles: [{id: r1}], project: {id: p1}}, verb: patch, resource: deployments.apps/scale, namespace: shop, allowed: true}\n\
         - {name: elsewhere, user: {roles: [{id: r1}], project: {id: p2}}, verb: patch, resource: deployments.apps/scale, namespace: shop, allowed: false}\n",
    )
    .unwrap();
    for case in cases {
        assert_eq!(
            policy.decide(&case.attributes()).allowed(),
            case.allowed,
            "{}",
            case.name
        );
    }
    assert!(Case::parse_all("- {name: x, verb: get, allowed: true}").is_err());
}
