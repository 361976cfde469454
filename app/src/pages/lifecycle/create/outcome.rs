//! The request: its button, and how it ended.
use super::{list_crumb, review, state::Wizard};
use crate::{
    components::Crumb,
    context::use_session,
    pages::lifecycle::change::reason_input,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Button, ButtonKind, CopyButton, Tone, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{CheckLevel, CreationRefusal, UnknownCreation};

/// Returns the outcome of the last request, and the button of the next.
pub fn of(wizard: Wizard) -> AnyView {
    let outcome = move || {
        let refusal = wizard.refusal.get();
        let unknown = wizard.unknown.get();
        untrack(|| match (refusal, unknown) {
            (Some(refusal), _) => Some(refused(refusal)),
            (None, Some(unknown)) => Some(not_known(unknown)),
            (None, None) => None,
        })
    };
    let is_interrupted = Memo::new(move |_| wizard.is_sent.get() && !wizard.busy.get());
    view! {
        <div class="mt-4 form-groups" data-part="outcome">
            {outcome}
            {move || if is_interrupted.get() {
                interrupted(wizard)
            } else {
                create_button(wizard)
            }}
        </div>
    }
    .into_any()
}

fn create_button(wizard: Wizard) -> AnyView {
    let obstacle = Memo::new(move |_| {
        // the button stays while it works
        if wizard.busy.get() {
            None
        } else {
            review::obstacle(wizard)
        }
    });
    let reason = reason_input(
        "creation-reason",
        Signal::derive(move || wizard.form.with(|form| form.reason().to_owned())),
        Callback::new(move |text: String| wizard.change(|form| form.set_reason(text))),
    );
    view! {
        <fieldset class="form-group min-w-0" disabled=move || wizard.is_sent.get()>
            <legend class="visually-hidden">"Journal"</legend>
            {reason}
        </fieldset>
        {move || match obstacle.get() {
            Some(reason) => view! {
                <p class="flex flex-wrap items-center gap-3">
                    <Why
                        id="create-cluster-reason"
                        label="Create cluster"
                        reason=reason.clone()
                        action="create-cluster"
                    />
                    <span class="text-muted" aria-hidden="true">{reason}</span>
                </p>
            }
            .into_any(),
            None => view! {
                <p>
                    <Button
                        label="Create cluster"
                        icon=icons::CHECK
                        kind=ButtonKind::Primary
                        busy=wizard.busy
                        on_click=move |_| wizard.send()
                    />
                </p>
            }
            .into_any(),
        }}
    }
    .into_any()
}

/// Returns what to do with a form that was sent while its outcome is not known.
fn interrupted(wizard: Wizard) -> AnyView {
    let Crumb { href, .. } = list_crumb(&use_session().project.get_untracked());
    view! {
        <Banner tone=Tone::Warn>
            <p class="font-semibold">"This form was sent, and its outcome is not known."</p>
            <p>
                "Continue: Portico looks for the cluster first, and sends the request again only if it was \
                 not made. Two clusters are never made by it."
            </p>
            <p class="flex flex-wrap items-center gap-3 mt-2">
                <Button
                    label="Continue"
                    kind=ButtonKind::Primary
                    busy=wizard.busy
                    on_click=move |_| wizard.send()
                />
                <Button label="Change the form" on_click=move |_| wizard.release() />
            </p>
            <p class="mt-2">
                "A change of the form does not take this request back: a cluster that was made stays, and \
                 the form needs another name while the outcome is not known. The "
                <a href=href>"list of clusters"</a>
                " shows the cluster, or continues the request."
            </p>
        </Banner>
    }
    .into_any()
}

fn refused(refusal: CreationRefusal) -> AnyView {
    let checks = refusal
        .checks
        .into_iter()
        .filter(|check| check.level == CheckLevel::Blocks)
        .map(|check| view! { <li>{check.subject}": "{check.text}" "{check.next_step}</li> })
        .collect_view();
    let problems = refusal
        .problems
        .into_iter()
        .map(|problem| view! { <li>{problem.message}</li> })
        .collect_view();
    let request_id = refusal.request_id.map(|id| {
        view! {
            <p class="flex items-center gap-1">
                "Magnum's request ID: " <code>{id.clone()}</code>
                <CopyButton text=id what="request ID" />
            </p>
        }
    });
    view! {
        <Banner tone=Tone::Bad alert=true>
            <p class="font-semibold">"No cluster was created."</p>
            <p>{refusal.reason}</p>
            <ul class="notes">{checks}{problems}</ul>
            {refusal.next_step.map(|step| view! { <p>{step}</p> })}
            {request_id}
        </Banner>
    }
    .into_any()
}

fn not_known(unknown: UnknownCreation) -> AnyView {
    let project = use_session().project.get_untracked();
    let candidates = unknown
        .candidates
        .into_iter()
        .map(|id| {
            let href = ManagedClustersPage::Cluster(id).address(&project);
            view! { <li><a href=href>{id.to_string()}</a></li> }
        })
        .collect_view();
    view! {
        <Banner tone=Tone::Warn alert=true>
            <p>{unknown.reason}</p>
            <p>{unknown.next_step}</p>
            <ul class="notes">{candidates}</ul>
        </Banner>
    }
    .into_any()
}
