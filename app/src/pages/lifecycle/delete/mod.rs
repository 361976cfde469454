//! The deletion of a cluster: inventory, confirmation, leftovers.
mod leftovers;

pub use leftovers::LeftoversPage;

use super::list_crumb;
use crate::{components::PageHead, context::use_session};
use leptos::prelude::*;
use uuid::Uuid;

#[component]
pub fn Delete(cluster: Uuid) -> impl IntoView {
    let _ = cluster;
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    view! { <PageHead title="Delete cluster" crumbs /> }.into_any()
}
