//! Whole creations, with Magnum and the database inside of the test.
use super::{
    review::{ReadyReview, Reviewed, block_unfinished, look},
    send::Creation,
};
use crate::service::lifecycle::{
    StoredAttempts,
    attempts::Attempts as _,
    changing_magnum::{CLUSTER, ChangingMagnum, cluster, created, error},
    fixtures::model,
    viewer::Viewer,
};
use jiff::SignedDuration;
use portico_clock::Clock;
use portico_domain::panel::lifecycle::{
    ControlPlaneForm, CreationForm, CreationOutcome, CreationRefusal, GroupForm, PlannedStepState,
};
use portico_lifecycle::{
    idempotency::MARKER_LABEL,
    model::{Bounds, NodeGroup},
    status::Status,
};
use portico_store::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, KeyRing, NewCreationAttempt,
    ProtectedCluster, Store,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tempfile::TempDir;
use uuid::Uuid;

const ATTEMPT: Uuid = Uuid::from_u128(7);

/// A database that several replicas can open.
struct Database {
    dir: TempDir,
}

impl Database {
    async fn new() -> Self {
        let database = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        database
            .store()
            .await
            .migrate(jiff::Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        database
    }

    async fn store(&self) -> Store {
        let url = format!("sqlite://{}", self.dir.path().join("portico.db").display());
        Store::connect(&url, 2, KeyRing::random().unwrap())
            .await
            .unwrap()
    }
}

fn form() -> CreationForm {
    CreationForm {
        name: "shop".to_owned(),
        template: "small".to_owned(),
        ..CreationForm::default()
    }
}

fn ada(magnum: &ChangingMagnum) -> Viewer {
    magnum.viewer("ada", &["member", "reader"])
}

/// Sends a form as one replica would.
async fn send(
    magnum: &ChangingMagnum,
    store: Store,
    form: CreationForm,
    attempt: Uuid,
) -> CreationOutcome {
    let viewer = ada(magnum);
    let creation = Creation {
        key: AttemptKey {
            project_id: "acme".to_owned(),
            user_id: viewer.user_id.clone(),
            attempt,
        },
        clients: magnum.clients.clone(),
        viewer,
        store,
        clock: Clock::system(),
        form,
    };
    creation.start(Duration::from_secs(20)).await.unwrap()
}

fn refusal(outcome: CreationOutcome) -> CreationRefusal {
    match outcome {
        CreationOutcome::Refused(refusal) => *refusal,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_attempt_makes_one_cluster_however_often_it_is_sent() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let first = send(&magnum, database.store().await, form(), ATTEMPT).await;
    assert_eq!(first, CreationOutcome::Accepted { cluster: CLUSTER });
    let body = magnum.changes()[0].body.clone();
    assert_eq!(body["labels"][MARKER_LABEL], ATTEMPT.to_string());
    assert_eq!(body["merge_labels"], true);
    let again = CreationOutcome::AlreadyCreated { cluster: CLUSTER };
    let second = send(&magnum, database.store().await, form(), ATTEMPT).await;
    assert_eq!(second, again);
    // also after it was deleted: a page that is open still does not make another one
    magnum.clear();
    let third = send(&magnum, database.store().await, form(), ATTEMPT).await;
    assert_eq!(third, again);
    assert_eq!(magnum.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn a_cluster_is_protected_from_its_creation_on_if_its_form_asks_for_it() {
    let protected = ProtectedCluster {
        project_id: "acme".to_owned(),
        cluster: CLUSTER,
    };
    for protection in [false, true] {
        let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
        let form = CreationForm {
            protection,
            ..form()
        };
        let outcome = send(&magnum, database.store().await, form, ATTEMPT).await;
        assert_eq!(outcome, CreationOutcome::Accepted { cluster: CLUSTER });
        let store = database.store().await;
        let found = store.cluster_protections().get(&protected).await.unwrap();
        assert_eq!(
            found.map(|one| one.user_id),
            protection.then(|| "ada".to_owned())
        );
    }
}

#[tokio::test]
async fn case_16_a_lost_response_makes_no_second_cluster() {
    let magnum = ChangingMagnum::start(vec![], |request, clusters| {
        if request.method != "POST" {
            return None;
        }
        clusters.push(created(request));
        Some((502, Value::String("a page of a proxy".to_owned())))
    });
    let (magnum, database) = (magnum.await, Database::new().await);
    let found = send(&magnum, database.store().await, form(), ATTEMPT).await;
    assert_eq!(found, CreationOutcome::Accepted { cluster: CLUSTER });
    let again = send(&magnum, database.store().await, form(), ATTEMPT).await;
    assert_eq!(again, CreationOutcome::AlreadyCreated { cluster: CLUSTER });
    assert_eq!(magnum.calls(), ["POST clusters"]);
}

#[tokio::test]
async fn two_replicas_send_one_request() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let (one, other) = (database.store().await, database.store().await);
    let outcomes = tokio::join!(
        send(&magnum, one, form(), ATTEMPT),
        send(&magnum, other, form(), ATTEMPT),
    );
    assert_eq!(magnum.calls(), ["POST clusters"]);
    let accepted = CreationOutcome::Accepted { cluster: CLUSTER };
    assert!(
        outcomes.0 == accepted || outcomes.1 == accepted,
        "{outcomes:?}"
    );
    let refused = |outcome: &CreationOutcome| matches!(outcome, CreationOutcome::Refused(_));
    assert!(!refused(&outcomes.0) && !refused(&outcomes.1));
}

/// Stores an attempt of five minutes ago, which its run has left in this state.
async fn leave(store: &Store, state: AttemptState) {
    let new = NewCreationAttempt {
        key: AttemptKey {
            project_id: "acme".to_owned(),
            user_id: "ada".to_owned(),
            attempt: ATTEMPT,
        },
        cluster_name: "shop".to_owned(),
        specification: "{}".to_owned(),
    };
    let lease = AttemptLease {
        holder: Uuid::from_u128(1),
        life: SignedDuration::from_secs(10),
    };
    let past = Clock::system().now() - SignedDuration::from_secs(300);
    let attempts = store.creation_attempts();
    let begun = attempts.begin(&new, lease, past).await.unwrap();
    assert!(matches!(begun, BegunAttempt::Yours(_)), "{begun:?}");
    let sent_at = (state != AttemptState::NotSent).then_some(past);
    let stored = attempts.advance(&new.key, lease, state, sent_at, past);
    assert!(stored.await.unwrap());
}

#[tokio::test]
async fn a_request_that_was_sent_before_a_crash_is_not_sent_again() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let store = database.store().await;
    leave(&store, AttemptState::Unknown).await;
    // the form is not needed: nothing is sent
    let outcome = send(&magnum, store, CreationForm::default(), ATTEMPT).await;
    let found = match outcome {
        CreationOutcome::Unknown(found) => found,
        other => panic!("{other:?}"),
    };
    assert!(found.reason.contains("no cluster appeared"), "{found:?}");
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn the_name_of_an_unfinished_creation_is_not_sent_by_another_attempt() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let mut ready = reviewed(&magnum, &ada(&magnum), &form()).await;
    leave(&database.store().await, AttemptState::Unknown).await;
    let stored = StoredAttempts::new(database.store().await, Clock::system());
    block_unfinished(&mut ready, &stored.unfinished("acme", "ada").await.unwrap());
    assert!(!ready.can_be_sent());
    let other = Uuid::from_u128(8);
    let refused = refusal(send(&magnum, database.store().await, form(), other).await);
    assert!(refused.reason.contains("shop"), "{refused:?}");
    let next_step = refused.next_step.unwrap();
    assert!(next_step.contains("Continue that creation"), "{next_step}");
    assert_eq!(magnum.calls(), [""; 0]);
    let renamed = CreationForm {
        name: "shop-2".to_owned(),
        ..form()
    };
    let accepted = send(&magnum, database.store().await, renamed, other).await;
    assert_eq!(accepted, CreationOutcome::Accepted { cluster: CLUSTER });
}

#[tokio::test]
async fn an_attempt_that_was_left_before_it_was_sent_does_not_block_its_name() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    leave(&database.store().await, AttemptState::NotSent).await;
    let other = Uuid::from_u128(8);
    let accepted = send(&magnum, database.store().await, form(), other).await;
    assert_eq!(accepted, CreationOutcome::Accepted { cluster: CLUSTER });
}

#[tokio::test]
async fn a_refusal_of_magnum_is_whole_and_the_attempt_can_be_sent_again() {
    let text = "Resource limit exceeded: You have reached the maximum clusters per project, 3. You may \
                delete a cluster to make room for a new one.";
    let magnum = ChangingMagnum::start(vec![], move |request, _| {
        (request.method == "POST").then(|| (403, error(text)))
    });
    let (magnum, database) = (magnum.await, Database::new().await);
    for count in 1..=2 {
        let outcome = send(&magnum, database.store().await, form(), ATTEMPT).await;
        let refusal = refusal(outcome);
        assert!(refusal.reason.contains(text), "{}", refusal.reason);
        assert_eq!(refusal.request_id.as_deref(), Some("req-1"));
        assert_eq!(magnum.calls().len(), count);
    }
}

#[tokio::test]
async fn what_the_review_blocks_is_not_sent() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let even = CreationForm {
        control_plane: ControlPlaneForm {
            count: Some(2),
            ..ControlPlaneForm::default()
        },
        ..form()
    };
    let refusal_of_even = refusal(send(&magnum, database.store().await, even, ATTEMPT).await);
    assert_eq!(
        refusal_of_even.problems[0].field,
        "spec.controlPlane.replicas"
    );
    let unknown = CreationForm {
        template: "nosuch".to_owned(),
        ..form()
    };
    let refusal_of_unknown = refusal(send(&magnum, database.store().await, unknown, ATTEMPT).await);
    assert_eq!(refusal_of_unknown.problems[0].field, "spec.template");
    assert_eq!(magnum.calls(), [""; 0]);
    // nothing is left of the attempt
    let store = database.store().await;
    let attempts = store.creation_attempts();
    let left = attempts.of_user("acme", "ada", Clock::system().now()).await;
    assert_eq!(left.unwrap(), []);
}

