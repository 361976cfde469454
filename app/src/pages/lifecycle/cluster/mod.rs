//! One cluster: progress, details, failure, enrolment.
use super::list_crumb;
use crate::{components::PageHead, context::use_session};
use leptos::prelude::*;
use uuid::Uuid;

#[component]
pub fn ClusterPage(cluster: Uuid) -> impl IntoView {
    let _ = cluster;
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    view! { <PageHead title="Cluster" crumbs /> }.into_any()
}
