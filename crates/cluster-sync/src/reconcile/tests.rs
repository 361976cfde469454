use super::*;
use std::collections::BTreeSet;

const OWNER: &str = "sync";

fn place(namespace: &str, name: &str) -> Place {
    Place {
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}

fn binding(namespace: &str, name: &str, role: &str, groups: &[&str]) -> WantedBinding {
    WantedBinding {
        place: place(namespace, name),
        role_kind: RoleKind::ClusterRole,
        role_name: role.to_owned(),
        groups: groups.iter().map(|&group| group.to_owned()).collect(),
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
    }
}

fn wanted(care: Care, bindings: Vec<WantedBinding>) -> Wanted {
    Wanted {
        owner: OWNER,
        care,
        namespaces: Vec::new(),
        bindings,
        keep: BTreeSet::new(),
    }
}

fn ours() -> BTreeMap<String, String> {
    BTreeMap::from([
        (MANAGED_BY_LABEL.to_owned(), MANAGED_BY.to_owned()),
        (OWNER_LABEL.to_owned(), OWNER.to_owned()),
    ])
}

fn found(role: &str, groups: &[&str], labels: BTreeMap<String, String>) -> FoundBinding {
    let groups = groups.iter().map(|&group| group.to_owned());
    FoundBinding {
        uid: "u".to_owned(),
        resource_version: "1".to_owned(),
        role_kind: "ClusterRole".to_owned(),
        role_name: role.to_owned(),
        subjects: groups.map(FoundSubject::group).collect(),
        labels,
    }
}

/// The cluster with the namespaces `shop`, `kube-system`, `quiet` (opted out) and `ending`.
fn cluster(bindings: Vec<(Place, FoundBinding)>) -> Observed {
    let namespace = |left_out, terminating| FoundNamespace {
        uid: "u".to_owned(),
        labels: BTreeMap::new(),
        terminating,
        left_out,
    };
    Observed {
        namespaces: BTreeMap::from([
            ("shop".to_owned(), namespace(false, false)),
            ("kube-system".to_owned(), namespace(true, false)),
            ("quiet".to_owned(), namespace(true, false)),
            ("ending".to_owned(), namespace(false, true)),
        ]),
        bindings: bindings.into_iter().collect(),
        made_before: BTreeSet::new(),
    }
}

const ALL: Pruning = Pruning {
    bindings: true,
    namespaces: true,
};

#[test]
fn what_is_wanted_is_made_changed_or_left_by_what_is_there() {
    let want = || binding("shop", "b", "view", &["g1", "g2"]);
    let one = || vec![want()];
    let foreign = BTreeMap::new;
    for (what, care, there, expected) in [
        ("nothing", Care::Always, None, "create"),
        (
            "the same",
            Care::Always,
            Some(found("view", &["g2", "g1"], ours())),
            "unchanged",
        ),
        (
            "others",
            Care::Always,
            Some(found("view", &["g1"], ours())),
            "update",
        ),
        (
            "another role",
            Care::Always,
            Some(found("edit", &["g1", "g2"], ours())),
            "recreate",
        ),
        (
            "a foreign one",
            Care::Always,
            Some(found("edit", &["x"], foreign())),
            "left",
        ),
        (
            "a foreign one of the same name",
            Care::Always,
            Some(found("view", &["g1", "g2"], foreign())),
            "left",
        ),
        ("nothing", Care::Once, None, "create"),
        (
            "the same, foreign",
            Care::Once,
            Some(found("view", &["g1", "g2"], foreign())),
            "unchanged",
        ),
        (
            "changed by people",
            Care::Once,
            Some(found("view", &["g1"], ours())),
            "left",
        ),
    ] {
        let there = there.map(|found| (place("shop", "b"), found));
        let plan = plan(
            &wanted(care, one()),
            &cluster(there.into_iter().collect()),
            ALL,
        );
        let did = match plan.steps.as_slice() {
            [] if plan.unchanged == 1 => "unchanged",
            [] if plan.differences.len() == 1 => "left",
            [Step::Create(_)] => "create",
            [Step::Update(..)] => "update",
            [Step::Recreate(..)] => "recreate",
            _ => "something else",
        };
        assert_eq!(did, expected, "{what} ({care:?})");
    }
}

#[test]
fn what_was_deleted_comes_back_only_where_it_is_kept() {
    for (care, steps) in [(Care::Once, 0), (Care::Always, 1)] {
        let mut observed = cluster(Vec::new());
        observed.made_before.insert(place("shop", "b"));
        let bindings = vec![binding("shop", "b", "view", &["g"])];
        let plan = plan(&wanted(care, bindings), &observed, ALL);
        assert_eq!(plan.steps.len(), steps, "{care:?}");
    }
}

#[test]
fn nothing_is_put_where_it_does_not_belong() {
    let bindings = ["kube-system", "quiet", "ending", "not-there"]
        .map(|namespace| binding(namespace, "b", "view", &["g"]));
    let mut wanted = wanted(Care::Always, bindings.to_vec());
    wanted.namespaces = ["kube-new", "ending"]
        .map(|name| WantedNamespace {
            name: name.to_owned(),
            ..WantedNamespace::default()
        })
        .to_vec();
    let plan = plan(&wanted, &cluster(Vec::new()), ALL);
    assert_eq!(plan.steps, []);
    assert_eq!(plan.skipped, ["ending", "kube-new", "kube-system", "quiet"]);
}

#[test]
fn a_namespace_comes_before_what_is_bound_in_it() {
    let mut wanted = wanted(Care::Always, vec![binding("new", "b", "view", &["g"])]);
    wanted.namespaces.push(WantedNamespace {
        name: "new".to_owned(),
        ..WantedNamespace::default()
    });
    let plan = plan(&wanted, &cluster(Vec::new()), Pruning::default());
    assert!(
        matches!(
            plan.steps.as_slice(),
            [Step::CreateNamespace(_), Step::Create(_)]
        ),
        "{plan}"
    );
}

#[test]
fn only_what_is_ours_and_wanted_no_longer_is_deleted_and_only_when_asked() {
    let mut bootstraps = ours();
    bootstraps.insert(OWNER_LABEL.to_owned(), "bootstrap".to_owned());
    let mut granted = ours();
    granted.remove(OWNER_LABEL);
    let mut observed = cluster(vec![
        (place("shop", "old"), found("view", &["g"], ours())),
        (place("quiet", "old"), found("view", &["g"], ours())),
        (
            place("shop", "bootstraps"),
            found("view", &["g"], bootstraps),
        ),
        (place("shop", "granted"), found("view", &["g"], granted)),
        (
            place("shop", "foreign"),
            found("view", &["g"], BTreeMap::new()),
        ),
    ]);
    for name in ["gone", "kept", "opted-out"] {
        let namespace = FoundNamespace {
            labels: ours(),
            left_out: name == "opted-out",
            ..FoundNamespace::default()
        };
        observed.namespaces.insert(name.to_owned(), namespace);
    }
    let mut wanted = wanted(Care::Always, Vec::new());
    wanted.keep.insert("kept".to_owned());
    let deleted = |pruning| {
        let plan = plan(&wanted, &observed, pruning);
        let steps = plan.steps.iter().map(|step| match step {
            Step::Delete(place, _) => place.to_string(),
            Step::DeleteNamespace(name, _) => name.clone(),
            other => panic!("{other}"),
        });
        (steps.collect::<Vec<_>>(), plan.stale.len())
    };
    let bindings = ["RoleBinding quiet/old", "RoleBinding shop/old"];
    for (pruning, expected, kept) in [
        (Pruning::default(), vec![], 5),
        (
            Pruning {
                bindings: true,
                namespaces: false,
            },
            bindings.to_vec(),
            3,
        ),
        (
            Pruning {
                bindings: false,
                namespaces: true,
            },
            vec!["gone"],
            4,
        ),
        (ALL, [&bindings[..], &["gone"]].concat(), 2),
    ] {
        let (steps, stale) = deleted(pruning);
        assert_eq!(
            (steps, stale),
            (expected.iter().map(ToString::to_string).collect(), kept)
        );
    }
}

#[test]
fn a_plan_reads_like_a_diff() {
    let mut wanted = wanted(
        Care::Always,
        vec![
            binding("shop", "b", "view", &["g2"]),
            binding("shop", "c", "edit", &["g3"]),
        ],
    );
    wanted.namespaces.push(WantedNamespace {
        name: "new".to_owned(),
        annotations: BTreeMap::from([("project".to_owned(), "acme\u{1b}[31m".to_owned())]),
        ..WantedNamespace::default()
    });
    let observed = cluster(vec![
        (place("shop", "b"), found("view", &["g1"], ours())),
        (place("shop", "old"), found("edit", &["g"], ours())),
    ]);
    assert_eq!(
        plan(&wanted, &observed, ALL).to_string(),
        "+ Namespace new\n+   project: acme\\u{1b}[31m\n  RoleBinding shop/b\n-   ClusterRole view for \
         g1\n+   ClusterRole view for g2\n+ RoleBinding shop/c\n+   ClusterRole edit for g3\n- \
         RoleBinding shop/old\n-   ClusterRole edit for g\n"
    );
}
