//! Changes that can be undone for ten seconds. Kept in memory only: when the process ends they can
//! no longer be undone, and no change is undone twice.
use portico_cache::Cache;
use serde_json::Value;
use std::time::Duration;
use uuid::Uuid;

/// The page counts down from ten seconds; one more is for the network.
const UNDO_TTL: Duration = Duration::from_secs(11);

/// How to undo a change.
#[derive(Clone, Debug)]
pub enum Reverse {
    /// Create the object again.
    Recreate { collection: String, object: Value },
    /// Restore the content, if no other client has changed it since (`resource_version`).
    Restore {
        path: String,
        uid: String,
        resource_version: String,
        object: Value,
    },
    /// Delete the new object.
    Remove {
        path: String,
        uid: String,
        resource_version: String,
    },
}

/// A change with its owner.
#[derive(Clone, Debug)]
pub struct Entry {
    pub user: String,
    pub project: String,
    pub cluster: Uuid,
    /// The binding's name, for messages.
    pub target: String,
    pub reverse: Reverse,
}

/// The changes of the last seconds.
pub struct UndoStore(Cache<String, Entry>);

impl Default for UndoStore {
    fn default() -> Self {
        Self(
            Cache::builder()
                .max_capacity(5_000)
                .time_to_live(UNDO_TTL)
                .build(),
        )
    }
}

impl UndoStore {
    /// Stores a change and returns its key.
    pub async fn keep(&self, entry: Entry) -> String {
        let id = Uuid::new_v4().simple().to_string();
        self.0.insert(id.clone(), entry).await;
        id
    }

    /// Removes and returns a change, for its owner and cluster only; another user's stays stored.
    pub async fn take(&self, id: &str, user: &str, project: &str, cluster: Uuid) -> Option<Entry> {
        let id = id.to_owned();
        let entry = self.0.get(&id).await?;
        if entry.user != user || entry.project != project || entry.cluster != cluster {
            return None;
        }
        self.0.remove(&id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_is_undone_once_and_by_its_owner_only() {
        let store = UndoStore::default();
        let cluster = Uuid::from_u128(1);
        let entry = Entry {
            user: "ada".to_owned(),
            project: "p".to_owned(),
            cluster,
            target: "x".to_owned(),
            reverse: Reverse::Recreate {
                collection: String::new(),
                object: Value::Null,
            },
        };
        let id = store.keep(entry).await;
        assert!(store.take(&id, "otto", "p", cluster).await.is_none());
        assert!(store.take(&id, "ada", "p", Uuid::nil()).await.is_none());
        assert!(store.take(&id, "ada", "p", cluster).await.is_some());
        assert!(store.take(&id, "ada", "p", cluster).await.is_none());
    }
}
