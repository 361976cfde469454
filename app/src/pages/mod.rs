//! The pages, one file or folder per address.
mod access;
mod app;
mod authentication;
mod cluster;
mod create;
mod custom_resources;
mod kinds;
mod launchpad;
pub mod lazy;
mod lifecycle;
mod list;
mod namespaces;
mod not_found;
mod object;
mod reauthenticate;
mod start;

pub use cluster::Cluster;
pub use launchpad::Launchpad;
pub use not_found::NotFound;
pub use reauthenticate::Reauthenticate;
pub use start::Start;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use uuid::Uuid;

/// Returns a parameter of the address; empty if it has none with that name.
fn use_parameter(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get(name).unwrap_or_default()))
}

/// Returns the cluster of the address; `None` if it is not a UUID.
pub fn use_cluster_id() -> Memo<Option<Uuid>> {
    let id = use_parameter("cluster");
    Memo::new(move |_| id.with(|id| Uuid::parse_str(id).ok()))
}
