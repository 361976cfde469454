//! What was done in this tab: the changes that were sent, each with its outcome. Stored in the tab, for one
//! user, so that navigation and a reload do not lose it.
use super::Operations;
use crate::{context::use_session, error::UiError};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// Where a tab stores its history.
const STORAGE_KEY: &str = "portico-activity";
/// Maximum number of entries; the oldest are dropped.
const MAX_ENTRIES: usize = 100;

/// A change that was sent, or an operation that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// `Scale checkout`.
    pub title: String,
    /// The page of the object or list.
    pub href: String,
    /// The commands of kubectl that do the same, each in a line; empty if there is none.
    pub command: String,
}

/// An entry of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Unix seconds.
    pub at: i64,
    pub activity: Activity,
    /// The outcome in a sentence; the reason of a failure.
    pub words: String,
    pub is_failed: bool,
}

/// The history as it is stored. The tab may have another user next.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    user: String,
    entries: Vec<Entry>,
}

impl Operations {
    /// Adds a change with its outcome. Called in the browser only.
    pub fn record(self, activity: Activity, outcome: Result<&str, &UiError>) {
        let Some((user, now)) = self.user_and_time() else {
            return;
        };
        self.load_history();
        let (words, is_failed) = match outcome {
            Ok(message) => (message.to_owned(), false),
            Err(error) => (error.message.clone(), true),
        };
        let entry = Entry {
            at: now,
            activity,
            words,
            is_failed,
        };
        self.history.update(|entries| add(entries, entry));
        let stored = Stored {
            user,
            entries: self.history.get_untracked(),
        };
        if let (Ok(text), Ok(Some(storage))) =
            (serde_json::to_string(&stored), window().session_storage())
        {
            // a browser without storage forgets it with the page
            let _ = storage.set_item(STORAGE_KEY, &text);
        }
    }

    /// Reads what an earlier page of this tab has stored, once.
    pub(super) fn load_history(self) {
        if self.is_history_loaded.get_value() {
            return;
        }
        self.is_history_loaded.set_value(true);
        let storage = window().session_storage().ok().flatten();
        let text = storage.and_then(|storage| storage.get_item(STORAGE_KEY).ok().flatten());
        if let (Some(text), Some((user, _))) = (text, self.user_and_time()) {
            self.history.set(entries_of(&user, &text));
        }
    }

    /// Returns the user's ID and the server's time.
    fn user_and_time(self) -> Option<(String, i64)> {
        let session = self.owner.get_value()?.with(use_session);
        let user = session.view.with_untracked(|view| view.user_id.clone());
        Some((user, session.now.get_untracked()))
    }
}

/// Adds an entry before the others.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    entries.insert(0, entry);
    entries.truncate(MAX_ENTRIES);
}

/// Returns the stored entries of a user.
fn entries_of(user: &str, text: &str) -> Vec<Entry> {
    let stored: Stored = serde_json::from_str(text).unwrap_or_default();
    if stored.user == user {
        stored.entries
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: i64) -> Entry {
        Entry {
            at,
            activity: Activity {
                title: "Scale web".to_owned(),
                href: "/".to_owned(),
                command: String::new(),
            },
            words: "Done.".to_owned(),
            is_failed: false,
        }
    }

    #[test]
    fn the_newest_entry_is_first_and_the_oldest_are_dropped() {
        let mut entries = Vec::new();
        for at in 0..=100 {
            add(&mut entries, entry(at));
        }
        assert_eq!(entries.len(), MAX_ENTRIES);
        assert_eq!((entries[0].at, entries[99].at), (100, 1));
    }

    #[test]
    fn a_stored_history_is_that_of_its_user() {
        let stored = Stored {
            user: "u1".to_owned(),
            entries: vec![entry(1)],
        };
        let text = serde_json::to_string(&stored).unwrap();
        assert_eq!(entries_of("u1", &text), [entry(1)]);
        assert!(entries_of("u2", &text).is_empty());
        assert!(entries_of("u1", "{").is_empty());
    }
}