async fn reviewed(magnum: &ChangingMagnum, viewer: &Viewer, form: &CreationForm) -> ReadyReview {
    match look(&magnum.clients, viewer, form).await.unwrap() {
        Reviewed::Ready(ready) => *ready,
        Reviewed::WithoutTemplate(problems) => panic!("{problems:?}"),
    }
}

#[tokio::test]
async fn case_13_a_reader_sees_the_rule() {
    let magnum = ChangingMagnum::with(vec![]).await;
    let bob = magnum.viewer("bob", &["reader"]);
    let ready = reviewed(&magnum, &bob, &form()).await;
    assert!(!ready.can_be_sent());
    let rights = ready.checks.iter().find(|check| check.subject == "Rights");
    assert!(rights.unwrap().text.contains("cluster:create"));
    let ready = reviewed(&magnum, &ada(&magnum), &form()).await;
    assert!(ready.can_be_sent(), "{:?}", ready.checks);
}

#[tokio::test]
async fn a_full_quota_of_clusters_blocks_and_a_taken_name_warns() {
    let mut clusters = Vec::new();
    for number in 0..3 {
        let mut one = cluster("shop", "CREATE_COMPLETE");
        one["uuid"] = json!(Uuid::from_u128(number));
        clusters.push(one);
    }
    let magnum = ChangingMagnum::with(clusters).await;
    let ready = reviewed(&magnum, &ada(&magnum), &form()).await;
    insta::assert_json_snapshot!("full_quota_and_a_taken_name", ready.checks);
    assert!(!ready.can_be_sent());
}

