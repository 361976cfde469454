use super::source::wanted;
use super::*;
use crate::reconcile::{
    FoundBinding, FoundNamespace, FoundSubject, MANAGED_BY, MANAGED_BY_LABEL, OWNER_LABEL,
    Observed, Place, RoleKind, Wanted,
};

fn config(text: &str) -> SyncConfig {
    SyncConfig::parse(text).unwrap()
}

fn everything() -> SyncConfig {
    config("data-types-to-sync: [projects, role_assignments]\nnamespace-format: '%n-%i'")
}

fn tenant(id: &str, name: &str, roles: &[(&str, &str, &[&str])]) -> Tenant {
    let held = |(id, name, users): &(&str, &str, &[&str])| {
        let held = HeldRole {
            name: (*name).to_owned(),
            users: users.iter().map(|&user| user.to_owned()).collect(),
        };
        ((*id).to_owned(), held)
    };
    Tenant {
        id: id.to_owned(),
        name: name.to_owned(),
        domain_id: "d1".to_owned(),
        roles: roles.iter().map(held).collect(),
    }
}

fn tenants(tenants: Vec<Tenant>) -> Tenants {
    Tenants {
        tenants,
        ..Tenants::default()
    }
}

fn known() -> BTreeSet<String> {
    ["view", "edit", "cluster-admin", "system:node"]
        .map(str::to_owned)
        .into()
}

fn made_for(project: &str) -> FoundNamespace {
    FoundNamespace {
        labels: BTreeMap::from([
            (MANAGED_BY_LABEL.to_owned(), MANAGED_BY.to_owned()),
            (OWNER_LABEL.to_owned(), OWNER.to_owned()),
            (PROJECT_LABEL.to_owned(), project.to_owned()),
        ]),
        ..FoundNamespace::default()
    }
}

fn cluster(namespaces: &[(&str, FoundNamespace)]) -> Observed {
    let namespaces = namespaces.iter().cloned();
    Observed {
        namespaces: namespaces
            .map(|(name, found)| (name.to_owned(), found))
            .collect(),
        ..Observed::default()
    }
}

