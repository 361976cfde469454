use super::super::fixtures::{asks, named, own, rule};
use super::*;

#[test]
fn rules_match_as_in_rbac() {
    let pods = |resources: &[&str]| rule(&["get"], &[""], resources);
    let get = |resource: &str| asks("get", resource, None, None);
    let get_named = |resource: &str, name: &str| asks("get", resource, None, Some(name));
    let verb = |verb: &str| asks(verb, "pods", None, None);
    let one = || named(rule(&["*"], &[""], &["pods"]), &["one"]);
    for (case, rule, matching, control) in [
        ("a verb", pods(&["pods"]), get("pods"), verb("list")),
        (
            "all verbs",
            rule(&["*"], &[""], &["pods"]),
            verb("deletecollection"),
            get("secrets"),
        ),
        (
            "a group",
            pods(&["pods"]),
            get("pods"),
            get("example.org:pods"),
        ),
        (
            "a named group",
            rule(&["get"], &["apps"], &["pods"]),
            get("apps:pods"),
            get("pods"),
        ),
        (
            "all groups",
            rule(&["get"], &["*"], &["pods"]),
            get("apps:pods"),
            get("apps:nodes"),
        ),
        ("a resource", pods(&["pods"]), get("pods"), get("nodes")),
        (
            "a resource, not its subresource",
            pods(&["pods"]),
            get("pods"),
            get("pods/log"),
        ),
        (
            "a subresource",
            pods(&["pods/log"]),
            get("pods/log"),
            get("pods/exec"),
        ),
        (
            "a subresource, not its resource",
            pods(&["pods/log"]),
            get("pods/log"),
            get("pods"),
        ),
        ("all resources", pods(&["*"]), get("pods/log"), verb("list")),
        (
            "a subresource of all",
            pods(&["*/scale"]),
            get("pods/scale"),
            get("scale"),
        ),
        (
            "a subresource of all, no other",
            pods(&["*/scale"]),
            get("x/scale"),
            get("x/autoscale"),
        ),
        (
            "a star after the slash",
            pods(&["pods/*", "pods"]),
            get("pods"),
            get("pods/exec"),
        ),
        (
            "a nested subresource",
            pods(&["a/b/c"]),
            get("a/b/c"),
            get("a/b"),
        ),
        (
            "a name",
            one(),
            get_named("pods", "one"),
            get_named("pods", "two"),
        ),
        (
            "a name, not all",
            one(),
            get_named("pods", "one"),
            get("pods"),
        ),
        (
            "a name of a list",
            one(),
            asks("list", "pods", None, Some("one")),
            verb("list"),
        ),
        (
            "a name of a watch",
            one(),
            asks("watch", "pods", None, Some("one")),
            verb("watch"),
        ),
        (
            "a name of a creation",
            one(),
            asks("create", "pods", None, Some("one")),
            verb("create"),
        ),
        (
            "a name of a deletion",
            one(),
            asks("delete", "pods", None, Some("one")),
            verb("deletecollection"),
        ),
        (
            "all names",
            pods(&["pods"]),
            get_named("pods", "one"),
            get_named("nodes", "one"),
        ),
    ] {
        assert!(matches(&rule, &matching), "{case}: {matching:?}");
        assert!(!matches(&rule, &control), "{case}: {control:?}");
    }
}

#[test]
fn rules_that_name_nothing_match_nothing() {
    let question = asks("get", "pods", None, None);
    let whole = rule(&["get"], &[""], &["pods"]);
    assert!(matches(&whole, &question));
    let urls = Rule {
        verbs: own(&["*"]),
        non_resource_urls: own(&["*"]),
        ..Rule::default()
    };
    for rule in [
        rule(&[], &[""], &["pods"]),
        rule(&["get"], &[], &["pods"]),
        rule(&["get"], &[""], &[]),
        urls,
        Rule::default(),
    ] {
        assert!(!matches(&rule, &question), "{rule:?}");
    }
}

#[test]
fn one_rule_has_to_cover_each_combination() {
    let all_covered =
        |owner: &[Rule], rules: &[Rule]| cover(&owner.iter().collect::<Vec<_>>(), rules);
    let wanted = rule(&["get", "list"], &[""], &["pods", "nodes"]);
    let url = |path: &str| Rule {
        verbs: own(&["get"]),
        non_resource_urls: own(&[path]),
        ..Rule::default()
    };
    for (case, owner, wanted, control) in [
        (
            "itself",
            vec![wanted.clone()],
            wanted.clone(),
            rule(&["delete"], &[""], &["pods"]),
        ),
        (
            "parts",
            vec![
                rule(&["get"], &[""], &["pods", "nodes"]),
                rule(&["list"], &["*"], &["*"]),
            ],
            wanted.clone(),
            rule(&["get"], &["apps"], &["pods"]),
        ),
        (
            "stars",
            vec![rule(&["*"], &["*"], &["*"])],
            rule(&["*"], &["*"], &["*", "a/b"]),
            url("/"),
        ),
        (
            "a star needs a star",
            vec![rule(&["get"], &["*"], &["*"])],
            rule(&["get"], &["*"], &["*"]),
            rule(&["*"], &[""], &["pods"]),
        ),
        (
            "a subresource of all",
            vec![rule(&["get"], &[""], &["*/log"])],
            rule(&["get"], &[""], &["pods/log"]),
            rule(&["get"], &[""], &["*"]),
        ),
        (
            "names",
            vec![named(wanted.clone(), &["a", "b"])],
            named(wanted.clone(), &["b"]),
            named(wanted.clone(), &["c"]),
        ),
        (
            "all names",
            vec![wanted.clone()],
            named(wanted.clone(), &["b"]),
            rule(&["get"], &[""], &["secrets"]),
        ),
        (
            "names are not all",
            vec![named(wanted.clone(), &["a"])],
            named(wanted.clone(), &["a"]),
            wanted.clone(),
        ),
        (
            "a URL",
            vec![url("/metrics")],
            url("/metrics"),
            url("/metrics/x"),
        ),
        (
            "URLs below",
            vec![url("/healthz/*")],
            url("/healthz/ping"),
            url("/metrics"),
        ),
    ] {
        assert!(all_covered(&owner, &[wanted]), "{case}");
        assert!(!all_covered(&owner, &[control]), "{case}: control case");
    }
    assert!(all_covered(&[], &[]));
}
