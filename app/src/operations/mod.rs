//! Long operations of this tab. Each is a series of requests with the user's own rights, which runs
//! while the tab is open and the user is signed in; after an interruption it waits for the user. Shown
//! below the bar at the top of every page; the code for that is loaded with the first operation.
mod history;
mod panel;
mod run;
mod strip;

pub use history::Activity;
pub use strip::strip;

use leptos::prelude::*;
use portico_domain::panel::{DrainOptions, DrainProgress, ObjectRef, Refusal};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Where a tab stores its unfinished operations, so that a reload does not forget them.
const STORAGE_KEY: &str = "portico-operations";

/// The drain of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    pub project: String,
    pub cluster: Uuid,
    pub node: ObjectRef,
    pub uid: String,
    pub options: DrainOptions,
    /// The command of kubectl that does the same.
    #[serde(default)]
    pub command: String,
}

/// The state of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// It is repeated by itself; the reason why it does not advance now.
    Retrying(String),
    /// Nothing happens before the user resumes it, with the reason.
    Waiting(Refusal),
    Done,
}

impl State {
    fn waiting(reason: &str) -> Self {
        Self::Waiting(reason.to_owned().into())
    }
}

/// One operation. `Copy`.
#[derive(Clone, Copy)]
struct Operation {
    id: u32,
    drain: StoredValue<Drain>,
    progress: RwSignal<DrainProgress>,
    /// Number of pods when it began; 0 before the first answer.
    total: RwSignal<usize>,
    state: RwSignal<State>,
}

/// The operations of this tab. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct Operations {
    list: RwSignal<Vec<Operation>>,
    /// Never used twice: an operation that replaces another one is another row.
    last_id: StoredValue<u32>,
    /// Set with the first operation: then the code that runs and shows them is loaded.
    is_used: RwSignal<bool>,
    /// What was done in this tab, the newest first.
    history: RwSignal<Vec<history::Entry>>,
    is_history_loaded: StoredValue<bool>,
    is_panel_open: RwSignal<bool>,
    owner: StoredValue<Option<Owner>>,
}

/// Creates the context; operations of an earlier page of this tab wait for the user.
pub fn provide_operations() {
    let operations = Operations {
        list: RwSignal::new(Vec::new()),
        last_id: StoredValue::new(0),
        is_used: RwSignal::new(false),
        history: RwSignal::new(Vec::new()),
        is_history_loaded: StoredValue::new(false),
        is_panel_open: RwSignal::new(false),
        owner: StoredValue::new(Owner::current()),
    };
    provide_context(operations);
    Effect::new(move |_| {
        if stored().is_some() {
            operations.is_used.set(true);
        }
    });
}

impl Operations {
    /// Returns whether there is or was an operation.
    pub fn is_used(self) -> bool {
        self.is_used.get()
    }

    /// Opens the activity of this tab.
    pub fn show_activity(self) {
        self.is_used.set(true);
        self.is_panel_open.set(true);
    }
}

/// Returns the operations of the context; every page has them.
pub fn use_operations() -> Operations {
    expect_context()
}

fn stored() -> Option<String> {
    let storage = window().session_storage().ok().flatten()?;
    storage.get_item(STORAGE_KEY).ok().flatten()
}