fn names(wanted: &Wanted) -> Vec<&str> {
    wanted
        .namespaces
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

/// Where, what, and for whom.
fn bound(wanted: &Wanted) -> Vec<String> {
    let bindings = wanted.bindings.iter();
    bindings
        .map(|one| {
            format!(
                "{}: {} for {}",
                one.place,
                one.role_name,
                one.groups.join(" ")
            )
        })
        .collect()
}

#[test]
fn a_project_gets_a_namespace_and_each_role_held_there_a_binding_by_id() {
    let acme = tenant(
        "p1",
        "acme",
        &[("r1", "view", &["u1", "u2"]), ("r2", "edit", &["u1"])],
    );
    let found = tenants(vec![acme]);
    let (wanted, notes) = wanted(
        &everything(),
        &Options::default(),
        &found,
        &cluster(&[]),
        &known(),
    );
    assert_eq!(names(&wanted), ["acme-p1"]);
    assert_eq!(
        bound(&wanted),
        [
            "RoleBinding acme-p1/portico-sync-r1: view for portico:project:p1:role:r1",
            "RoleBinding acme-p1/portico-sync-r2: edit for portico:project:p1:role:r2",
        ]
    );
    assert_eq!(notes, [""; 0]);
}

#[test]
fn users_are_bound_by_id_where_that_is_asked_for() {
    let options = Options {
        subjects: Subjects::Users,
        ..Options::default()
    };
    let found = tenants(vec![tenant("p1", "acme", &[("r1", "view", &["u2", "u1"])])]);
    let (wanted, _) = wanted(&everything(), &options, &found, &cluster(&[]), &known());
    assert_eq!(
        bound(&wanted),
        ["RoleBinding acme-p1/portico-sync-r1: view for portico:user:u1 portico:user:u2"]
    );
}

#[test]
fn a_role_is_bound_by_its_id_where_one_is_named_and_else_by_its_name() {
    let roles: &[(&str, &str, &[&str])] = &[
        ("r1", "view", &["u"]),
        ("r2", "edit", &["u"]),
        ("r3", "cluster-admin", &["u"]),
        ("r4", "System:node", &["u"]),
        ("r5", "member", &["u"]),
    ];
    let found = tenants(vec![tenant("p1", "acme", roles)]);
    for (named, expected, noted) in [
        (&[][..], &["r1 view", "r2 edit"][..], 3),
        (&[("r1", "edit")], &["r1 edit"], 0),
        (
            &[("r3", "cluster-admin"), ("r9", "view")],
            &["r3 cluster-admin"],
            0,
        ),
        (&[("r5", "none")], &[], 1),
        // a name is not an ID
        (&[("view", "edit")], &[], 0),
    ] {
        let named = named.iter();
        let options = Options {
            roles: named
                .map(|(id, role)| ((*id).to_owned(), (*role).to_owned()))
                .collect(),
            ..Options::default()
        };
        let (wanted, notes) = wanted(&everything(), &options, &found, &cluster(&[]), &known());
        let bound: Vec<_> = wanted
            .bindings
            .iter()
            .map(|one| {
                let role = one.place.name.trim_start_matches("portico-sync-");
                format!("{role} {}", one.role_name)
            })
            .collect();
        assert_eq!(bound, expected);
        assert_eq!(notes.len(), noted, "{notes:?}");
    }
}

#[test]
fn what_the_file_leaves_out_gets_nothing() {
    let all = tenants(vec![
        tenant("p1", "acme", &[("r1", "view", &["u"])]),
        tenant("p2", "globex", &[]),
        tenant("p3", "p1", &[]),
    ]);
    let options = Options::default();
    let projects = "data-types-to-sync: [projects]\n";
    for (text, expected) in [
        (format!("{projects}projects-blacklist: [p1]"), &["p2", "p3"]),
        (
            format!("{projects}projects-name-blacklist: [globex]"),
            &["p1", "p3"],
        ),
    ] {
        let (wanted, _) = wanted(&config(&text), &options, &all, &cluster(&[]), &known());
        assert_eq!(names(&wanted), expected, "{text}");
        assert!(wanted.bindings.is_empty());
    }
}

#[test]
fn without_projects_roles_are_bound_only_in_namespaces_that_exist() {
    let config = config("data-types-to-sync: [role_assignments]");
    let roles: &[(&str, &str, &[&str])] = &[("r1", "view", &["u"])];
    let found = tenants(vec![
        tenant("p1", "acme", roles),
        tenant("p2", "globex", roles),
    ]);
    let observed = cluster(&[("p1", FoundNamespace::default()), ("old", made_for("p9"))]);
    let (wanted, notes) = wanted(&config, &Options::default(), &found, &observed, &known());
    assert!(wanted.namespaces.is_empty());
    assert_eq!(
        bound(&wanted),
        ["RoleBinding p1/portico-sync-r1: view for portico:project:p1:role:r1"]
    );
    assert_eq!(notes.len(), 1, "{notes:?}");
    // no user gave the namespaces up that were made when projects were named
    assert!(wanted.keep.contains("old"));
}

#[test]
fn a_project_keeps_its_namespace_when_it_is_renamed() {
    let found = tenants(vec![tenant("p1", "renamed", &[("r1", "view", &["u"])])]);
    let observed = cluster(&[("acme-p1", made_for("p1"))]);
    let (wanted, _) = wanted(
        &everything(),
        &Options::default(),
        &found,
        &observed,
        &known(),
    );
    assert_eq!(names(&wanted), ["acme-p1"]);
    assert!(bound(&wanted)[0].starts_with("RoleBinding acme-p1/"));
}

#[test]
fn a_namespace_of_another_projects_is_not_shared() {
    let observed = cluster(&[("acme-p1", made_for("p2"))]);
    let found = tenants(vec![tenant("p1", "acme", &[("r1", "view", &["u"])])]);
    let (first, notes) = wanted(
        &everything(),
        &Options::default(),
        &found,
        &observed,
        &known(),
    );
    assert!(first.namespaces.is_empty() && first.bindings.is_empty());
    assert!(notes[0].contains("p2"), "{notes:?}");
    // names that a tenant made up to be like another's
    let config = config("data-types-to-sync: [projects]\nnamespace-format: '%n%i'");
    let found = tenants(vec![tenant("bc", "a", &[]), tenant("c", "ab", &[])]);
    let (second, notes) = wanted(
        &config,
        &Options::default(),
        &found,
        &cluster(&[]),
        &known(),
    );
    assert_eq!(names(&second), ["abc"]);
    assert!(notes[0].contains("share"), "{notes:?}");
}

#[test]
fn the_namespace_of_a_disabled_project_is_not_given_up() {
    let found = Tenants {
        disabled: BTreeSet::from(["p1".to_owned()]),
        ..Tenants::default()
    };
    let observed = cluster(&[("acme-p1", made_for("p1")), ("globex-p2", made_for("p2"))]);
    let (wanted, _) = wanted(
        &everything(),
        &Options::default(),
        &found,
        &observed,
        &known(),
    );
    assert!(wanted.keep.contains("acme-p1") && !wanted.keep.contains("globex-p2"));
}

#[test]
fn where_a_mapped_group_is_bound_the_roles_holders_are_bound_too() {
    let config = config(
        "data-types-to-sync: []\nrole-mappings:\n- {keystone-role: ops, groups: [operators]}\n",
    );
    let bound_to = |group: &str, kind: &str, ours: bool| FoundBinding {
        role_kind: kind.to_owned(),
        role_name: "restart".to_owned(),
        subjects: BTreeSet::from([FoundSubject::group(group.to_owned())]),
        labels: if ours {
            made_for("p1").labels
        } else {
            BTreeMap::new()
        },
        ..FoundBinding::default()
    };
    let at = |namespace: Option<&str>, name: &str| Place {
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
    };
    let mut observed = cluster(&[("shop", FoundNamespace::default())]);
    observed.bindings = BTreeMap::from([
        (
            at(Some("shop"), "theirs"),
            bound_to("operators", "Role", false),
        ),
        (
            at(None, "theirs"),
            bound_to("operators", "ClusterRole", false),
        ),
        (
            at(Some("shop"), "others"),
            bound_to("developers", "Role", false),
        ),
        (
            at(Some("shop"), "ours"),
            bound_to("operators", "Role", true),
        ),
    ]);
    let roles: &[(&str, &str, &[&str])] = &[("r1", "ops", &["u1"]), ("r2", "view", &["u1"])];
    let found = tenants(vec![
        tenant("p1", "acme", roles),
        tenant("p2", "globex", roles),
    ]);
    let (wanted, notes) = wanted(&config, &Options::default(), &found, &observed, &known());
    assert!(
        wanted.namespaces.is_empty() && notes.is_empty(),
        "{notes:?}"
    );
    let bound: Vec<_> = wanted
        .bindings
        .iter()
        .map(|one| {
            (
                one.place.namespace.as_deref(),
                one.role_kind,
                one.groups.len(),
            )
        })
        .collect();
    assert_eq!(
        bound,
        [
            (None, RoleKind::ClusterRole, 2),
            (Some("shop"), RoleKind::Role, 2)
        ]
    );
    let [first, second] = wanted.bindings.as_slice() else {
        panic!("two");
    };
    assert_eq!(
        first.groups,
        ["portico:project:p1:role:r1", "portico:project:p2:role:r1"]
    );
    assert_ne!(first.place.name, second.place.name);
}

#[test]
fn flaw_27_no_name_of_a_project_leads_to_a_namespace_that_is_not_its_own() {
    let options = Options::default();
    let victim = FoundNamespace::default();
    let existing = cluster(&[
        ("kube-system", victim.clone()),
        ("default", victim.clone()),
        ("portico", victim.clone()),
        ("shop", victim),
    ]);
    for format in ["%n", "%n-%i", "%i"] {
        for name in [
            "kube-system",
            "KUBE-SYSTEM",
            "kube-system/../shop",
            "default",
            "portico",
            "shop",
            "shop\nkube-system",
            "%i",
            "../shop",
            "shop\0",
            "<script>",
            "$(id)",
        ] {
            let text = format!(
                "data-types-to-sync: [projects, role_assignments]\nnamespace-format: '{format}'"
            );
            let Ok(config) = SyncConfig::parse(&text) else {
                // the name alone is not a format
                assert_eq!(format, "%n");
                continue;
            };
            let found = tenants(vec![tenant(
                "p9",
                name,
                &[("r1", "cluster-admin", &["u1"])],
            )]);
            let (wanted, _) = wanted(&config, &options, &found, &existing, &known());
            for namespace in &wanted.namespaces {
                assert!(
                    namespace.name.ends_with("p9"),
                    "{format} {name:?}: {}",
                    namespace.name
                );
                assert!(!namespace.name.starts_with("kube-"), "{format} {name:?}");
            }
            for line in bound(&wanted) {
                assert!(line.contains("p9/"), "{format} {name:?}: {line}");
                assert!(
                    !line.starts_with("ClusterRoleBinding"),
                    "{format} {name:?}: {line}"
                );
            }
        }
    }
    // the control case
    let found = tenants(vec![tenant("p9", "acme", &[])]);
    let (wanted, _) = wanted(&everything(), &options, &found, &existing, &known());
    assert_eq!(names(&wanted), ["acme-p9"]);
}
