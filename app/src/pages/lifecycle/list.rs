//! The clusters of the project.
use crate::components::PageHead;
use leptos::prelude::*;

#[component]
pub fn ClusterList() -> impl IntoView {
    view! { <PageHead title="Clusters" crumbs=Vec::new() /> }.into_any()
}
