use super::*;

fn observed(status: &str, nodes: u32) -> Observation {
    let worker = ObservedGroup {
        status: status.to_owned(),
        nodes,
        ..ObservedGroup::default()
    };
    Observation {
        status: status.to_owned(),
        reason: None,
        health: Some("HEALTHY".to_owned()),
        template: "t1".to_owned(),
        version: Some("v1.31.0".to_owned()),
        api_address: None,
        groups: Some(BTreeMap::from([("default-worker".to_owned(), worker)])),
        record: RecordFields::default(),
    }
}

fn fields(differences: &[Difference]) -> Vec<(&str, bool)> {
    differences
        .iter()
        .map(|one| (one.field.as_str(), one.is_requested))
        .collect()
}

#[test]
fn the_same_observation_again_has_no_differences() {
    let one = observed("CREATE_COMPLETE", 2);
    assert!(one.differences(&one.clone()).is_empty());
}

#[test]
fn the_beginning_of_an_operation_was_requested_and_its_end_was_not() {
    let settled = observed("CREATE_COMPLETE", 2);
    let busy = observed("UPDATE_IN_PROGRESS", 2);
    let done = observed("UPDATE_COMPLETE", 3);
    let begin = busy.differences(&settled);
    assert_eq!(
        fields(&begin),
        [("State", true), ("State of default-worker", true)]
    );
    let end = done.differences(&busy);
    assert_eq!(
        fields(&end),
        [
            ("State", false),
            ("Nodes of default-worker", false),
            ("State of default-worker", false)
        ]
    );
    // a deletion of a cluster that is being changed
    let deleting = observed("DELETE_IN_PROGRESS", 2);
    assert!(deleting.differences(&busy)[0].is_requested);
}

#[test]
fn nodes_that_change_while_nothing_runs_were_requested() {
    let before = observed("CREATE_COMPLETE", 2);
    let after = observed("CREATE_COMPLETE", 3);
    assert_eq!(
        after.differences(&before),
        [Difference {
            field: "Nodes of default-worker".to_owned(),
            before: Some("2".to_owned()),
            after: Some("3".to_owned()),
            is_requested: true,
        }]
    );
}

#[test]
fn groups_that_cannot_be_read_are_no_difference() {
    let before = observed("CREATE_COMPLETE", 2);
    let unread = Observation {
        groups: None,
        ..before.clone()
    };
    assert!(unread.differences(&before).is_empty());
    assert_eq!(unread.completed_by(&before), before);
}

#[test]
fn a_group_that_appears_or_disappears_is_one_difference() {
    let before = observed("UPDATE_IN_PROGRESS", 2);
    let mut after = before.clone();
    let gpu = ObservedGroup {
        nodes: 1,
        ..ObservedGroup::default()
    };
    after.groups.as_mut().unwrap().insert("gpu".to_owned(), gpu);
    assert_eq!(
        fields(&after.differences(&before)),
        [("Node group gpu", true)]
    );
    assert_eq!(
        fields(&before.differences(&after)),
        [("Node group gpu", true)]
    );
}

#[test]
fn case_37_an_upgrade_is_a_difference_with_both_templates_and_versions() {
    let before = observed("CREATE_COMPLETE", 3);
    let running = Observation {
        template: "t2".to_owned(),
        ..observed("UPDATE_IN_PROGRESS", 3)
    };
    let template = Difference {
        field: "Template".to_owned(),
        before: Some("t1".to_owned()),
        after: Some("t2".to_owned()),
        is_requested: true,
    };
    assert!(running.differences(&before).contains(&template));
    let done = Observation {
        template: "t2".to_owned(),
        version: Some("v1.32.0".to_owned()),
        ..observed("UPDATE_COMPLETE", 3)
    };
    let version = Difference {
        field: "Kubernetes version".to_owned(),
        before: Some("v1.31.0".to_owned()),
        after: Some("v1.32.0".to_owned()),
        // it is the effect of the request for the template
        is_requested: false,
    };
    assert!(done.differences(&running).contains(&version));
    // an observation that has seen nothing in between has both
    let both = done.differences(&before);
    assert!(both.contains(&template) && both.contains(&version));
}

#[test]
fn a_cluster_is_busy_while_one_of_its_groups_is_deleted() {
    let mut one = observed("CREATE_COMPLETE", 2);
    assert!(!one.is_busy());
    let gpu = ObservedGroup {
        status: "DELETE_IN_PROGRESS".to_owned(),
        ..ObservedGroup::default()
    };
    one.groups.as_mut().unwrap().insert("gpu".to_owned(), gpu);
    assert!(one.is_busy());
}

