use super::*;
use crate::panel::{EventFields, Health};

const NOW: i64 = 1_000_000;

fn columns(names: &[&str]) -> Vec<Column> {
    names
        .iter()
        .map(|name| Column {
            name: (*name).to_owned(),
            description: String::new(),
            priority: 0,
            kind: "string".to_owned(),
        })
        .collect()
}

fn pod() -> Row {
    Row {
        uid: "u".to_owned(),
        name: "web-1".to_owned(),
        namespace: Some("shop".to_owned()),
        resource_version: "1".to_owned(),
        created_at: Some(NOW - 3 * 86_400),
        cells: [
            "web-1",
            "1/2",
            "CrashLoopBackOff",
            "7 (5m ago)",
            "3d",
            "node-a",
            "<none>",
        ]
        .map(str::to_owned)
        .to_vec(),
        labels: Vec::new(),
        health: Some(Health::Failed),
        event: None,
    }
}

fn pod_columns() -> Vec<Column> {
    columns(&[
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        "Node",
        "Nominated Node",
    ])
}

fn selects(text: &str) -> bool {
    FieldSelector::parse(text)
        .unwrap()
        .bind(&ResourceRef::core("pods"), &pod_columns())
        .unwrap()
        .matches(&pod(), NOW)
}

#[test]
fn conditions_are_evaluated_over_cells_and_metadata() {
    for (text, selected) in [
        ("", true),
        ("  ", true),
        ("status=CrashLoopBackOff", true),
        ("STATUS == crashloopbackoff", true),
        ("status!=Running", true),
        ("status!=CrashLoopBackOff", false),
        ("status=*BackOff", true),
        ("status=Crash*Off", true),
        ("status=*Loop*", true),
        ("status=Loop*", false),
        ("status=*", true),
        ("restarts>6", true),
        ("restarts>7", false),
        ("restarts>=7", true),
        ("restarts<8", true),
        ("restarts<=6", false),
        ("restarts=7", true),
        ("restarts=5", false),
        ("ready<2", true),
        ("ready=1/2", true),
        ("node=node-a", true),
        ("node>3", false),
        ("nominated node=<none>", true),
        ("nominatednode!=<none>", false),
        ("age>2d", true),
        ("age<2d", false),
        ("age<3d1s", true),
        ("age>71h59m", true),
        ("name=web-*", true),
        ("namespace=shop", true),
        ("namespace=bank", false),
        ("metadata.name=web-1", true),
        ("metadata.namespace!=shop", false),
        ("status.phase=Running", false),
        ("spec.nodeName=node-a", true),
        ("status=CrashLoopBackOff,restarts>100", false),
        ("status=CrashLoopBackOff , restarts>3", true),
        ("node=\"node-a\"", true),
        ("node=\"a,b\"", false),
        ("node=", false),
    ] {
        assert_eq!(selects(text), selected, "{text:?}");
    }
}

#[test]
fn the_status_of_a_kind_without_a_column_for_it_is_its_health_in_words() {
    let fields = FieldSelector::parse("status=failed").unwrap();
    let deployments = ResourceRef::new("apps", "v1", "deployments");
    let bound = fields
        .bind(&deployments, &columns(&["Name", "Ready"]))
        .unwrap();
    assert!(bound.matches(&pod(), NOW));
}

#[test]
fn events_are_compared_by_when_they_were_last_seen() {
    let mut row = pod();
    row.event = Some(EventFields {
        last_seen: Some(NOW - 600),
        count: 1,
        object: None,
    });
    let events = ResourceRef::core("events");
    let columns = columns(&["Last seen", "Type"]);
    for (text, selected) in [("last seen<15m", true), ("lastseen<5m", false)] {
        let bound = FieldSelector::parse(text).unwrap().bind(&events, &columns);
        assert_eq!(bound.unwrap().matches(&row, NOW), selected, "{text}");
    }
}

#[test]
fn a_wrong_selector_is_explained() {
    let resource = ResourceRef::core("pods");
    for (text, message) in [
        (
            "status",
            "Expected a condition such as status=Running, found \"status\".",
        ),
        (
            "status=Running,",
            "Expected a condition such as status=Running, found the end.",
        ),
        ("=Running", "Expected a column, found \"=Running\"."),
        (
            "status!Running",
            "Expected =, !=, < or >, found \"!Running\".",
        ),
        (
            "color=red",
            "There is no column \"color\". The columns are age, name, namespace, node, nominated \
             node, ready, restarts, status.",
        ),
        (
            "restarts>many",
            "\"many\" is not a number, which < and > compare with.",
        ),
        (
            "age>soon",
            "\"soon\" is not a duration such as 30s, 5m, 3h or 2d, which an age is compared with.",
        ),
        (
            "age=5m",
            "An age is compared with < and >, as in \"age<2d\".",
        ),
    ] {
        let error = check(text, &resource, &pod_columns()).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn durations_have_the_units_of_kubernetes() {
    for (text, expected) in [
        ("90s", Some(90)),
        ("5m", Some(300)),
        ("3h20m", Some(12_000)),
        ("2d", Some(172_800)),
        ("1y", Some(31_536_000)),
        ("5", None),
        ("", None),
        ("5x", None),
        ("99999999999999999999d", None),
        ("9223372036854775807y", None),
    ] {
        assert_eq!(seconds(text), expected, "{text}");
    }
}

#[test]
fn a_selector_with_an_age_depends_on_time() {
    let depends = |text: &str| FieldSelector::parse(text).unwrap().depends_on_time();
    assert!(depends("status=Running,Age<5m"));
    assert!(depends("last seen<5m"));
    assert!(!depends("status=Running"));
}
