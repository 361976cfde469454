//! Whether a cluster may have a journal: a request for one that does not exist must not begin one.
use super::record::not_recorded;
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{own, viewer::Viewer},
    },
};
use portico_cluster_operations::Clients;
use portico_store::{JournalKey, Store};
use uuid::Uuid;

/// Checks that a cluster has a journal already, or that Magnum has it in the caller's project. Without journals
/// nothing is checked.
///
/// # Errors
/// `NotFound` if the project has no such cluster; `Unavailable` if the store does not answer; else those of
/// [`own::cluster`].
pub async fn ensure_exists(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<(), ServiceError> {
    let access = services.magnum()?;
    let Some(store) = access.feeds.journal().store() else {
        return Ok(());
    };
    let viewer = access.viewer(caller).await?;
    ensure(&access.clients, store, &viewer, cluster).await
}

async fn ensure(
    clients: &Clients,
    store: &Store,
    viewer: &Viewer,
    cluster: Uuid,
) -> Result<(), ServiceError> {
    let key = JournalKey {
        project_id: viewer.project_id().to_owned(),
        cluster,
    };
    match store.cluster_journal().head(&key).await {
        // it exists, or has existed
        Ok(Some(_)) => Ok(()),
        Ok(None) => own::cluster(clients, viewer, cluster).await.map(|_| ()),
        Err(error) => {
            tracing::error!(
                %error,
                cluster_id = %cluster,
                "a change was not sent, because the journal cannot be read"
            );
            Err(not_recorded())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::lifecycle::{
        changing_magnum::{CLUSTER, ChangingMagnum, cluster},
        fixtures::NOW,
    };
    use app::error::UiErrorKind;
    use portico_store::{JournalSource, KeyRing, NewJournalEntry};
    use serde_json::json;

    async fn store() -> (Store, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", directory.path().join("portico.db").display());
        let store = Store::connect(&url, 2, KeyRing::random().unwrap()).await;
        let store = store.unwrap();
        store.migrate(jiff::Timestamp::UNIX_EPOCH).await.unwrap();
        (store, directory)
    }

    #[tokio::test]
    async fn a_request_for_a_cluster_that_does_not_exist_begins_no_journal() {
        let magnum = ChangingMagnum::with(vec![cluster("shop", "CREATE_COMPLETE")]).await;
        let (store, _directory) = store().await;
        let ada = magnum.viewer("ada", &["member", "reader"]);
        let of = |cluster: Uuid| ensure(&magnum.clients, &store, &ada, cluster);
        let unknown = of(Uuid::from_u128(7)).await.unwrap_err();
        assert_eq!(unknown.kind, UiErrorKind::NotFound);
        assert!(of(CLUSTER).await.is_ok());
        let journals = store.cluster_journal().journals(None, 10).await.unwrap();
        assert!(journals.is_empty(), "{journals:?}");
    }

    #[tokio::test]
    async fn a_cluster_that_is_gone_keeps_its_journal_and_one_of_another_project_has_none_here() {
        let mut other = cluster("shop", "CREATE_COMPLETE");
        other["project_id"] = json!("globex");
        let magnum = ChangingMagnum::with(vec![other]).await;
        let (store, _directory) = store().await;
        let root = magnum.viewer("root", &["admin", "member", "reader"]);
        let refused = ensure(&magnum.clients, &store, &root, CLUSTER).await;
        assert_eq!(refused.unwrap_err().kind, UiErrorKind::NotFound);
        let gone = Uuid::from_u128(7);
        let key = JournalKey {
            project_id: root.project_id().to_owned(),
            cluster: gone,
        };
        let entry = NewJournalEntry {
            source: JournalSource::Request,
            content: "{}".to_owned(),
        };
        let journal = store.cluster_journal();
        journal.append(&key, &entry, NOW).await.unwrap();
        let known = ensure(&magnum.clients, &store, &root, gone).await;
        assert!(known.is_ok());
    }
}
