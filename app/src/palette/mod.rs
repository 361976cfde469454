//! The command palette: finds objects, kinds, clusters, projects, namespaces, pages and actions. Its
//! field is part of every page, so that it takes keys at once; what it finds is loaded when it is
//! first opened.
mod commands;
mod entries;
mod groups;
mod matching;
mod objects;
mod results;
mod sources;

pub use results::results;

use leptos::prelude::*;
use portico_domain::panel::ResourceKind;
use uuid::Uuid;

/// The state that the field and the results share. `Copy`.
#[derive(Clone, Copy)]
pub struct Palette {
    pub open: RwSignal<bool>,
    pub text: RwSignal<String>,
    /// The option that Enter opens, counted from 0.
    pub active: RwSignal<usize>,
    /// Number of options.
    pub count: RwSignal<usize>,
    /// Enter was pressed before there was an option.
    pub is_enter_pending: RwSignal<bool>,
    /// Opens the help of the keyboard.
    pub help: RwSignal<bool>,
    /// What was last read of a cluster, shown while it is read again.
    known: StoredValue<Option<Known>>,
}

/// The names of a cluster that are searched in the browser.
#[derive(Clone)]
struct Known {
    cluster: Uuid,
    kinds: Vec<ResourceKind>,
    namespaces: Vec<String>,
}

impl Palette {
    pub fn new(help: RwSignal<bool>) -> Self {
        Self {
            open: RwSignal::new(false),
            text: RwSignal::new(String::new()),
            active: RwSignal::new(0),
            count: RwSignal::new(0),
            is_enter_pending: RwSignal::new(false),
            help,
            known: StoredValue::new(None),
        }
    }
}

/// Returns the ID of an option.
pub fn option_id(index: usize) -> String {
    format!("palette-option-{index}")
}
