use super::*;
use portico_domain::cluster::RawTokens;
use portico_domain::identity::{Named, User};
use portico_openstack::keystone::Trust;
use portico_openstack::keystone::token::UsedApplicationCredential;
use uuid::Uuid;

const NOW: i64 = 1_800_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn named(name: &str) -> Named {
    Named {
        id: format!("{name}-id"),
        name: name.to_owned(),
    }
}

fn details() -> TokenDetails {
    TokenDetails {
        identity: Identity {
            user: User {
                id: "u1".to_owned(),
                name: "ada".to_owned(),
                domain: named("Default"),
            },
            project: Some(Project {
                id: "acme-id".to_owned(),
                name: "acme".to_owned(),
                domain: named("Default"),
            }),
            roles: vec![named("k8s_admin"), named("member")],
        },
        scope: TokenScope::Project,
        issued_at: at(NOW - 60),
        expires_at: at(NOW + 600),
        methods: vec!["password".to_owned()],
        audit_ids: vec!["audit-1".to_owned()],
        application_credential: None,
        trust: None,
        is_oauth: false,
    }
}

fn cluster(accepted: &[&str]) -> ClusterRecord {
    ClusterRecord {
        id: Uuid::from_u128(1),
        name: "acme-prod".to_owned(),
        owner_project: "acme-id".to_owned(),
        accepted_projects: accepted.iter().map(|id| (*id).to_owned()).collect(),
        accepted_domains: Vec::new(),
        accepted_roles: Vec::new(),
        accepted_tokens: Vec::new(),
        api_url: "https://127.0.0.1:6443".to_owned(),
        ca_file: None,
        sealing_key_file: "k.pub".into(),
        api_audiences: vec![
            "https://kubernetes.default.svc".to_owned(),
            "own".to_owned(),
        ],
        client_fingerprints: Vec::new(),
        authorization_policy_file: None,
        authorization_policy_config_map: None,
        raw_keystone_tokens: RawTokens::Off,
        namespace_format: portico_domain::namespace_format::NamespaceFormat::default(),
    }
}

#[test]
fn a_project_token_becomes_a_kubernetes_user() {
    let user = decide(&details(), &cluster(&[]), at(NOW)).unwrap();
    assert_eq!(user.username, "ada@Default");
    assert_eq!(user.uid, "u1");
    assert!(user.groups.contains(&"k8s_admin-id".to_owned()));
    assert_eq!(user.extra["portico.dev/project-id"], ["acme-id"]);
    assert_eq!(
        user.extra["portico.dev/role-names"],
        ["k8s_admin", "member"]
    );
    assert_eq!(user.extra["portico.dev/credential-id"], ["audit-1"]);
    let of_the_reference =
        |key: &str| user.extra[format!("alpha.kubernetes.io/identity/{key}").as_str()].clone();
    assert_eq!(of_the_reference("roles"), ["k8s_admin", "member"]);
    assert_eq!(of_the_reference("project/id"), ["acme-id"]);
    assert_eq!(of_the_reference("project/name"), ["acme"]);
    assert_eq!(of_the_reference("user/domain/id"), ["Default-id"]);
    assert_eq!(of_the_reference("user/domain/name"), ["Default"]);
}

#[test]
fn a_cluster_of_several_projects_gets_no_bare_role_ids() {
    let user = decide(&details(), &cluster(&["acme-id", "globex-id"]), at(NOW)).unwrap();
    assert!(!user.groups.contains(&"k8s_admin-id".to_owned()));
    let qualified = "portico:project:acme-id:role:k8s_admin-id".to_owned();
    assert!(user.groups.contains(&qualified));
}

#[test]
fn everything_that_is_not_a_users_own_project_token_is_refused() {
    type Change = fn(&mut TokenDetails);
    let cases: [(Change, Refusal); 21] = [
        (|d| d.expires_at = at(NOW), Refusal::Expired),
        (
            |d| d.scope = TokenScope::Unscoped,
            Refusal::Scope(TokenScope::Unscoped),
        ),
        (
            |d| d.scope = TokenScope::Domain,
            Refusal::Scope(TokenScope::Domain),
        ),
        (
            |d| d.scope = TokenScope::System,
            Refusal::Scope(TokenScope::System),
        ),
        (
            |d| d.identity.project = None,
            Refusal::Scope(TokenScope::Project),
        ),
        (|d| d.trust = Some(trust()), Refusal::Trust),
        (|d| d.is_oauth = true, Refusal::OAuth),
        (
            |d| d.methods = vec!["ec2credential".to_owned()],
            Refusal::Ec2,
        ),
        (|d| d.identity.roles.clear(), Refusal::NoRole),
        (
            |d| d.identity.roles = vec![named("r"); 1001],
            Refusal::TooManyRoles,
        ),
        (|d| d.identity.user.id.clear(), Refusal::UnusableName),
        (|d| d.identity.user.name.clear(), Refusal::UnusableName),
        (
            |d| d.identity.user.name = "  ".to_owned(),
            Refusal::UnusableName,
        ),
        (
            |d| d.identity.user.name = "a\nb".to_owned(),
            Refusal::UnusableName,
        ),
        (
            |d| d.identity.user.name = "a\0".to_owned(),
            Refusal::UnusableName,
        ),
        (
            |d| d.identity.user.name = "a\u{202E}b".to_owned(),
            Refusal::UnusableName,
        ),
        (
            |d| d.identity.user.domain.name.clear(),
            Refusal::UnusableName,
        ),
        (|d| d.identity.roles[0].id.clear(), Refusal::UnusableName),
        (
            |d| d.identity.user.name = "system:kube-scheduler".to_owned(),
            Refusal::ReservedName,
        ),
        (
            |d| d.identity.user.name = " System:node:n1".to_owned(),
            Refusal::ReservedName,
        ),
        (
            |d| d.identity.project.as_mut().unwrap().id = "globex-id".to_owned(),
            Refusal::Project,
        ),
    ];
    for (change, expected) in cases {
        let mut details = details();
        change(&mut details);
        let refused = decide(&details, &cluster(&[]), at(NOW)).unwrap_err();
        assert_eq!(refused, expected);
    }
    let mut details = details();
    details.application_credential = Some(credential(Some(&["compute"])));
    let refused = decide(&details, &cluster(&[]), at(NOW)).unwrap_err();
    assert_eq!(refused, Refusal::AccessRules);
    details.application_credential = Some(credential(None));
    assert!(decide(&details, &cluster(&[]), at(NOW)).is_ok());
}

