//! Labels of template and user.
use crate::{
    driver::{Driver, Evidence, Family},
    labels::{KNOWN, LabelRow, Labels, Origin, Values, known, merge, table},
};

fn labels(entries: &[(&str, &str)]) -> Labels {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn driver(family: Family) -> Driver {
    Driver {
        family,
        evidence: Evidence::TemplateField,
    }
}

fn row(template: &[(&str, &str)], yours: &[(&str, &str)], family: Family, key: &str) -> LabelRow {
    table(&labels(template), &labels(yours), driver(family))
        .into_iter()
        .find(|row| row.key == key)
        .unwrap()
}

#[test]
fn each_label_shows_template_yours_and_result() {
    let rows = table(
        &labels(&[("a", "1"), ("b", "1"), ("d", "1")]),
        &labels(&[("b", "2"), ("c", "3"), ("d", "1")]),
        driver(Family::Unknown),
    );
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.key.as_str(),
                row.template.as_deref(),
                row.yours.as_deref(),
                row.result.as_str(),
                row.origin,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("a", Some("1"), None, "1", Origin::Template),
            ("b", Some("1"), Some("2"), "2", Origin::Overridden),
            ("c", None, Some("3"), "3", Origin::Added),
            ("d", Some("1"), Some("1"), "1", Origin::Template),
        ]
    );
    let result = merge(&labels(&[("a", "1"), ("b", "1")]), &labels(&[("b", "2")]));
    assert_eq!(result, labels(&[("a", "1"), ("b", "2")]));
}

#[test]
fn healing_scaling_and_updates_are_marked_as_fixed_at_creation() {
    for key in [
        "auto_healing_enabled",
        "auto_upgrade_enabled",
        "auto_scaling_enabled",
    ] {
        let row = row(&[], &[(key, "true")], Family::ClusterApi, key);
        assert!(
            row.notes
                .iter()
                .any(|note| note.contains("cannot change it on an existing cluster")),
            "{key}"
        );
    }
    let zone = row(
        &[],
        &[("availability_zone", "az1")],
        Family::ClusterApi,
        "availability_zone",
    );
    assert!(zone.notes.is_empty(), "{:?}", zone.notes);
}

#[test]
fn a_label_that_the_driver_ignores_is_marked_unless_the_template_has_it() {
    let version = row(
        &[],
        &[("kube_tag", "v1.32.1")],
        Family::CapiHelm,
        "kube_tag",
    );
    assert!(
        version.notes[0].contains("kube_version"),
        "{:?}",
        version.notes
    );
    let ignored = row(
        &[],
        &[("monitoring_enabled", "true")],
        Family::ClusterApi,
        "monitoring_enabled",
    );
    assert_eq!(ignored.notes, ["magnum-cluster-api ignores it."]);
    let of_template = row(
        &[("monitoring_enabled", "true")],
        &[],
        Family::ClusterApi,
        "monitoring_enabled",
    );
    assert!(of_template.notes.is_empty());
    // an unknown driver may read any label
    let unknown = row(
        &[],
        &[("monitoring_enabled", "true")],
        Family::Unknown,
        "monitoring_enabled",
    );
    assert!(unknown.notes.is_empty());
}

#[test]
fn values_of_known_labels_are_checked() {
    for (key, good, bad) in [
        ("auto_healing_enabled", "True", "yes"),
        ("boot_volume_size", "40", "40G"),
        ("kube_tag", "v1.32.1", "1.32.1"),
        ("kube_tag", "v1.32.1-rancher1", "v1.32"),
        (
            "master_lb_allowed_cidrs",
            "198.51.100.0/24, 2001:db8::/32",
            "198.51.100.0",
        ),
        ("octavia_lb_algorithm", "SOURCE_IP", "RANDOM"),
    ] {
        let values = known(key).unwrap().values;
        assert_eq!(values.problem(good), None, "{key}={good}");
        let problem = values.problem(bad).unwrap();
        assert!(problem.starts_with("Enter "), "{key}={bad}: {problem}");
    }
    assert_eq!(Values::Text.problem("anything"), None);
    assert!(known("my_own").is_none());
}

#[test]
fn known_labels_are_unique_and_explained() {
    for (index, label) in KNOWN.iter().enumerate() {
        assert!(label.meaning.len() > 8, "{}", label.key);
        assert!(
            KNOWN[index + 1..]
                .iter()
                .all(|other| other.key != label.key)
        );
    }
}
