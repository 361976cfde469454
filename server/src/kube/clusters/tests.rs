mod api_server;
mod kinds;
mod redirects;

use super::*;
use jiff::SignedDuration;
use portico_assertion::PrivateKey;
use portico_domain::{
    enrolled_cluster::ClusterSource,
    identity::{Named, Project},
};

fn project(id: &str) -> Project {
    Project {
        id: id.to_owned(),
        name: id.to_owned(),
        domain: Named {
            id: "default".to_owned(),
            name: "Default".to_owned(),
        },
    }
}

fn authority() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["ca".to_owned()]).unwrap();
    params.self_signed(&key).unwrap().pem()
}

fn enrolled(id: u128, name: &str) -> EnrolledCluster {
    let authority = authority();
    EnrolledCluster {
        id: Uuid::from_u128(id),
        name: name.to_owned(),
        owner_project: "owner".to_owned(),
        accepted_projects: vec!["p1".to_owned()],
        accepted_roles: Vec::new(),
        api_url: "https://192.0.2.7:6443".to_owned(),
        ca: authority.clone(),
        client_ca: authority,
        api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
        source: ClusterSource::Magnum,
    }
}

/// Clusters with one of the configuration, whose files do not exist.
fn clusters() -> (Clusters, PrivateKey) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let record = serde_json::json!({
        "id": Uuid::from_u128(1), "name": "zeta", "api_url": "https://127.0.0.1:1",
        "owner_project": "p1", "sealing_key_file": "/nowhere/key.pub",
    });
    let clusters = Clusters::new(
        vec![serde_json::from_value(record).unwrap()],
        Clock::system(),
    );
    (clusters, PrivateKey::generate())
}

/// Returns a user's access to the enrolled cluster with the ID 2.
async fn api(clusters: &Clusters) -> Api {
    let token = KeystoneToken {
        token: "t".into(),
        expires_at: Clock::system().now() + SignedDuration::from_hours(1),
    };
    let snapshot = clusters.snapshot();
    let cluster = snapshot.get(Uuid::from_u128(2)).unwrap();
    clusters.api(cluster, &token).await.unwrap()
}

fn names(snapshot: &ClusterSnapshot, id: &str) -> Vec<String> {
    let project = project(id);
    let all = snapshot.of_project(&project);
    all.map(|cluster| cluster.record().name.clone()).collect()
}

#[tokio::test]
async fn enrolled_clusters_are_visible_in_their_projects_after_those_of_the_configuration() {
    let (clusters, key) = clusters();
    assert_eq!(names(&clusters.snapshot(), "p1"), ["zeta"]);
    let all = vec![enrolled(3, "beta"), enrolled(2, "alpha")];
    clusters.replace_enrolled(all, key.public());
    let snapshot = clusters.snapshot();
    assert_eq!(names(&snapshot, "p1"), ["zeta", "alpha", "beta"]);
    assert_eq!(names(&snapshot, "owner"), ["alpha", "beta"]);
    assert!(names(&snapshot, "p2").is_empty());
    assert!(snapshot.find(&project("p2"), Uuid::from_u128(2)).is_none());
    let configured: Vec<_> = snapshot.configured().map(|one| one.name.as_str()).collect();
    assert_eq!(configured, ["zeta"]);
}

#[tokio::test]
async fn an_imported_cluster_is_served_and_is_none_of_magnum() {
    let (clusters, key) = clusters();
    let imported = EnrolledCluster {
        source: ClusterSource::Operator,
        ..enrolled(3, "beta")
    };
    let all = vec![imported, enrolled(2, "alpha")];
    clusters.replace_enrolled(all, key.public());
    let snapshot = clusters.snapshot();
    assert_eq!(names(&snapshot, "p1"), ["zeta", "alpha", "beta"]);
    let of_magnum: Vec<_> = snapshot.of_magnum().map(|one| one.name.as_str()).collect();
    assert_eq!(of_magnum, ["alpha"]);
    let imported = snapshot.get(Uuid::from_u128(3)).unwrap();
    assert!(imported.is_enrolled() && !imported.is_of_magnum());
}

#[tokio::test]
async fn an_unchanged_cluster_keeps_its_connections_and_a_removed_one_stays_for_running_requests() {
    let (clusters, key) = clusters();
    let (same, changed, removed) = (enrolled(2, "a"), enrolled(3, "b"), enrolled(4, "c"));
    let all = vec![same.clone(), changed.clone(), removed];
    clusters.replace_enrolled(all, key.public());
    let before = clusters.snapshot();
    let moved = EnrolledCluster {
        api_url: "https://192.0.2.8:6443".to_owned(),
        ..changed
    };
    clusters.replace_enrolled(vec![same, moved], key.public());
    let after = clusters.snapshot();
    let is_kept = |id| {
        let id = Uuid::from_u128(id);
        let of = |snapshot: &ClusterSnapshot| snapshot.get(id).cloned();
        let (before, after) = (of(&before).unwrap(), of(&after)?);
        Some(Arc::ptr_eq(&before, &after))
    };
    // the one of the configuration, too
    assert_eq!(
        [1, 2, 3, 4].map(is_kept),
        [Some(true), Some(true), Some(false), None]
    );
}

#[tokio::test]
async fn the_configuration_has_precedence() {
    let (clusters, key) = clusters();
    clusters.replace_enrolled(vec![enrolled(1, "other")], key.public());
    let snapshot = clusters.snapshot();
    assert_eq!(names(&snapshot, "p1"), ["zeta"]);
    assert!(names(&snapshot, "owner").is_empty());
}

#[tokio::test]
async fn a_record_that_cannot_be_used_does_not_affect_the_others() {
    let (clusters, key) = clusters();
    let mut garbled = enrolled(3, "garbled");
    "no certificate".clone_into(&mut garbled.ca);
    let all = vec![garbled, enrolled(4, "valid")];
    clusters.replace_enrolled(all, key.public());
    let token = KeystoneToken {
        token: "t".into(),
        expires_at: Clock::system().now() + SignedDuration::from_hours(1),
    };
    let snapshot = clusters.snapshot();
    let cluster = |id| Arc::clone(snapshot.get(Uuid::from_u128(id)).unwrap());
    // its files do not exist
    for unusable in [1, 3] {
        let found = clusters.api(&cluster(unusable), &token).await.map(drop);
        assert!(
            matches!(found, Err(KubeError::Unconfigured(_))),
            "{found:?}"
        );
    }
    clusters.api(&cluster(4), &token).await.unwrap();
    assert!(matches!(cluster(4).authority(), Authority::Pem(_)));
}
