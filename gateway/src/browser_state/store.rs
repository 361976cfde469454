//! Stores browser sessions in [`portico_store::BrowserSessions`], on every database.
use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use portico_clock::Clock;
use portico_store::{BrowserSession, BrowserSessionCreation, Store, StoreCause, StoreError};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tower_sessions::{
    SessionStore,
    cookie::time::OffsetDateTime,
    session::{Id, Record},
    session_store::{Error, Result},
};

/// Bounds the number of browser sessions: at the maximum size of each, 200 MB.
const MAX_BROWSER_SESSIONS: u32 = 50_000;
/// An ID is 128 random bits, so the second is free.
const MAX_ID_ATTEMPTS: usize = 2;

/// The browser sessions of the store, for [`tower_sessions`].
#[derive(Clone, Debug)]
pub(super) struct BrowserSessionStore {
    store: Store,
    clock: Clock,
}

impl BrowserSessionStore {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }
}

#[async_trait]
impl SessionStore for BrowserSessionStore {
    async fn create(&self, record: &mut Record) -> Result<()> {
        let new = to_stored(record)?;
        for _ in 0..MAX_ID_ATTEMPTS {
            let id = record.id.to_string();
            let created = self
                .store
                .browser_sessions()
                .create(&id, &new, MAX_BROWSER_SESSIONS, self.clock.now())
                .await
                .map_err(backend)?;
            match created {
                BrowserSessionCreation::Created => return Ok(()),
                BrowserSessionCreation::IdTaken => record.id = Id::default(),
                BrowserSessionCreation::Full => {
                    return Err(Error::Backend(format!(
                        "there are {MAX_BROWSER_SESSIONS} browser sessions; no more are stored \
                         until some expire"
                    )));
                }
            }
        }
        Err(Error::Backend("no ID is free".to_owned()))
    }

    async fn save(&self, record: &Record) -> Result<()> {
        let changed = to_stored(record)?;
        let id = record.id.to_string();
        let saved = self
            .store
            .browser_sessions()
            .save(&id, &changed, self.clock.now())
            .await
            .map_err(backend)?;
        if !saved {
            // the browser has signed in in another tab meanwhile, which replaced the ID
            tracing::debug!("a browser session that has ended is not saved");
        }
        Ok(())
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let found = self
            .store
            .browser_sessions()
            .find(&id.to_string(), self.clock.now())
            .await;
        match found {
            Ok(found) => Ok(found.and_then(|found| from_stored(*id, &found))),
            Err(error) if is_unreadable(&error) => {
                tracing::warn!(%error, "the state of a browser cannot be read and is forgotten");
                Ok(None)
            }
            Err(error) => Err(backend(error)),
        }
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        let sessions = self.store.browser_sessions();
        sessions.delete(&id.to_string()).await.map_err(backend)?;
        Ok(())
    }
}

/// Returns whether an entry cannot be read now or later, in contrast to a store that does not
/// respond.
fn is_unreadable(error: &StoreError) -> bool {
    matches!(error, StoreError::Unsealable { .. }) || error.cause() == StoreCause::Entry
}

fn backend(error: StoreError) -> Error {
    Error::Backend(error.to_string())
}

fn to_stored(record: &Record) -> Result<BrowserSession> {
    let data =
        serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))?;
    let expires_at = Timestamp::from_second(record.expiry_date.unix_timestamp())
        .map_err(|error| Error::Encode(error.to_string()))?;
    Ok(BrowserSession {
        data: SecretString::from(data),
        expires_at,
    })
}

/// Returns `None` for data that this version does not understand.
fn from_stored(id: Id, stored: &BrowserSession) -> Option<Record> {
    let data: HashMap<String, Value> = serde_json::from_str(stored.data.expose_secret()).ok()?;
    let expiry_date = OffsetDateTime::from_unix_timestamp(stored.expires_at.as_second()).ok()?;
    Some(Record {
        id,
        data,
        expiry_date,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(second: i64) -> Record {
        Record {
            id: Id(7),
            data: HashMap::from([("domain".to_owned(), json!("acme"))]),
            expiry_date: OffsetDateTime::from_unix_timestamp(second).expect("time"),
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_stored() {
        let before = record(1_800_000_000);
        let stored = to_stored(&before).expect("stored");
        assert_eq!(from_stored(Id(7), &stored), Some(before));
    }

    #[test]
    fn data_of_another_form_is_forgotten() {
        let stored = BrowserSession {
            data: SecretString::from("[1]"),
            expires_at: Timestamp::UNIX_EPOCH,
        };
        assert_eq!(from_stored(Id(7), &stored), None);
    }
}
