//! What a change would do, and how far one is that was sent.
use super::state::{Groups, Stage};
use crate::{
    components::InlineError,
    pages::lifecycle::{change, checks, create::quota, pods},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ChangeOutcome, NodeGroupReview, PlanImpact, PlanLine};
use uuid::Uuid;

/// Returns the review of what is typed.
pub fn card(groups: Groups) -> AnyView {
    view! {
        <p class="text-muted" role="status">
            {move || groups.is_reviewing.get().then_some("Checking the change…")}
        </p>
        {move || groups.unreadable.get().map(|text| view! {
            <Banner tone=Tone::Bad>{text}</Banner>
        })}
        {move || groups.review.get().map(|review| match review {
            Ok(review) => {
                let pending = review.pending_pods.clone();
                view! {
                    {reviewed(review)}
                    {pods::approval(pending, groups.accepted_pods)}
                }
                .into_any()
            }
            Err(error) => view! { <InlineError error /> }.into_any(),
        })}
    }
    .into_any()
}

/// Returns the steps, the quotas and the checks of a review, or what is wrong.
pub fn reviewed(review: NodeGroupReview) -> AnyView {
    if review.is_done() {
        return view! {
            <p class="text-muted" data-part="nothing">
                "Nothing to change: the node group is as it is described here."
            </p>
        }
        .into_any();
    }
    let problems = review.problems.into_iter();
    let problems = problems.map(|text| view! { <Banner tone=Tone::Bad>{text}</Banner> });
    let steps = review.steps.into_iter().map(step).collect_view();
    let notes = review.notes.into_iter();
    let notes = notes.map(|text| view! { <li>{text}</li> }).collect_view();
    let quotas = review
        .quotas
        .into_iter()
        .map(quota::projected)
        .collect_view();
    view! {
        {problems.collect_view()}
        <ol class="notes" aria-label="Steps" data-part="steps">{steps}</ol>
        <ul class="notes">{notes}</ul>
        <div class="form-groups" data-part="quotas">{quotas}</div>
        {checks::card(review.checks)}
    }
    .into_any()
}

fn step(step: PlanLine) -> AnyView {
    let impact = match step.impact {
        PlanImpact::None => None,
        PlanImpact::Disruptive => Some((Tone::Warn, "Pods restart.")),
        PlanImpact::Destructive => Some((Tone::Bad, "Nodes are removed, with their data.")),
    };
    let impact = impact.map(|(tone, text)| view! { " " <Status tone text /> });
    let refusal = step
        .refusal
        .map(|text| view! { <p><Status tone=Tone::Bad text /></p> });
    view! { <li>{step.effect}{impact}{refusal}</li> }.into_any()
}

/// Returns how far the change is that was sent, and what came of its request.
pub fn progress(groups: Groups, cluster: Uuid, project: &str) -> AnyView {
    let href = ManagedClustersPage::Cluster(cluster).address(project);
    let journal = ManagedClustersPage::Journal(cluster).address(project);
    let project = project.to_owned();
    view! {
        <div class="mt-4" role="status" data-part="progress">
            {move || match groups.stage.get() {
                Stage::Typing => ().into_any(),
                Stage::Waiting { change } => {
                    let text = format!(
                        "Magnum works on {}. Further steps are sent by this page when the cluster is \
                         settled. If you leave it, repeat the change to continue.",
                        change.group()
                    );
                    let href = href.clone();
                    view! {
                        <Banner tone=Tone::Info>
                            <p>{text}</p>
                            <p><a href=href>"Show the progress"</a></p>
                        </Banner>
                    }
                    .into_any()
                }
                Stage::Done { group } => {
                    let text = format!("The change of {group} is complete.");
                    let journal = journal.clone();
                    view! {
                        <Banner tone=Tone::Ok>
                            <p>{text}</p>
                            <p><a href=journal>"Show the journal"</a></p>
                        </Banner>
                    }
                    .into_any()
                }
            }}
        </div>
        <div class="mt-4">
            {move || {
                let answer = groups.outcome.get().filter(|answer| *answer != Ok(ChangeOutcome::Accepted));
                answer.map(|answer| change::outcome(answer, cluster, &project))
            }}
        </div>
    }
    .into_any()
}
