use super::super::attempts::NoAttempts;
use super::super::fixtures::{self, CLUSTER};
use super::super::inspector::{Inspector, Lender};
use super::super::stand_in::{Mode, StandIn, creating};
use super::nodes::Nodes;
use super::*;
use async_trait::async_trait;
use portico_cluster_operations::inside::Inspection;
use portico_lifecycle::progress::{NodeReport, NodeSurvey};
use portico_lifecycle::progress::{Outcome, Typical};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

/// The second of the pollers in these tests.
const SECOND: Duration = Duration::from_millis(20);

fn feeds(magnum: &StandIn) -> Feeds {
    let clients = magnum.clients.clone();
    Feeds::with_second(clients, Arc::new(NoAttempts), Clock::system(), SECOND)
}

fn complete() -> Mode {
    Mode::Cluster(fixtures::json("CREATE_COMPLETE"))
}

/// Looks until the view fulfils a condition.
async fn until(feeds: &Feeds, viewer: &Viewer, condition: impl Fn(&View) -> bool) -> View {
    let started = Instant::now();
    loop {
        let view = feeds.look(viewer, CLUSTER).await.unwrap();
        if condition(&view) {
            return view;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{view:?}");
        tokio::time::sleep(SECOND).await;
    }
}

#[tokio::test]
async fn case_18_fifty_viewers_of_a_creation_cost_one_read_in_two_seconds() {
    let magnum = StandIn::start(Mode::Cluster(creating())).await;
    let feeds = feeds(&magnum);
    // five users with ten tabs each
    let viewers: Vec<_> = (0..50)
        .map(|n| magnum.viewer(&format!("user-{}", n % 5), &["reader"]))
        .collect();
    let started = Instant::now();
    while started.elapsed() < SECOND * 40 {
        let looks = viewers.iter().map(|viewer| feeds.look(viewer, CLUSTER));
        for view in futures::future::join_all(looks).await {
            assert_eq!(view.unwrap().cluster.name, "shop");
        }
        tokio::time::sleep(SECOND / 2).await;
    }
    let elapsed = started.elapsed();
    let intervals = elapsed.as_millis() / (SECOND * 2).as_millis();
    let confirmations = 5 * (1 + elapsed.as_millis() / (SECOND * 60).as_millis());
    // such a read takes the place of the poller's
    let most = usize::try_from(intervals + confirmations).unwrap() + 1;
    let reads = magnum.reads();
    assert!(reads.len() <= most, "{} reads, at most {most}", reads.len());
    assert!(reads.len() > 5, "{} reads", reads.len());
}

#[tokio::test]
async fn a_user_whom_magnum_refuses_gets_nothing_although_others_look() {
    let magnum = StandIn::start(complete()).await;
    let feeds = feeds(&magnum);
    let (ada, eve) = (
        magnum.viewer("ada", &["member", "reader"]),
        magnum.viewer("eve", &["reader"]),
    );
    feeds.look(&ada, CLUSTER).await.unwrap();
    magnum.refuse(&eve);
    let refused = feeds.look(&eve, CLUSTER).await.unwrap_err();
    assert!(refused.is_refusal() && !refused.is_not_found(), "{refused}");
    let view = until(&feeds, &ada, |view| view.outdated.is_none()).await;
    assert_eq!(view.cluster.name, "shop");
}

#[tokio::test]
async fn case_07_a_cluster_of_another_project_does_not_exist_for_an_administrator() {
    let mut other = fixtures::json("CREATE_COMPLETE");
    other["project_id"] = json!("globex");
    let magnum = StandIn::start(Mode::Cluster(other)).await;
    let root = magnum.viewer("root", &["admin"]);
    let refused = feeds(&magnum).look(&root, CLUSTER).await.unwrap_err();
    assert!(refused.is_not_found(), "{refused}");
}

#[tokio::test]
async fn while_magnum_does_not_answer_the_last_state_is_shown_as_outdated() {
    let magnum = StandIn::start(Mode::Cluster(creating())).await;
    let feeds = feeds(&magnum);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    feeds.look(&ada, CLUSTER).await.unwrap();
    magnum.set(Mode::Broken(503));
    let view = until(&feeds, &ada, |view| view.outdated.is_some()).await;
    assert_eq!(view.cluster.name, "shop");
    // a user whom Magnum has not confirmed sees nothing of it
    let bob = magnum.viewer("bob", &["member", "reader"]);
    assert!(feeds.look(&bob, CLUSTER).await.is_err());
    magnum.set(complete());
    let view = until(&feeds, &ada, |view| view.outdated.is_none()).await;
    assert_eq!(view.cluster.status.as_str(), "CREATE_COMPLETE");
}

#[tokio::test]
async fn the_end_of_a_deletion_is_shown_to_those_who_come_later() {
    let magnum = StandIn::start(complete()).await;
    let feeds = feeds(&magnum);
    let (ada, bob) = (
        magnum.viewer("ada", &["member", "reader"]),
        magnum.viewer("bob", &["reader"]),
    );
    feeds.look(&ada, CLUSTER).await.unwrap();
    magnum.set(Mode::Missing);
    feeds.accepted(&ada, CLUSTER, &Accepted::Deletion).await;
    let view = until(&feeds, &ada, |view| view.is_gone).await;
    let report = view
        .following
        .unwrap()
        .report(Clock::system().now(), &Typical::new());
    assert_eq!(report.outcome, Outcome::Succeeded);
    assert!(feeds.look(&bob, CLUSTER).await.unwrap().is_gone);
    // a user without a role of Magnum learns nothing of it
    let stranger = magnum.viewer("eve", &["other"]);
    assert!(feeds.look(&stranger, CLUSTER).await.is_err());
}

#[tokio::test]
async fn case_17_a_new_cluster_has_a_page_before_magnum_has_its_record() {
    let magnum = StandIn::start(Mode::Missing).await;
    let feeds = feeds(&magnum);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let request = Accepted::Creation {
        name: "shop".to_owned(),
    };
    feeds.accepted(&ada, CLUSTER, &request).await;
    let view = feeds.look(&ada, CLUSTER).await.unwrap();
    assert_eq!(view.cluster.name, "shop");
    assert!(!view.is_gone);
    magnum.set(Mode::Cluster(creating()));
    let is_recorded = |view: &View| view.cluster.status.as_str() == "CREATE_IN_PROGRESS";
    until(&feeds, &ada, is_recorded).await;
}

#[tokio::test]
async fn the_token_of_the_viewer_that_asked_last_is_used() {
    let magnum = StandIn::start(Mode::Cluster(creating())).await;
    let feeds = feeds(&magnum);
    let (ada, bob) = (
        magnum.viewer("ada", &["member", "reader"]),
        magnum.viewer("bob", &["member", "reader"]),
    );
    feeds.look(&ada, CLUSTER).await.unwrap();
    feeds.look(&bob, CLUSTER).await.unwrap();
    let before = magnum.reads().len();
    let started = Instant::now();
    while magnum.reads().len() < before + 2 {
        feeds.look(&bob, CLUSTER).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(SECOND).await;
    }
    let reads = magnum.reads();
    let later: Vec<_> = reads.iter().skip(before).collect();
    assert!(
        later.iter().all(|token| *token == "token-of-bob"),
        "{later:?}"
    );
}

#[tokio::test]
async fn a_cluster_that_nothing_runs_on_is_read_seldom() {
    let magnum = StandIn::start(complete()).await;
    let feeds = feeds(&magnum);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let view = feeds.look(&ada, CLUSTER).await.unwrap();
    assert!(view.following.is_none());
    // the next answer is due after 15 of the tests' seconds
    assert!((14..=16).contains(&(u128::from(view.poll_millis) / SECOND.as_millis())));
    assert_eq!(
        view.model.labels.get("kube_tag").map(String::as_str),
        Some("v1.31.0")
    );
    assert_eq!(magnum.reads().len(), 1);
}

#[tokio::test]
async fn a_page_that_shares_an_answer_of_before_has_a_newer_one_soon() {
    let magnum = StandIn::start(complete()).await;
    let clients = magnum.clients.clone();
    // so long that the second look shares the answer of the first one
    let second = Duration::from_millis(200);
    let feeds = Feeds::with_second(clients, Arc::new(NoAttempts), Clock::system(), second);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let opened = feeds.look_anew(&ada, CLUSTER).await.unwrap();
    assert_eq!(opened.refresh_millis, None);
    let shared = feeds.look_anew(&ada, CLUSTER).await.unwrap();
    assert_eq!(magnum.reads().len(), 1);
    let wait = shared.refresh_millis.unwrap();
    assert!(wait > 0 && wait <= 660, "{wait}");
    // a page that was opened before does not ask more often
    let followed = feeds.look(&ada, CLUSTER).await.unwrap();
    assert_eq!(followed.refresh_millis, None);
    tokio::time::sleep(Duration::from_millis(u64::from(wait))).await;
    let newer = feeds.look_anew(&ada, CLUSTER).await.unwrap();
    assert_eq!(newer.refresh_millis, None);
    assert_eq!(magnum.reads().len(), 2);
}

/// A cluster's own API with one node; counts how often it is read.
#[derive(Default)]
struct OwnApi(AtomicUsize);

#[async_trait]
impl Inspector for OwnApi {
    async fn inspect(&self) -> Inspection {
        self.0.fetch_add(1, Ordering::Relaxed);
        let node = NodeReport {
            name: "shop-0".to_owned(),
            ..NodeReport::default()
        };
        Inspection {
            is_api_ready: Some(true),
            nodes: Ok(NodeSurvey {
                nodes: vec![node],
                is_complete: true,
                note: None,
            }),
        }
    }
}

fn lender(api: &Arc<OwnApi>) -> Lender {
    let inspector: Arc<dyn Inspector> = Arc::<OwnApi>::clone(api);
    Lender {
        inspector,
        reads_budgets: true,
    }
}

#[test]
fn what_a_viewer_has_lent_is_given_back_when_the_poller_ends() {
    let api = Arc::new(OwnApi::default());
    let mut nodes = Nodes::default();
    nodes.lend(lender(&api), SECOND);
    assert_eq!(Arc::strong_count(&api), 2);
    nodes.release();
    assert_eq!(Arc::strong_count(&api), 1);
}

#[tokio::test]
async fn the_nodes_of_a_running_operation_are_read_by_the_one_poller() {
    let magnum = StandIn::start(Mode::Cluster(creating())).await;
    let feeds = feeds(&magnum);
    let (ada, bob) = (
        magnum.viewer("ada", &["member", "reader"]),
        magnum.viewer("bob", &["reader"]),
    );
    let api = Arc::new(OwnApi::default());
    feeds.look(&ada, CLUSTER).await.unwrap();
    // without a viewer who may list the nodes, they are not read
    assert!(
        feeds
            .look(&bob, CLUSTER)
            .await
            .unwrap()
            .inspection
            .is_none()
    );
    let started = Instant::now();
    while started.elapsed() < SECOND * 40 {
        for viewer in [&ada, &bob] {
            feeds.lend(viewer, CLUSTER, lender(&api)).await;
            feeds.look(viewer, CLUSTER).await.unwrap();
        }
        tokio::time::sleep(SECOND / 2).await;
    }
    let intervals = started.elapsed().as_millis() / (SECOND * 5).as_millis();
    let reads = api.0.load(Ordering::Relaxed);
    let most = usize::try_from(intervals).unwrap() + 1;
    assert!(reads > 0 && reads <= most, "{reads} reads, at most {most}");
    let view = feeds.look(&bob, CLUSTER).await.unwrap();
    let nodes = view.inspection.unwrap();
    assert_eq!(nodes.nodes.as_ref().unwrap().nodes[0].name, "shop-0");
}

#[tokio::test]
async fn the_nodes_of_a_cluster_on_which_nothing_runs_are_not_read() {
    let magnum = StandIn::start(complete()).await;
    let feeds = feeds(&magnum);
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let api = Arc::new(OwnApi::default());
    let started = Instant::now();
    while started.elapsed() < SECOND * 40 {
        feeds.lend(&ada, CLUSTER, lender(&api)).await;
        feeds.look(&ada, CLUSTER).await.unwrap();
        tokio::time::sleep(SECOND / 2).await;
    }
    assert_eq!(api.0.load(Ordering::Relaxed), 0);
}
