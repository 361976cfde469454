//! Lists, objects, rights and changes.
use crate::{
    queries::{FIRST_ROWS, query},
    stack::Stack,
};
use app::{
    error::UiErrorKind,
    ports::{Objects as _, Panel},
};
use portico_assertion::claims::AppAccess;
use portico_domain::panel::{
    Action, Attention, AttentionGap, Health, ListScope, ObjectRef, Reading, Repository,
    ResourceRef, RightQuestion,
};

#[tokio::test]
async fn a_viewers_list_is_merged_over_exactly_their_namespaces() {
    let stack = Stack::open();
    let pods = query(ResourceRef::core("pods"), &[]);
    let table = stack
        .panel("vera")
        .await
        .list(stack.acme(), pods.clone(), FIRST_ROWS)
        .await
        .unwrap();
    let ListScope::Namespaces {
        listed, refused, ..
    } = &table.scope
    else {
        panic!("merged, not {:?}", table.scope);
    };
    assert!(listed.contains(&"shop".to_owned()));
    assert!(refused.contains(&"kube-system".to_owned()));
    assert!(table.window.total > 5);
    assert!(
        table
            .window
            .rows
            .iter()
            .any(|row| row.health == Some(Health::Failed))
    );
    assert_eq!(table.columns[0].name, "Name");
    let whole = stack
        .panel("ada")
        .await
        .list(stack.acme(), pods, FIRST_ROWS)
        .await
        .unwrap();
    assert_eq!(whole.scope, ListScope::Cluster);
}

#[tokio::test]
async fn a_viewer_may_not_list_secrets_anywhere_and_sees_the_refusal() {
    let stack = Stack::open();
    let secrets = query(ResourceRef::core("secrets"), &[]);
    let error = stack
        .panel("vera")
        .await
        .list(stack.acme(), secrets, FIRST_ROWS)
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);
    assert!(error.message.contains("secrets"), "{}", error.message);
}

#[tokio::test]
async fn discovery_finds_kinds_that_only_an_old_version_has() {
    let stack = Stack::open();
    let kinds = stack.panel("vera").await.kinds(stack.acme()).await.unwrap();
    for plural in [
        "pods",
        "deployments",
        "cronjobs",
        "customresourcedefinitions",
    ] {
        assert!(kinds.iter().any(|kind| kind.plural == plural), "{plural}");
    }
}

#[tokio::test]
async fn exec_is_refused_for_a_viewer_and_open_to_a_developer() {
    let stack = Stack::open();
    let ask = |verb: &str| RightQuestion {
        verb: verb.to_owned(),
        group: String::new(),
        resource: "pods".to_owned(),
        subresource: "exec".to_owned(),
        namespace: Some("shop".to_owned()),
        name: None,
    };
    for (user, expected) in [("vera", false), ("devi", true)] {
        let panel = stack.panel(user).await;
        let answers = panel
            .rights(stack.acme(), vec![ask("get"), ask("create")])
            .await
            .unwrap();
        assert!(
            answers.iter().all(|answer| answer.allowed == expected),
            "{user}"
        );
    }
}

#[tokio::test]
async fn a_crashing_pod_shows_the_reason_and_what_may_be_done() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let mut pods = query(ResourceRef::core("pods"), &["shop"]);
    pods.search = "recommender".to_owned();
    let table = panel.list(stack.acme(), pods, FIRST_ROWS).await.unwrap();
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some("shop".to_owned()),
        name: table.window.rows[0].name.clone(),
    };
    let view = panel.object(stack.acme(), object.clone()).await.unwrap();
    assert!(
        view.reason
            .as_deref()
            .is_some_and(|reason| reason.contains("exit code"))
    );
    let state = |action: Action| {
        view.actions
            .iter()
            .find(|state| state.action == action)
            .unwrap()
            .clone()
    };
    assert!(state(Action::ViewLogs).allowed);
    assert!(!state(Action::Delete).allowed);
    assert!(
        state(Action::OpenTerminal)
            .reason
            .unwrap()
            .contains("pods/exec in shop")
    );
    assert_eq!(view.owners[0].resource.plural, "replicasets");
    let yaml = panel.yaml(stack.acme(), object.clone()).await.unwrap();
    assert!(yaml.starts_with("apiVersion: v1\nkind: Pod"));
    assert!(!panel.events(stack.acme(), object).await.unwrap().is_empty());
}

