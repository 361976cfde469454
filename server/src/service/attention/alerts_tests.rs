use super::*;

const ACME_PROD: &str = "11111111-1111-4111-8111-111111111111";
const GLOBEX_DEV: &str = "22222222-2222-4222-8222-222222222222";

fn project(id: &str) -> Project {
    Project {
        id: id.to_owned(),
        name: format!("{id}-name"),
        domain: Named {
            id: "default".to_owned(),
            name: "Default".to_owned(),
        },
    }
}

fn record(id: &str, name: &str, owner: &str) -> ClusterRecord {
    serde_json::from_value(serde_json::json!({
        "id": id, "name": name, "owner_project": owner,
        "api_url": "https://127.0.0.1:6443", "sealing_key_file": "key.pub",
    }))
    .expect("a record")
}

fn alert(name: &str, severity: &str, labels: &[(&str, &str)]) -> Alert {
    Alert {
        name: name.to_owned(),
        state: "active".to_owned(),
        severity: severity.to_owned(),
        summary: format!("{name} fires"),
        labels: labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        starts_at: Some(1),
    }
}

/// A row about a pod of the Deployment `web`, which includes a second one.
fn web_pod(cluster: &str) -> Trouble {
    let key = |plural: &str, name: &str| TroubleKey::new(plural, Some("shop"), name);
    Trouble {
        keys: vec![
            key("pods", "web-5c9-a"),
            key("pods", "web-5c9-b"),
            key("deployments", "web"),
        ],
        attention: Attention {
            health: Health::Warning,
            title: "Running, 0 of 1 container ready".to_owned(),
            reason: "Its readiness probe does not pass.".to_owned(),
            cluster: Some(Named {
                id: cluster.to_owned(),
                name: "acme-prod".to_owned(),
            }),
            object: Some(ObjectRef {
                resource: ResourceRef::core("pods"),
                namespace: Some("shop".to_owned()),
                name: "web-5c9-a".to_owned(),
            }),
            since: None,
            count: 1,
            alerts: Vec::new(),
        },
    }
}

fn joined(troubles: Vec<Trouble>, alerts: Vec<Alert>) -> Vec<Attention> {
    let (acme, globex) = (project("acme"), project("globex"));
    let prod = record(ACME_PROD, "acme-prod", "acme");
    let dev = record(GLOBEX_DEV, "globex-dev", "globex");
    let projects = [acme.clone(), globex];
    let scope = Scope {
        project: &acme,
        projects: &projects,
        own: vec![&prod],
        all: vec![&prod, &dev],
        is_cluster: &|id| [prod.id, dev.id].contains(&id),
    };
    let fired = alerts
        .into_iter()
        .map(|alert| Fired {
            alert,
            app: Named {
                id: "alertmanager".to_owned(),
                name: "Alertmanager".to_owned(),
            },
        })
        .collect();
    let mut troubles = troubles;
    join(&mut troubles, fired, &scope);
    super::super::rows(troubles)
}

fn titles(rows: &[Attention]) -> Vec<&str> {
    rows.iter().map(|row| row.title.as_str()).collect()
}

#[test]
fn an_enrolled_cluster_gets_no_alerts_of_a_configured_one_by_its_name() {
    const ENROLLED: &str = "33333333-3333-4333-8333-333333333333";
    const FOREIGN: &str = "44444444-4444-4444-8444-444444444444";
    let acme = project("acme");
    let dev = record(GLOBEX_DEV, "globex-dev", "globex");
    let copied = record(ENROLLED, "globex-dev", "acme");
    let shop = record(FOREIGN, "shop", "globex");
    let is_cluster = |id| [dev.id, copied.id, shop.id].contains(&id);
    let scope = Scope {
        project: &acme,
        projects: &[],
        own: vec![&copied],
        all: vec![&dev],
        is_cluster: &is_cluster,
    };
    let of = |label: &str, value: &str| {
        let found = scope.cluster_of(&alert("One", "warning", &[(label, value)]));
        found.map(|cluster| cluster.map(|record| record.id.to_string()))
    };
    assert_eq!(of("cluster", "globex-dev"), None);
    // nor those of an enrolled cluster of another project
    assert_eq!(of("cluster_id", FOREIGN), None);
    // the control cases: its own, and those of no known cluster
    assert_eq!(of("cluster_id", ENROLLED), Some(Some(ENROLLED.to_owned())));
    assert_eq!(of("cluster", "bare-metal"), Some(None));
}

