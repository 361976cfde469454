//! What this tab stores of a deletion that was accepted, for the list of what is left: Magnum forgets the
//! cluster.
use crate::{context::use_session, hooks::drafts};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::DeletionRecord;
use uuid::Uuid;

/// Where the record of one cluster is stored; nowhere for an unknown user. `Copy`.
#[derive(Clone, Copy)]
pub struct StoredRecord(StoredValue<Option<String>>);

impl StoredRecord {
    /// Returns the place of the viewer's record of a cluster.
    pub fn of(cluster: Uuid) -> Self {
        let user = use_session()
            .view
            .with_untracked(|view| view.user_id.clone());
        Self(StoredValue::new(drafts::key(
            &user,
            &format!("deleted:{cluster}"),
        )))
    }

    pub fn write(self, record: &DeletionRecord) {
        if let (Some(key), Ok(text)) = (self.key(), serde_json::to_string(record)) {
            drafts::write(&key, Some(&text));
        }
    }

    /// Returns the record; `None` if another tab or browser has sent the deletion.
    pub fn read(self) -> Option<DeletionRecord> {
        let text = drafts::read(&self.key()?)?;
        serde_json::from_str(&text).ok()
    }

    fn key(self) -> Option<String> {
        self.0.try_with_value(Clone::clone).flatten()
    }
}
