//! What the pages show, one module a subject. All text in these types comes from a cluster or
//! a person and is shown as text, never as markup.
mod authentication;
mod bindings;
pub mod label_selector;
mod launchpad;
mod object;
mod table;

pub use authentication::*;
pub use bindings::*;
pub use launchpad::*;
pub use object::*;
pub use table::*;

use crate::identity::{Named, Project};
use serde::{Deserialize, Serialize};

/// The signed-in person, as every page's frame needs them.
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
    /// Clusters that take tokens of that project, by ID and name.
    #[serde(default)]
    pub clusters: Vec<Named>,
    /// Goes back with every change, as `X-CSRF-Token` or the form field `csrf_token`.
    pub csrf_token: String,
    /// Unix seconds; after that the password is asked again.
    pub session_expires_at: i64,
    /// The server's clock, Unix seconds, so that ages do not depend on the browser's.
    pub now: i64,
    /// False while Keystone cannot be reached; what is shown then may be out of date.
    pub keystone_reachable: bool,
    /// Sign-in methods used, as Keystone names them.
    pub auth_methods: Vec<String>,
}
