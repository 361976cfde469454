//! What is left after a deletion.
use crate::{components::PageHead, context::use_session, pages::lifecycle::list_crumb};
use leptos::prelude::*;
use uuid::Uuid;

#[component]
pub fn LeftoversPage(cluster: Uuid) -> impl IntoView {
    let _ = cluster;
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    view! { <PageHead title="Leftovers" crumbs /> }.into_any()
}
