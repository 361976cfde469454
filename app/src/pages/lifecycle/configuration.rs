//! What the API server of a cluster needs that others made.
use super::list_crumb;
use crate::{components::PageHead, context::use_session};
use leptos::prelude::*;
use uuid::Uuid;

#[component]
pub fn Configuration(cluster: Uuid) -> impl IntoView {
    let _ = cluster;
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    view! { <PageHead title="API server configuration" crumbs /> }.into_any()
}
