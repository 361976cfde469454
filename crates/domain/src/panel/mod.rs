//! The data of the pages, one module per subject. All text in these types comes from a cluster or a
//! user and is shown as text, never as markup.
mod authentication;
mod bindings;
mod bulk;
mod bulk_command;
mod change;
mod creation;
mod deletion;
mod diff;
mod drain;
pub mod field_selector;
mod form;
pub mod label_selector;
mod launchpad;
pub mod lifecycle;
mod manifest;
mod object;
mod program;
mod refusal;
mod related;
mod table;
mod usage;
mod usage_rows;
mod what_can;
mod who_can;

pub use authentication::*;
pub use bindings::*;
pub use bulk::*;
pub use bulk_command::*;
pub use change::*;
pub use creation::*;
pub use deletion::*;
pub use diff::*;
pub use drain::*;
pub use form::*;
pub use launchpad::*;
pub use manifest::*;
pub use object::*;
pub use program::*;
pub use refusal::*;
pub use related::*;
pub use table::*;
pub use usage::*;
pub use usage_rows::*;
pub use what_can::*;
pub use who_can::*;

use crate::identity::{Named, Project};
use serde::{Deserialize, Serialize};

/// The signed-in user, as the frame of every page needs them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    pub user_name: String,
    pub domain: Named,
    pub user_id: String,
    /// The project of the URL; `None` when the user has no role in it.
    pub project: Option<Project>,
    /// Roles in that project.
    pub roles: Vec<Named>,
    /// All projects of the user, for the switcher.
    pub projects: Vec<Project>,
    /// Clusters that accept tokens of that project, by ID and name.
    #[serde(default)]
    pub clusters: Vec<Named>,
    /// Sent with every change, as `X-CSRF-Token` or the form field `csrf_token`.
    pub csrf_token: String,
    /// Unix seconds; after that the user has to sign in again.
    pub session_expires_at: i64,
    /// The server's clock, Unix seconds, so that ages do not depend on the browser's.
    pub now: i64,
    /// False while Keystone cannot be reached; the data may be out of date then.
    pub keystone_reachable: bool,
    /// Sign-in methods used, as Keystone names them.
    pub auth_methods: Vec<String>,
}