#[test]
fn an_observation_of_an_earlier_version_can_be_read() {
    let read: Observation = serde_json::from_str(r#"{"status": "CREATE_COMPLETE"}"#).unwrap();
    assert_eq!(read.groups, None);
    let long = "x".repeat(10_000);
    assert_eq!(text(&long).unwrap().len(), MAX_TEXT_CHARS);
}

/// Returns an observation with fields of the cluster and its group.
fn with_fields(owner: &str, max: &str, labels: &[(&str, &str)]) -> Observation {
    let mut one = observed("CREATE_COMPLETE", 2);
    one.record.value("owner", Some(owner));
    let labels = labels.iter();
    let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    one.record.map("labels", &labels.collect());
    let group = one.groups.as_mut().unwrap().get_mut("default-worker");
    group.unwrap().record.value("max", Some(max));
    one
}

#[test]
fn another_maximum_or_owner_must_have_been_requested() {
    let before = with_fields("ada-id", "3", &[("kube_tag", "v1.31.0"), ("gone", "1")]);
    let after = with_fields("grace-id", "5", &[("kube_tag", "v1.32.0"), ("new", "2")]);
    let all = after.differences(&before);
    assert_eq!(
        fields(&all),
        [
            ("Maximum of default-worker", true),
            (OWNER_FIELD, true),
            ("Label gone", false),
            ("Label kube_tag", false),
            ("Label new", false),
        ]
    );
    let (before, after) = (all[0].before.as_deref(), all[0].after.as_deref());
    assert_eq!((before, after), (Some("3"), Some("5")));
    assert_eq!(
        (all[2].after.as_deref(), all[4].before.as_deref()),
        (None, None)
    );
}

#[test]
fn what_an_observation_of_an_earlier_version_lacks_is_not_compared() {
    let old = r#"{"status": "CREATE_COMPLETE", "health": "HEALTHY", "template": "t1",
        "version": "v1.31.0",
        "groups": {"default-worker": {"status": "CREATE_COMPLETE", "nodes": 2, "flavor": null}}}"#;
    let old: Observation = serde_json::from_str(old).unwrap();
    let new = with_fields("ada-id", "3", &[("kube_tag", "v1.31.0")]);
    let new = new.completed_by(&old);
    assert_ne!(new, old);
    assert_eq!(new.differences(&old), []);
    // an observation without them, such as that of a list, loses nothing
    let listed = observed("CREATE_COMPLETE", 2);
    assert_eq!(listed.clone().completed_by(&new), new);
    assert_eq!(listed.differences(&new), []);
    let text = serde_json::to_string(&new).unwrap();
    assert_eq!(serde_json::from_str::<Observation>(&text).unwrap(), new);
}

#[test]
fn a_list_is_one_difference_with_what_it_lost_and_what_it_got() {
    let of = |addresses: &[&str]| {
        let addresses: Vec<String> = addresses.iter().map(|one| (*one).to_owned()).collect();
        let mut one = observed("CREATE_COMPLETE", 2);
        one.record.list("node_addresses", &addresses);
        one
    };
    let before = of(&["192.0.2.1", "192.0.2.2"]);
    // the order means nothing
    assert!(
        of(&["192.0.2.2", "192.0.2.1"])
            .differences(&before)
            .is_empty()
    );
    let after = of(&["192.0.2.2", "192.0.2.3", "192.0.2.4"]);
    assert_eq!(
        after.differences(&before),
        [Difference {
            field: "Addresses of nodes".to_owned(),
            before: Some("192.0.2.1".to_owned()),
            after: Some("192.0.2.3, 192.0.2.4".to_owned()),
            is_requested: false,
        }]
    );
}

#[test]
fn a_group_that_was_made_anew_has_no_facts_of_the_one_before() {
    let of = |id: &str, max: Option<&str>| {
        let mut one = observed("CREATE_COMPLETE", 2);
        let group = one.groups.as_mut().unwrap().get_mut("default-worker");
        let record = &mut group.unwrap().record;
        record.value("id", Some(id));
        if max.is_some() {
            record.value("max", max);
        }
        one
    };
    let before = of("1", Some("3"));
    assert_eq!(of("1", None).completed_by(&before), before);
    let other = of("2", None);
    assert_eq!(other.clone().completed_by(&before), other);
    assert_eq!(
        fields(&other.differences(&before)),
        [("UUID of default-worker", false)]
    );
}

#[test]
fn an_observation_of_a_hundred_groups_with_many_labels_is_limited() {
    let labels: BTreeMap<String, String> = (0..1_000)
        .map(|number| (format!("label-{number:04}"), "x".repeat(2_000)))
        .collect();
    let mut one = observed("CREATE_COMPLETE", 2);
    let groups = one.groups.get_or_insert_with(BTreeMap::new);
    for number in 0..100 {
        let mut group = ObservedGroup::default();
        group.record.map("node_labels", &labels);
        groups.insert(format!("group-{number:02}"), group);
    }
    let one = one.bounded();
    assert!(serde_json::to_string(&one).unwrap().len() < 256 * 1024);
    // and the next one has the same
    let next = one.clone().completed_by(&one);
    assert_eq!(next, one);
    assert!(!one.groups.unwrap()["group-00"].record.is_empty());
}