fn trust() -> Trust {
    Trust {
        id: "t".to_owned(),
        trustor_id: "bob-id".to_owned(),
        impersonation: false,
    }
}

fn credential(rules: Option<&[&str]>) -> UsedApplicationCredential {
    UsedApplicationCredential {
        id: "c".to_owned(),
        access_rules: rules.map(|list| list.iter().map(|one| (*one).to_owned()).collect()),
    }
}

#[test]
fn a_kind_of_token_that_the_record_names_counts_and_no_other() {
    type Change = fn(&mut TokenDetails);
    let scope = |scope| {
        move |d: &mut TokenDetails| {
            d.scope = scope;
            d.identity.project = None;
            d.identity.roles.clear();
        }
    };
    let unscoped = scope(TokenScope::Unscoped);
    let domain = scope(TokenScope::Domain);
    let system = scope(TokenScope::System);
    type Kind<'a> = (TokenKind, &'a dyn Fn(&mut TokenDetails));
    let kinds: [Kind<'_>; 7] = [
        (TokenKind::Unscoped, &unscoped),
        (TokenKind::Domain, &domain),
        (TokenKind::System, &system),
        (TokenKind::Trust, &((|d| d.trust = Some(trust())) as Change)),
        (TokenKind::Oauth, &((|d| d.is_oauth = true) as Change)),
        (
            TokenKind::Ec2,
            &((|d| d.methods = vec!["ec2credential".to_owned()]) as Change),
        ),
        (
            TokenKind::AccessRules,
            &((|d| d.application_credential = Some(credential(Some(&["kubernetes"])))) as Change),
        ),
    ];
    for (kind, change) in &kinds {
        let mut details = details();
        change(&mut details);
        for (accepted, _) in &kinds {
            let mut cluster = cluster(&[]);
            cluster.accepted_tokens = vec![*accepted];
            let decided = decide(&details, &cluster, at(NOW));
            assert_eq!(decided.is_ok(), kind == accepted, "{kind:?} {accepted:?}");
        }
    }
    let mut anything = cluster(&[]);
    anything.accepted_tokens = kinds.iter().map(|(kind, _)| *kind).collect();
    let mut without_project = details();
    unscoped(&mut without_project);
    let user = decide(&without_project, &anything, at(NOW)).unwrap();
    assert_eq!(user.groups, ["portico:user:u1"]);
    let mut lent = details();
    lent.trust = Some(trust());
    let user = decide(&lent, &anything, at(NOW)).unwrap();
    assert_eq!(user.extra["portico.dev/trustor-id"], ["bob-id"]);
    // for something else
    let mut ruled = details();
    ruled.application_credential = Some(credential(Some(&["compute"])));
    assert_eq!(
        decide(&ruled, &anything, at(NOW)).unwrap_err(),
        Refusal::AccessRules
    );
    // a cluster that wants a role accepts no user without one
    anything.accepted_roles = vec!["k8s_admin-id".to_owned()];
    assert!(decide(&without_project, &anything, at(NOW)).is_err());
}

#[test]
fn a_project_named_like_the_accepted_id_is_another_project() {
    let mut details = details();
    let project = details.identity.project.as_mut().unwrap();
    (project.id, project.name) = ("evil-id".to_owned(), "acme-id".to_owned());
    let refused = decide(&details, &cluster(&[]), at(NOW)).unwrap_err();
    assert_eq!(refused, Refusal::Project);
}

#[test]
fn a_role_named_like_a_kubernetes_group_gives_no_such_group() {
    let mut details = details();
    details.identity.roles[0].name = "system:masters".to_owned();
    details.identity.roles[1].id = "system:masters".to_owned();
    let user = decide(&details, &cluster(&[]), at(NOW)).unwrap();
    assert!(
        user.groups
            .iter()
            .all(|group| !group.starts_with("system:"))
    );
}

#[test]
fn audiences_are_intersected() {
    let list = |items: &[&str]| items.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let cluster = cluster(&[]);
    for (asked, expected) in [
        (list(&["own"]), Ok(list(&["own"]))),
        (list(&["other", "own"]), Ok(list(&["own"]))),
        (list(&[]), Ok(list(&[]))),
        (list(&["other"]), Err(Refusal::Audience)),
        (list(&[""]), Err(Refusal::Audience)),
    ] {
        assert_eq!(audiences(&asked, &cluster), expected);
    }
}
