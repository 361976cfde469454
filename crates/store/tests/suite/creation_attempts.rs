use super::Database;
use super::fixtures::at;
use jiff::SignedDuration;
use portico_store::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, CreationAttempt, NewCreationAttempt,
};
use uuid::Uuid;

const CLUSTER: Uuid = Uuid::from_u128(0xc1);
const WEEK: i64 = 7 * 24 * 3600;

pub fn attempt(number: u128) -> NewCreationAttempt {
    NewCreationAttempt {
        key: AttemptKey {
            project_id: "acme".to_owned(),
            user_id: "ada".to_owned(),
            attempt: Uuid::from_u128(number),
        },
        cluster_name: "shop".to_owned(),
        specification: "{}".to_owned(),
    }
}

pub fn lease(holder: u128) -> AttemptLease {
    AttemptLease {
        holder: Uuid::from_u128(holder),
        life: SignedDuration::from_secs(30),
    }
}

async fn yours(database: &Database, number: u128, holder: u128, second: i64) -> CreationAttempt {
    let attempts = database.store.creation_attempts();
    let new = attempt(number);
    let begun = attempts.begin(&new, lease(holder), at(second)).await;
    match begun.unwrap() {
        BegunAttempt::Yours(attempt) => attempt,
        BegunAttempt::Taken(_) => panic!("another run has the lease"),
    }
}

pub async fn an_attempt_keeps_its_state_for_the_next_run(database: &Database) {
    let attempts = database.store.creation_attempts();
    let earlier = NewCreationAttempt {
        cluster_name: "before".to_owned(),
        ..attempt(1)
    };
    let begun = attempts.begin(&earlier, lease(6), at(-30)).await.unwrap();
    assert!(matches!(begun, BegunAttempt::Yours(_)), "{begun:?}");
    // nothing was sent, and the form has changed
    let begun = yours(database, 1, 7, 0).await;
    assert_eq!(begun.cluster_name, "shop");
    assert_eq!(begun.state, AttemptState::NotSent);
    assert_eq!(begun.sent_at, None);
    let key = attempt(1).key;
    let unknown = AttemptState::Unknown;
    let sent = attempts.advance(&key, lease(7), unknown, Some(at(1)), at(1));
    assert!(sent.await.unwrap());
    attempts.release(&key, lease(7).holder).await.unwrap();
    // another replica, with another name: those of the first run stay
    let other = database.with_keys(&[1]).await;
    let renamed = NewCreationAttempt {
        cluster_name: "other".to_owned(),
        ..attempt(1)
    };
    let begun = other.creation_attempts();
    let begun = begun.begin(&renamed, lease(8), at(2)).await.unwrap();
    let BegunAttempt::Yours(found) = begun else {
        panic!("the lease was released");
    };
    assert_eq!(found.cluster_name, "shop");
    assert_eq!((found.state, found.sent_at), (unknown, Some(at(1))));
}

pub async fn one_run_at_a_time_works_on_an_attempt(database: &Database) {
    let attempts = database.store.creation_attempts();
    yours(database, 1, 7, 0).await;
    let taken = attempts.begin(&attempt(1), lease(8), at(29)).await.unwrap();
    assert!(matches!(taken, BegunAttempt::Taken(_)), "{taken:?}");
    // the first run has died
    yours(database, 1, 8, 30).await;
    let key = attempt(1).key;
    let late = attempts.advance(&key, lease(7), AttemptState::Unknown, None, at(31));
    assert!(!late.await.unwrap());
    assert!(!attempts.prolong(&key, lease(7), at(31)).await.unwrap());
    assert!(!attempts.forget(&key, lease(7).holder).await.unwrap());
    attempts.release(&key, lease(7).holder).await.unwrap();
    assert!(attempts.prolong(&key, lease(8), at(31)).await.unwrap());
    let taken = attempts.begin(&attempt(1), lease(9), at(60)).await.unwrap();
    assert!(matches!(taken, BegunAttempt::Taken(_)), "{taken:?}");
}

