use super::Database;
use super::fixtures::at;
use portico_domain::enrolled_cluster::{ClusterSource, EnrolledCluster};
use portico_store::{StoreCause, StoreError};
use uuid::Uuid;

pub fn cluster(id: u128) -> EnrolledCluster {
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    EnrolledCluster {
        id: Uuid::from_u128(id),
        name: format!("cluster-{id}"),
        owner_project: "acme".to_owned(),
        accepted_projects: vec!["acme".to_owned()],
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.7:6443".to_owned(),
        ca: pem.to_owned(),
        client_ca: pem.to_owned(),
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        source: ClusterSource::Magnum,
    }
}

pub async fn an_enrolled_cluster_is_stored_replaced_and_removed(database: &Database) {
    let all = database.store.enrolled_clusters();
    let empty = all.all().await.unwrap();
    assert_eq!((empty.sequence, empty.clusters.len()), (0, 0));
    assert!(all.put(&cluster(2), at(0)).await.unwrap());
    assert!(all.put(&cluster(1), at(0)).await.unwrap());
    let mut renamed = cluster(2);
    renamed.name = "prod".to_owned();
    assert!(all.put(&renamed, at(1)).await.unwrap());
    let found = all.all().await.unwrap();
    assert_eq!(found.clusters, [cluster(1), renamed]);
    assert_eq!(found.sequence, 3);
    let one = all.get(Uuid::from_u128(1)).await.unwrap();
    assert_eq!(one, Some(cluster(1)));
    assert_eq!(all.get(Uuid::from_u128(3)).await.unwrap(), None);
    assert!(all.remove(Uuid::from_u128(1)).await.unwrap());
    let found = all.all().await.unwrap();
    assert_eq!((found.sequence, found.clusters.len()), (4, 1));
    // also for another replica
    let other = database.with_keys(&[1]).await;
    assert_eq!(other.enrolled_clusters().sequence().await.unwrap(), 4);
}

pub async fn an_imported_cluster_keeps_its_source(database: &Database) {
    let all = database.store.enrolled_clusters();
    let mut imported = cluster(1);
    imported.source = ClusterSource::Operator;
    assert!(all.put(&imported, at(0)).await.unwrap());
    assert!(all.put(&cluster(2), at(0)).await.unwrap());
    let found = all.all().await.unwrap();
    assert_eq!(found.clusters, [imported.clone(), cluster(2)]);
    // the source is part of the record: the same cluster with another one is a change
    assert!(!all.put(&imported, at(1)).await.unwrap());
    assert!(all.put(&cluster(1), at(1)).await.unwrap());
    let one = all.get(Uuid::from_u128(1)).await.unwrap();
    assert_eq!(one.map(|one| one.source), Some(ClusterSource::Magnum));
}

pub async fn a_change_that_changes_nothing_keeps_the_sequence(database: &Database) {
    let all = database.store.enrolled_clusters();
    all.put(&cluster(1), at(0)).await.unwrap();
    assert!(!all.put(&cluster(1), at(9)).await.unwrap());
    assert!(!all.remove(Uuid::from_u128(2)).await.unwrap());
    assert_eq!(all.sequence().await.unwrap(), 1);
}

pub async fn a_cluster_that_kube_auth_would_refuse_is_not_stored(database: &Database) {
    let all = database.store.enrolled_clusters();
    let mut long = cluster(1);
    long.name = "n".repeat(256);
    let error = all.put(&long, at(0)).await.unwrap_err();
    assert!(matches!(error, StoreError::Cluster { .. }), "{error}");
    assert_eq!(error.cause(), StoreCause::Entry);
    assert_eq!(all.sequence().await.unwrap(), 0);
}

pub async fn changes_of_clusters_made_at_once_have_a_sequence_each(database: &Database) {
    let mut tasks = tokio::task::JoinSet::new();
    for id in 0..16 {
        let store = database.store.clone();
        tasks.spawn(async move {
            let all = store.enrolled_clusters();
            all.put(&cluster(id), at(0)).await.unwrap();
            if id % 2 == 1 {
                assert!(all.remove(Uuid::from_u128(id)).await.unwrap());
            }
        });
    }
    let mut last = 0;
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
        let now = database.store.enrolled_clusters().all().await.unwrap();
        assert!(now.sequence >= last);
        last = now.sequence;
    }
    let all = database.store.enrolled_clusters().all().await.unwrap();
    assert_eq!((all.sequence, all.clusters.len()), (24, 8));
}

pub async fn an_enrolment_keeps_what_an_earlier_record_accepts(database: &Database) {
    let all = database.store.enrolled_clusters();
    let new = all.enrol(&cluster(1), at(0)).await.unwrap();
    assert_eq!(new, cluster(1));
    let mut restricted = cluster(1);
    restricted.accepted_roles.push("r1".to_owned());
    all.put(&restricted, at(1)).await.unwrap();
    let again = all.enrol(&cluster(1), at(2)).await.unwrap();
    assert_eq!(again, restricted);
    // nothing has changed, and no reader reads it again
    assert_eq!(all.sequence().await.unwrap(), 2);
    let mut moved = cluster(1);
    moved.owner_project = "other".to_owned();
    moved.accepted_projects = vec!["other".to_owned()];
    assert_eq!(all.enrol(&moved, at(3)).await.unwrap(), moved);
    assert_eq!(all.get(Uuid::from_u128(1)).await.unwrap(), Some(moved));
}

pub async fn enrolments_made_at_once_keep_the_projects_of_each_other(database: &Database) {
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let store = database.store.clone();
        tasks.spawn(async move {
            let mut one = cluster(1);
            one.accepted_projects = vec![format!("p{number}")];
            store.enrolled_clusters().enrol(&one, at(0)).await.unwrap();
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let all = database.store.enrolled_clusters();
    let stored = all.get(Uuid::from_u128(1)).await.unwrap().unwrap();
    let mut projects = stored.accepted_projects;
    projects.sort();
    let mut expected: Vec<_> = (0..12).map(|number| format!("p{number}")).collect();
    expected.sort();
    assert_eq!(projects, expected);
}