#[tokio::test]
async fn deletion_is_of_exactly_the_object_that_was_seen() {
    let stack = Stack::open();
    let own = stack.namespace("delete").await;
    let uid = own.pod("seen").await.metadata.uid.unwrap();
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(own.name.clone()),
        name: "seen".to_owned(),
    };
    let refused = stack
        .panel("vera")
        .await
        .delete(stack.acme(), object.clone(), uid.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    assert!(
        refused.message.contains("vera@Default"),
        "{}",
        refused.message
    );
    let panel = stack.panel("devi").await;
    let other = panel
        .delete(stack.acme(), object.clone(), "0".repeat(36))
        .await
        .unwrap_err();
    assert_eq!(other.kind, UiErrorKind::Conflict);
    panel.delete(stack.acme(), object, uid).await.unwrap();
    own.done().await;
}

#[tokio::test]
async fn the_overview_shows_what_it_knows_and_what_it_may_not() {
    let stack = Stack::open();
    let panel = stack.panel("vera").await;
    let view = panel.cluster(stack.acme(), true).await.unwrap();
    assert_eq!(view.card.health, Health::Ok, "{}", view.card.status);
    assert_eq!(view.card.nodes_total, Some(2));
    let version = view.version.unwrap();
    assert!(
        version.support.contains("ended on 28 February 2022"),
        "{}",
        version.support
    );
    let Reading::Known(capacity) = view.capacity else {
        panic!("capacity is known: {:?}", view.capacity);
    };
    assert!(capacity.cpu_requested > 0 && capacity.cpu_requested < capacity.cpu_allocatable);
    assert!(capacity.limits.unwrap().contains("may not list"));
    // between two starts a crashing pod is Running or Error for a moment
    let crashing = async {
        loop {
            let view = panel.cluster(stack.acme(), true).await.unwrap();
            let titles: Vec<_> = view.attention.into_iter().map(|item| item.title).collect();
            if ["CrashLoopBackOff", "Unschedulable", "Failed"]
                .iter()
                .all(|wanted| titles.iter().any(|title| title == wanted))
            {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), crashing)
        .await
        .expect("what crashes, waits and failed is named");
    let read = view
        .rights
        .iter()
        .find(|line| line.namespaces.contains(&"shop".to_owned()));
    assert_eq!(read.unwrap().summary, "Read workloads.");
}

#[tokio::test]
async fn the_launchpad_is_each_persons_own() {
    let stack = Stack::open();
    let ada = stack.panel("ada").await.launchpad().await.unwrap();
    assert_eq!(ada.clusters.len(), 1);
    assert_eq!(ada.clusters[0].you_may, "everything");
    let vera = stack.panel("vera").await.launchpad().await.unwrap();
    assert!(vera.clusters[0].you_may.starts_with("read in "));
    let alerts = vera
        .apps
        .iter()
        .find(|app| app.id == "alertmanager")
        .unwrap();
    assert!(!alerts.allowed);
    assert!(alerts.opened_by.contains(&"k8s_developer".to_owned()));
    let nora = stack.panel("nora").await.launchpad().await.unwrap();
    assert_eq!(nora.clusters[0].you_may, "nothing yet");
    assert!(
        nora.clusters[0]
            .rights_hint
            .as_ref()
            .unwrap()
            .contains("k8s_viewer")
    );
    assert!(nora.apps.is_empty() && nora.attention.is_empty());
}

#[tokio::test]
async fn finding_p10_needs_attention_shows_this_projects_trouble_only() {
    let stack = Stack::open();
    let ada = stack.panel("ada").await;
    let names = async || {
        let all = ada.alerts("alertmanager".to_owned()).await.unwrap().alerts;
        all.into_iter().map(|alert| alert.name).collect::<Vec<_>>()
    };
    // the control case: Alertmanager has it, soon after it was started
    let fires = async {
        while !names().await.contains(&"Watchdog".to_owned()) {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), fires)
        .await
        .expect("Watchdog fires");
    let pad = ada.launchpad().await.unwrap();
    assert!(!pad.attention.is_empty());
    for row in &pad.attention {
        assert_ne!(row.title, "Watchdog");
        assert!(!row.reason.contains("globex-dev"), "{row:?}");
        if row.object.is_none() && row.title != "Cluster unavailable" {
            assert!(!row.alerts.is_empty(), "{row:?} leads somewhere");
        }
    }
    for (place, row) in pad.attention.iter().enumerate() {
        let same = |other: &&Attention| other.object.is_some() && other.object == row.object;
        let rest = &pad.attention[place + 1..];
        assert_eq!(rest.iter().find(same), None, "one row for each object");
    }
}

#[tokio::test]
async fn what_an_apps_rules_close_is_closed_on_the_panels_own_pages_too() {
    let stack = Stack::open();
    let devi = async |apps: &[(&str, AppAccess)]| {
        let apps = apps.iter().map(|(id, how)| ((*id).to_owned(), *how));
        stack.panel_with("devi", apps.collect()).await
    };
    // the control case: with every app open there are alerts and tags
    let open = devi(&[
        ("alertmanager", AppAccess::Open),
        ("registry", AppAccess::Open),
    ])
    .await;
    assert!(
        open.alerts("alertmanager".to_owned())
            .await
            .unwrap()
            .app
            .allowed
    );
    let registry = open.registry("registry".to_owned()).await.unwrap();
    assert!(!registry.repositories.is_empty());
    // finding P23: what an image reference begins with
    assert_eq!(
        registry.host.as_deref(),
        Some("registry.apps.localhost:8080")
    );
    let known = |repository: &Repository| matches!(repository.tags, Reading::Known(_));
    assert!(registry.repositories.iter().all(known));

    // her role opens both, a rule closes them
    let closed = devi(&[]).await;
    let pad = closed.launchpad().await.unwrap();
    let card = |id: &str| pad.apps.iter().find(|app| app.id == id).unwrap();
    for id in ["alertmanager", "registry"] {
        assert!(!card(id).allowed && card(id).closed_by_rule, "{id}");
    }
    assert!(pad.attention.iter().all(|item| item.alerts.is_empty()));
    let error = closed.alerts("alertmanager".to_owned()).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);
    assert!(error.message.starts_with("A rule of "), "{}", error.message);
    // the address whose refusal names the rule
    let next = error.next_step.unwrap();
    assert!(
        next.contains("alertmanager.apps.localhost:8080/api/v2/alerts"),
        "{next}"
    );
    let error = closed.registry("registry".to_owned()).await.unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotPermitted);

    // whose rules tell repositories apart, shows no tags of any
    let partly = devi(&[
        ("registry", AppAccess::InPart),
        ("alertmanager", AppAccess::SignInAgain),
    ])
    .await;
    let registry = partly.registry("registry".to_owned()).await.unwrap();
    assert!(!registry.repositories.is_empty());
    assert!(!registry.repositories.iter().any(known));
    let error = partly.alerts("alertmanager".to_owned()).await.unwrap_err();
    assert!(
        error.message.contains("confirm who you are"),
        "{}",
        error.message
    );
    let pad = partly.launchpad().await.unwrap();
    let confirm = |gap: &AttentionGap| gap.text.contains("confirm who you are");
    assert!(
        pad.attention_gaps.iter().any(confirm),
        "{:?}",
        pad.attention_gaps
    );

    let unknown_access = devi(&[("alertmanager", AppAccess::Unknown)]).await;
    let error = unknown_access
        .alerts("alertmanager".to_owned())
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Unavailable);
}