pub async fn an_attempt_is_dismissed_only_while_its_outcome_is_unknown(database: &Database) {
    let attempts = database.store.creation_attempts();
    yours(database, 1, 7, 0).await;
    let key = attempt(1).key;
    let unknown = AttemptState::Unknown;
    let sent = attempts.advance(&key, lease(7), unknown, Some(at(1)), at(1));
    assert!(sent.await.unwrap());
    // its run may still send
    assert!(!attempts.dismiss(&key, at(1), at(2)).await.unwrap());
    attempts.release(&key, lease(7).holder).await.unwrap();
    let mut of_vera = key.clone();
    of_vera.user_id = "vera".to_owned();
    assert!(!attempts.dismiss(&of_vera, at(1), at(2)).await.unwrap());
    assert!(!attempts.dismiss(&key, at(0), at(2)).await.unwrap());
    assert!(attempts.dismiss(&key, at(1), at(2)).await.unwrap());
    assert!(!attempts.dismiss(&key, at(1), at(2)).await.unwrap());
    // of a cluster that exists the steps that follow are stored
    yours(database, 2, 8, 0).await;
    let key = attempt(2).key;
    let created = AttemptState::Created(CLUSTER);
    let stored = attempts.advance(&key, lease(8), created, Some(at(1)), at(1));
    assert!(stored.await.unwrap());
    attempts.release(&key, lease(8).holder).await.unwrap();
    assert!(!attempts.dismiss(&key, at(1), at(2)).await.unwrap());
}

pub async fn attempts_begun_at_once_have_one_run(database: &Database) {
    let mut tasks = tokio::task::JoinSet::new();
    for holder in 0..8 {
        let store = database.store.clone();
        tasks.spawn(async move {
            let attempts = store.creation_attempts();
            let begun = attempts.begin(&attempt(1), lease(holder), at(0)).await;
            matches!(begun.unwrap(), BegunAttempt::Yours(_))
        });
    }
    let mut winners = 0;
    while let Some(is_winner) = tasks.join_next().await {
        winners += usize::from(is_winner.unwrap());
    }
    assert_eq!(winners, 1);
}

pub async fn an_attempt_belongs_to_its_user_and_project(database: &Database) {
    let attempts = database.store.creation_attempts();
    yours(database, 1, 7, 0).await;
    let mut of_vera = attempt(1);
    of_vera.key.user_id = "vera".to_owned();
    let begun = attempts.begin(&of_vera, lease(8), at(0)).await.unwrap();
    assert!(matches!(begun, BegunAttempt::Yours(_)), "{begun:?}");
    let of_ada = attempts.of_user("acme", "ada", at(1)).await.unwrap();
    assert_eq!(of_ada.len(), 1);
    let elsewhere = attempts.of_user("globex", "ada", at(1)).await.unwrap();
    assert!(elsewhere.is_empty());
}

pub async fn the_attempt_of_a_cluster_is_found_until_it_is_complete(database: &Database) {
    let attempts = database.store.creation_attempts();
    yours(database, 1, 7, 0).await;
    let key = attempt(1).key;
    for state in [
        AttemptState::Accepted(CLUSTER),
        AttemptState::Created(CLUSTER),
    ] {
        let stored = attempts.advance(&key, lease(7), state, Some(at(1)), at(2));
        assert!(stored.await.unwrap());
        let found = attempts.of_cluster("acme", CLUSTER, at(3)).await.unwrap();
        assert_eq!(found.unwrap().state, state);
    }
    let of_project = attempts.of_project("acme", at(3)).await.unwrap();
    assert_eq!(of_project, [(key.attempt, Some(CLUSTER))]);
    let elsewhere = attempts.of_project("globex", at(3)).await.unwrap();
    assert!(elsewhere.is_empty());
    let elsewhere = attempts.of_cluster("globex", CLUSTER, at(3)).await;
    assert_eq!(elsewhere.unwrap(), None);
    assert!(!attempts.complete("globex", CLUSTER).await.unwrap());
    assert!(attempts.complete("acme", CLUSTER).await.unwrap());
    assert!(!attempts.complete("acme", CLUSTER).await.unwrap());
    let found = attempts.of_cluster("acme", CLUSTER, at(3)).await.unwrap();
    assert_eq!(found.unwrap().state, AttemptState::Complete(CLUSTER));
}

pub async fn an_attempt_is_stored_for_a_week_after_its_last_change(database: &Database) {
    let attempts = database.store.creation_attempts();
    yours(database, 1, 7, 0).await;
    let key = attempt(1).key;
    let stored = attempts.advance(&key, lease(7), AttemptState::Unknown, Some(at(9)), at(9));
    assert!(stored.await.unwrap());
    yours(database, 2, 8, 10).await;
    assert!(
        attempts
            .forget(&attempt(2).key, lease(8).holder)
            .await
            .unwrap()
    );
    database.store.sweep(at(WEEK + 8)).await.unwrap();
    let left = attempts.of_user("acme", "ada", at(WEEK + 8)).await.unwrap();
    assert_eq!(left.len(), 1);
    database.store.sweep(at(WEEK + 9)).await.unwrap();
    let left = attempts.of_user("acme", "ada", at(0)).await.unwrap();
    assert!(left.is_empty());
}