#[test]
fn finding_p10_alerts_that_ask_for_nothing_are_left_out() {
    let rows = joined(
        Vec::new(),
        vec![
            alert("Watchdog", "none", &[]),
            alert("Watchdog", "critical", &[]),
            alert("InfoInhibitor", "none", &[]),
            alert("CPUThrottlingHigh", "info", &[]),
            alert("Chatty", "Info", &[]),
            alert("NoSeverity", "", &[]),
            alert("TargetDown", "warning", &[]),
            alert("PorticoDown", "critical", &[]),
        ],
    );
    assert_eq!(titles(&rows), ["PorticoDown", "NoSeverity", "TargetDown"]);
    assert_eq!(rows[0].health, Health::Failed);
    assert_eq!(rows[2].health, Health::Warning);
}

#[test]
fn finding_p10_alerts_of_another_project_are_left_out() {
    let rows = joined(
        Vec::new(),
        vec![
            alert("ByName", "warning", &[("cluster", "globex-dev")]),
            alert("ById", "warning", &[("cluster_id", GLOBEX_DEV)]),
            alert("ByProject", "warning", &[("project_id", "somewhere")]),
            alert("ByProjectsName", "warning", &[("project", "globex-name")]),
            alert("ByOwner", "warning", &[("project", "globex")]),
            alert("Own", "warning", &[("cluster", "acme-prod")]),
            alert("OwnProject", "warning", &[("project", "acme-name")]),
            // a word of the rule's author, not of the cloud's
            alert("OtherUse", "warning", &[("project", "checkout")]),
            alert("UnknownCluster", "warning", &[("cluster", "bare-metal")]),
        ],
    );
    assert_eq!(
        titles(&rows),
        ["OtherUse", "Own", "OwnProject", "UnknownCluster"]
    );
    let cluster = rows[1].cluster.as_ref().map(|cluster| cluster.id.as_str());
    assert_eq!(cluster, Some(ACME_PROD));
}

#[test]
fn finding_p10_a_pod_and_its_alerts_are_one_row() {
    let labels = |pod| {
        [
            ("namespace", "shop"),
            ("pod", pod),
            ("cluster", "acme-prod"),
        ]
    };
    let rows = joined(
        vec![web_pod(ACME_PROD)],
        vec![
            alert("PodNotReady", "warning", &labels("web-5c9-a")),
            // the second pod that the row includes, its workload, and no cluster label
            alert("PodSlow", "warning", &labels("web-5c9-b")),
            alert(
                "KubeDeploymentReplicasMismatch",
                "critical",
                &[("namespace", "shop"), ("deployment", "web")],
            ),
        ],
    );
    assert_eq!(titles(&rows), ["Running, 0 of 1 container ready"]);
    let names: Vec<_> = rows[0].alerts.iter().map(|alert| &alert.name).collect();
    assert_eq!(
        names,
        ["PodNotReady", "PodSlow", "KubeDeploymentReplicasMismatch"]
    );
    assert_eq!(rows[0].health, Health::Failed, "the worst of them");
    assert_eq!(rows[0].reason, "Its readiness probe does not pass.");
}

#[test]
fn finding_p10_the_same_name_in_another_place_is_a_row_of_its_own() {
    let rows = joined(
        vec![web_pod(ACME_PROD)],
        vec![
            alert(
                "OtherNamespace",
                "warning",
                &[("namespace", "data"), ("pod", "web-5c9-a")],
            ),
            alert("PodWithoutNamespace", "warning", &[("pod", "web-5c9-a")]),
        ],
    );
    assert_eq!(rows.len(), 3);
}

#[test]
fn finding_p10_an_alert_leads_to_its_object_or_to_its_alertmanager() {
    let rows = joined(
        Vec::new(),
        vec![
            alert(
                "PodNotReady",
                "warning",
                &[
                    ("cluster", "acme-prod"),
                    ("namespace", "shop"),
                    ("pod", "cart-0"),
                ],
            ),
            alert(
                "NodePressure",
                "warning",
                &[("cluster", "acme-prod"), ("node", "n1")],
            ),
            alert("Nowhere", "warning", &[("namespace", "shop"), ("pod", "x")]),
            // the other of a pair of Alertmanagers has it too
            alert("Nowhere", "warning", &[("namespace", "shop"), ("pod", "x")]),
        ],
    );
    assert_eq!(titles(&rows), ["NodePressure", "Nowhere", "PodNotReady"]);
    assert!(
        rows.iter()
            .all(|row| row.alerts[0].app.id == "alertmanager")
    );
    let object = |row: &Attention| {
        row.object
            .as_ref()
            .map(|object| (object.resource.plural.clone(), object.name.clone()))
    };
    assert_eq!(object(&rows[0]), Some(("nodes".into(), "n1".into())));
    assert_eq!(object(&rows[1]), None, "of no known cluster");
    assert_eq!(object(&rows[2]), Some(("pods".into(), "cart-0".into())));
}
