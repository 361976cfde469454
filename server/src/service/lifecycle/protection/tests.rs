//! Protections, with Magnum and the database inside of the test.
use super::{Wanted, change, protect_new, read, view};
use crate::service::lifecycle::{
    changing_magnum::{CLUSTER, ChangingMagnum, cluster},
    fixtures::NOW,
};
use app::error::UiErrorKind;
use portico_store::{KeyRing, Store};
use serde_json::json;
use tempfile::TempDir;

const ON: Wanted<'static> = Wanted {
    is_on: true,
    typed: "",
};

fn off(typed: &str) -> Wanted<'_> {
    Wanted {
        is_on: false,
        typed,
    }
}

async fn store() -> (Store, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", directory.path().join("portico.db").display());
    let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
    let store = store.unwrap();
    store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
    (store, directory)
}

#[tokio::test]
async fn a_protection_is_removed_with_the_typed_name_only() {
    let magnum = ChangingMagnum::with(vec![cluster("shop", "CREATE_COMPLETE")]).await;
    let (store, _directory) = store().await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    let clients = &magnum.clients;
    let on = change(clients, &store, &ada, CLUSTER, ON, NOW)
        .await
        .unwrap();
    assert_eq!(on.protected.unwrap().by, "you");
    assert!(on.note.contains("Portico's own"), "{}", on.note);
    assert_eq!(on.refusal, None);
    for typed in ["", "Shop", "shop "] {
        let error = change(clients, &store, &ada, CLUSTER, off(typed), NOW).await;
        assert_eq!(error.unwrap_err().kind, UiErrorKind::Invalid, "{typed:?}");
        let still = read(Some(&store), &ada, CLUSTER).await.unwrap();
        assert!(still.is_some());
    }
    let off = change(clients, &store, &ada, CLUSTER, off("shop"), NOW).await;
    assert_eq!(off.unwrap().protected, None);
    // Magnum has nothing of it
    assert_eq!(magnum.calls(), [""; 0]);
}

#[tokio::test]
async fn only_users_who_may_delete_change_a_protection_and_others_see_it() {
    let magnum = ChangingMagnum::with(vec![cluster("shop", "CREATE_COMPLETE")]).await;
    let (store, _directory) = store().await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    protect_new(&store, &ada, CLUSTER, NOW).await;
    let bob = magnum.viewer("bob", &["reader"]);
    for wanted in [ON, off("shop")] {
        let error = change(&magnum.clients, &store, &bob, CLUSTER, wanted, NOW).await;
        assert_eq!(error.unwrap_err().kind, UiErrorKind::NotPermitted);
    }
    let protection = read(Some(&store), &bob, CLUSTER).await.unwrap();
    let found = serde_json::from_value(cluster("shop", "CREATE_COMPLETE")).unwrap();
    let shown = view(&found, protection, &bob, true);
    assert_eq!(shown.protected.unwrap().by, "another user of the project");
    assert!(shown.refusal.unwrap().contains("role member"));
    assert!(shown.delete_refusal.unwrap().contains("cluster:delete"));
}

#[tokio::test]
async fn the_cluster_of_another_project_is_not_protected_by_an_administrator() {
    let mut other = cluster("shop", "CREATE_COMPLETE");
    other["project_id"] = json!("globex");
    let magnum = ChangingMagnum::with(vec![other]).await;
    let (store, _directory) = store().await;
    let root = magnum.viewer("root", &["admin"]);
    let error = change(&magnum.clients, &store, &root, CLUSTER, ON, NOW).await;
    assert_eq!(error.unwrap_err().kind, UiErrorKind::NotFound);
    assert_eq!(read(Some(&store), &root, CLUSTER).await.unwrap(), None);
}

#[tokio::test]
async fn without_a_sql_database_nothing_is_protected_and_the_reason_is_given() {
    let magnum = ChangingMagnum::with(Vec::new()).await;
    let ada = magnum.viewer("ada", &["member", "reader"]);
    assert_eq!(read(None, &ada, CLUSTER).await.unwrap(), None);
    let found = serde_json::from_value(cluster("shop", "CREATE_COMPLETE")).unwrap();
    let shown = view(&found, None, &ada, false);
    assert!(shown.refusal.unwrap().contains("Redis"));
    // the store does not decide whether Magnum deletes it
    assert_eq!(shown.delete_refusal, None);
}
