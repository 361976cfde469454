//! The upgrade of a cluster: the running change, targets, checks, what changes, approval.
mod approval;
mod review;
mod running;
mod state;
mod targets;

use super::{cluster_crumb, list_crumb, settle, view_change::use_view_shown, without_scripts};
use crate::{
    components::{Age, ErrorState, NeedsScripts, PageHead},
    context::use_session,
    pages::lifecycle::change,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Button, SkeletonLines, icons},
};
use leptos::{children::ViewFn, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use running::RunningChange;
use state::UpgradeForm;
use uuid::Uuid;

const TITLE: &str = "Upgrade cluster";

#[component]
pub fn Upgrade(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Upgrade(cluster), TITLE.to_owned());
    let notice = without_scripts([format!("portico cluster upgrade {cluster}")]);
    view! {
        <PageHead
            title=TITLE
            icon=icons::ARROW_UP
            crumbs
            lede="A cluster is upgraded by changing its template. Portico checks the upgrade before it sends \
                  anything. Kubernetes moves up one minor version at a time."
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let form = UpgradeForm::new(cluster);
    form.read();
    let navigate = use_navigate();
    let progress = ManagedClustersPage::Cluster(cluster).address(&project);
    let accepted = Callback::new(move |()| navigate(&progress, NavigateOptions::default()));
    let retry = Callback::new(move |()| form.read());
    // the form stays while the options are read again, with what was chosen and typed
    let name = Memo::new(move |_| {
        form.options.with(|options| {
            let options = options.as_ref()?;
            Some(options.cluster.name.clone())
        })
    });
    let is_first_read =
        Memo::new(move |_| name.with(Option::is_none) && form.failure.with(Option::is_none));
    let of_hint = project.clone();
    let needs_settling = Memo::new(move |_| {
        form.options.with(|options| {
            options
                .as_ref()
                .is_some_and(|options| options.needs_settling)
        })
    });
    let read_at = Memo::new(move |_| {
        form.options
            .with(|options| options.as_ref().map(|options| options.read_at))
    });
    view! {
        <p class="visually-hidden" role="status">
            {move || form.is_reading.get().then_some("Checking the upgrade.")}
        </p>
        {move || is_first_read.get().then(|| view! { <SkeletonLines lines=6 /> })}
        {move || form.failure.get().map(|error| view! {
            <div class="card mt-4"><ErrorState error retry /></div>
        })}
        <RunningChange form cluster />
        {move || needs_settling.get().then(|| settle::hint(cluster, &of_hint))}
        {targets::present(form)}
        {move || name.get().map(|name| view! {
            {targets::choice(form)}
            {review::of(form)}
            {approval::form(form, name, accepted)}
            <div class="flex flex-wrap items-center gap-2 mt-4">
                <Button
                    label="Refresh"
                    icon=icons::REFRESH
                    busy=form.is_reading
                    on_click=move |_| form.read()
                />
                <span class="text-muted">
                    {move || read_at.get().map(|at| view! {
                        "Read " <Age at=Some(at) /> " ago."
                    })}
                </span>
            </div>
        })}
        <div class="mt-4">
            {move || form.outcome.get().map(|answer| change::outcome(answer, cluster, &project))}
        </div>
    }
    .into_any()
}
