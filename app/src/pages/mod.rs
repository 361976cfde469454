//! One file or folder an address.
mod access;
mod app;
mod authentication;
mod cluster;
mod kinds;
mod launchpad;
mod list;
mod namespaces;
mod not_found;
mod object;
mod start;

pub use access::Access;
pub use app::App;
pub use authentication::Authentication;
pub use cluster::Cluster;
pub use kinds::Kinds;
pub use launchpad::Launchpad;
pub use list::List;
pub use namespaces::Namespaces;
pub use not_found::NotFound;
pub use object::Object;
pub use start::Start;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use uuid::Uuid;

/// A parameter of the address; empty when it has none of that name.
fn use_parameter(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |_| params.with(|params| params.get(name).unwrap_or_default()))
}

/// The cluster of the address; `None` when it is no UUID.
pub fn use_cluster_id() -> Memo<Option<Uuid>> {
    let id = use_parameter("cluster");
    Memo::new(move |_| id.with(|id| Uuid::parse_str(id).ok()))
}