#[tokio::test]
async fn an_app_that_a_rule_opens_is_shown_without_any_known_role() {
    let stack = Stack::open();
    let apps = [("prometheus".to_owned(), AppAccess::Open)];
    let nora = stack.panel_with("nora", apps.into_iter().collect()).await;
    let pad = nora.launchpad().await.unwrap();
    let shown: Vec<&str> = pad.apps.iter().map(|app| app.id.as_str()).collect();
    assert_eq!(shown, ["prometheus"]);
    assert!(pad.apps[0].allowed);
}

#[tokio::test]
async fn another_projects_cluster_is_not_there() {
    let stack = Stack::open();
    let globex = stack.var("CLUSTER2_ID").parse().unwrap();
    let error = stack
        .panel("ada")
        .await
        .cluster(globex, true)
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::NotFound);
}

#[tokio::test]
async fn a_registry_and_alerts_open_by_role() {
    let stack = Stack::open();
    let ada = stack.panel("ada").await;
    assert!(ada.registry("registry".to_owned()).await.is_ok());
    assert!(ada.alerts("alertmanager".to_owned()).await.is_ok());
    let vera = stack.panel("vera").await;
    let refused = vera.alerts("alertmanager".to_owned()).await.unwrap_err();
    assert_eq!(refused.kind, UiErrorKind::NotPermitted);
    assert!(refused.next_step.unwrap().contains("k8s_developer"));
}
