//! The form for a new cluster: template, size, network and access, review.
use super::list_crumb;
use crate::{components::PageHead, context::use_session};
use leptos::prelude::*;

#[component]
pub fn Create() -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    view! { <PageHead title="Create cluster" crumbs /> }.into_any()
}
