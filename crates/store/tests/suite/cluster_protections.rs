use super::Database;
use super::fixtures::at;
use portico_store::{ClusterProtection, ProtectedCluster};
use uuid::Uuid;

pub fn cluster(id: u128) -> ProtectedCluster {
    ProtectedCluster {
        project_id: "acme".to_owned(),
        cluster: Uuid::from_u128(id),
    }
}

pub async fn a_cluster_is_protected_until_the_protection_is_removed(database: &Database) {
    let all = database.store.cluster_protections();
    assert_eq!(all.get(&cluster(1)).await.unwrap(), None);
    assert!(all.protect(&cluster(1), "ada", at(0)).await.unwrap());
    // the first protection stays
    assert!(!all.protect(&cluster(1), "bob", at(5)).await.unwrap());
    let expected = ClusterProtection {
        user_id: "ada".to_owned(),
        protected_at: at(0),
    };
    assert_eq!(all.get(&cluster(1)).await.unwrap(), Some(expected));
    assert!(all.remove(&cluster(1)).await.unwrap());
    assert!(!all.remove(&cluster(1)).await.unwrap());
    assert_eq!(all.get(&cluster(1)).await.unwrap(), None);
}

pub async fn a_protection_is_of_one_cluster_of_one_project(database: &Database) {
    let all = database.store.cluster_protections();
    all.protect(&cluster(1), "ada", at(0)).await.unwrap();
    let other_project = ProtectedCluster {
        project_id: "globex".to_owned(),
        ..cluster(1)
    };
    for other in [cluster(2), other_project] {
        assert_eq!(all.get(&other).await.unwrap(), None);
        assert!(!all.remove(&other).await.unwrap());
    }
    assert!(all.get(&cluster(1)).await.unwrap().is_some());
}
