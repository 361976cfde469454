//! The way out of a failed change: what is sent, why it is safe, and the button that sends it.
use super::{
    change::{outcome, reason_field},
    cluster_crumb, list_crumb,
    view_change::use_view_shown,
    without_scripts,
};
use crate::{
    api::cluster_repairs::{get_settlement, settle_cluster},
    components::{ErrorState, NeedsScripts, PageHead},
    context::use_session,
    error::UiError,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Card, DescriptionList, Icon, SkeletonLines, Tone, Why, icons, suspended},
};
use leptos::{children::ViewFn, prelude::*};
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::lifecycle::{ChangeOutcome, FailureCard, SettledSize, Settlement};
use uuid::Uuid;

const TITLE: &str = "Settle cluster";
const BUTTON: &str = "Settle the cluster";

#[component]
pub fn Settle(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Settle(cluster), TITLE.to_owned());
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_settlement(cluster),
    );
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <PageHead
            title=TITLE
            icon=icons::ROTATE
            crumbs
            lede="After a change has failed, Magnum neither upgrades the cluster nor rotates its authorities. A \
                  request for the size that a node group already has brings it back into a state in which it \
                  can be changed."
        />
        <Suspense fallback=|| view! { <SkeletonLines lines=6 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(settlement) => content(cluster, settlement),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn content(cluster: Uuid, settlement: Settlement) -> AnyView {
    let rows = [
        ("Cluster", settlement.cluster.name.clone().into_any()),
        ("State", settlement.status.clone().into_any()),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let failure = settlement.failure.clone().map(failed);
    let is_needed = settlement.is_needed;
    let plan = is_needed.then(|| plan(cluster, settlement.clone()));
    let nothing = (!is_needed).then(|| {
        let reason = settlement.refusal.unwrap_or_default();
        let project = use_session().project.get_untracked();
        let page = ManagedClustersPage::Cluster(cluster).address(&project);
        view! {
            <div class="mt-4" data-part="nothing">
                <Banner tone=Tone::Info>
                    <p>{reason}</p>
                    <p><a href=page>"Open the page of the cluster"</a></p>
                </Banner>
            </div>
        }
    });
    view! {
        <div class="mt-4" data-part="present">
            <Card title="Now">
                <div class="grid grid-cols-1 gap-3">
                    <DescriptionList rows />
                    {failure}
                </div>
            </Card>
        </div>
        {nothing}
        {plan}
    }
    .into_any()
}

/// Returns why the change has failed: the cause is remedied first.
fn failed(failure: FailureCard) -> AnyView {
    let raw = (!failure.raw.is_empty()).then(|| {
        view! { <p class="mono wrap-anywhere">{failure.raw}</p> }
    });
    view! {
        <Banner tone=Tone::Warn>
            <p class="font-semibold wrap-anywhere">{failure.why}</p>
            {raw}
            <p>"If the cause remains, the cluster fails again: remedy it first."</p>
        </Banner>
    }
    .into_any()
}

/// Returns the card with what is sent, and the button.
fn plan(cluster: Uuid, settlement: Settlement) -> AnyView {
    let effects = settlement
        .effects
        .iter()
        .map(|effect| view! { <li>{effect.clone()}</li> })
        .collect_view();
    let request = settlement.request.clone().map(|request| {
        view! { <p>"Request: " <code class="wrap-anywhere">{request}</code></p> }
    });
    let of_step = settlement.step.as_ref();
    let of_step = of_step.and_then(|step| step.refusal.clone());
    let control = match (settlement.refusal.or(of_step), settlement.size) {
        (Some(reason), _) => {
            let text = reason.clone();
            view! {
                <Banner tone=Tone::Info>{text}</Banner>
                <div><Why id="settle-refusal" label=BUTTON reason action="settle" /></div>
            }
            .into_any()
        }
        (None, Some(size)) => {
            let notice = without_scripts([format!("portico cluster resize {cluster} SIZE")]);
            let form = move || {
                let reviewed = size.clone();
                view! { <SettleForm cluster reviewed /> }.into_any()
            };
            view! { <NeedsScripts notice console=ViewFn::from(form) /> }.into_any()
        }
        // without a group there is a reason
        (None, None) => ().into_any(),
    };
    view! {
        <div class="mt-4" data-part="settlement">
            <Card title="What is sent, and what it does">
                <div class="grid grid-cols-1 gap-3">
                    <ul class="notes">{effects}</ul>
                    {request}
                    {control}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

#[component]
fn SettleForm(cluster: Uuid, reviewed: SettledSize) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let navigate = use_navigate();
    let progress = ManagedClustersPage::Cluster(cluster).address(&project);
    let reason = RwSignal::new(String::new());
    let is_sending = RwSignal::new(false);
    let answer = RwSignal::new(None::<Result<ChangeOutcome, UiError>>);
    let accepted = Callback::new(move |()| navigate(&progress, NavigateOptions::default()));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if is_sending.get_untracked() {
            return;
        }
        is_sending.set(true);
        answer.set(None);
        let asked = settle_cluster(cluster, reviewed.clone(), reason.get_untracked());
        leptos::task::spawn_local(async move {
            let sent = asked.await;
            let is_accepted = sent == Ok(ChangeOutcome::Accepted);
            // the user may have left the page meanwhile
            let _ = is_sending.try_set(false);
            let _ = answer.try_set(Some(sent));
            if is_accepted {
                accepted.try_run(());
            }
        });
    };
    view! {
        <form class="grid grid-cols-1 gap-3" on:submit=submit>
            {reason_field("settle-reason", reason)}
            <div>
                <button type="submit" class="btn btn-primary" disabled=move || is_sending.get()>
                    <Icon icon=icons::ROTATE />
                    {BUTTON}
                </button>
            </div>
            <p class="visually-hidden" role="status">
                {move || is_sending.get().then_some("The request is being sent.")}
            </p>
        </form>
        {move || answer.get().map(|answer| outcome(answer, cluster, &project))}
    }
    .into_any()
}

/// Returns the hint on the pages of other changes that the cluster has to be settled first.
pub fn hint(cluster: Uuid, project: &str) -> AnyView {
    let href = ManagedClustersPage::Settle(cluster).address(project);
    view! {
        <div class="mt-4 mb-4" data-part="settle">
            <Banner tone=Tone::Warn>
                <p class="font-semibold">"The last change of this cluster has failed."</p>
                <p>
                    "Settle the cluster: a request for the present size of a node group brings it back into a \
                     state in which it can be upgraded."
                </p>
                <p><a href=href>"Settle the cluster"</a></p>
            </Banner>
        </div>
    }
    .into_any()
}