fn group(name: &str) -> NodeGroup {
    NodeGroup {
        uuid: format!("uuid-of-{name}"),
        name: name.to_owned(),
        role: "worker".to_owned(),
        is_default: name == "default-worker",
        flavor: None,
        node_count: 1,
        bounds: Some(Bounds::default()),
        status: Status::parse("CREATE_COMPLETE"),
        reason: None,
        node_labels: BTreeMap::new(),
        node_taints: Vec::new(),
    }
}

#[tokio::test]
async fn further_node_groups_remain_until_they_exist() {
    let (magnum, database) = (ChangingMagnum::with(vec![]).await, Database::new().await);
    let with_gpu = CreationForm {
        groups: vec![GroupForm {
            name: "gpu".to_owned(),
            count: Some(1),
            ..GroupForm::default()
        }],
        ..form()
    };
    let accepted = send(&magnum, database.store().await, with_gpu, ATTEMPT).await;
    assert_eq!(accepted, CreationOutcome::Accepted { cluster: CLUSTER });
    let stored = StoredAttempts::new(database.store().await, Clock::system());
    let unfinished = stored.unfinished("acme", "ada").await.unwrap();
    assert_eq!(unfinished, []);
    let model = model("CREATE_COMPLETE");
    let groups = [group("default-worker"), group("gpu")];
    let left = stored
        .remaining("acme", &model, &groups[..1])
        .await
        .unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].state, PlannedStepState::Ready);
    let elsewhere = stored.remaining("globex", &model, &groups[..1]).await;
    assert_eq!(elsewhere.unwrap(), []);
    let left = stored.remaining("acme", &model, &groups).await.unwrap();
    assert_eq!(left, []);
    // complete: a group that is deleted later is not offered again
    let left = stored
        .remaining("acme", &model, &groups[..1])
        .await
        .unwrap();
    assert_eq!(left, []);
}
