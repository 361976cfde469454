use super::form::Ends;
use crate::{
    api::objects::plan_drain,
    components::{InlineError, KubectlCommand},
    context::use_session,
    format,
    operations::{Drain as Drained, use_operations},
    ui::{Button, ButtonKind},
};
use leptos::prelude::*;
use portico_domain::panel::{
    DrainOptions, DrainPod, DrainProgress, DrainState, Kubectl, ObjectView,
};
use uuid::Uuid;

/// Evicts the pods of a node. The drain runs in this tab, after the dialog was closed too.
#[component]
pub fn Drain(cluster: Uuid, object: ObjectView, ends: Ends) -> impl IntoView {
    let operations = use_operations();
    let project = use_session().project.get_untracked();
    let options = RwSignal::new(DrainOptions::default());
    let node = object.reference.clone();
    let asked = node.clone();
    let plan = LocalResource::new(move || plan_drain(cluster, asked.clone(), options.get()));
    let (kind, of_command) = (object.kind.clone(), node.clone());
    let command = Signal::derive(move || Kubectl::Drain(options.get()).line(&of_command, &kind));
    let uid = object.uid.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        operations.start(Drained {
            project: project.clone(),
            cluster,
            node: node.clone(),
            uid: uid.clone(),
            options: options.get_untracked(),
            command: command.get_untracked(),
        });
        ends.cancel.run(());
    };
    let unmanaged = checkbox(
        "Evict pods without a controller too. Nothing creates them again.",
        move |on| options.update(|options| options.unmanaged = on),
    );
    let local_data = checkbox(
        "Evict pods with emptyDir volumes too. Their data is lost.",
        move |on| options.update(|options| options.local_data = on),
    );
    view! {
        <form on:submit=submit>
            <div class="dialog-body">
                <p>
                    "The node gets no new pods, and its pods are evicted, as far as their \
                     PodDisruptionBudgets allow it. Their controllers create them on other nodes. \
                     The drain runs while this tab is open and you are signed in; it can be stopped and resumed."
                </p>
                <noscript>
                    <p>"This needs JavaScript. In a terminal, use the command below."</p>
                </noscript>
                {unmanaged}
                {local_data}
                {move || match plan.get() {
                    None => view! { <p class="text-muted">"Reading the pods of the node…"</p> }.into_any(),
                    Some(Ok(plan)) => planned(&plan),
                    Some(Err(error)) => view! { <InlineError error /> }.into_any(),
                }}
                <KubectlCommand command />
            </div>
            <div class="dialog-foot">
                <Button label="Cancel" on_click=move |_| ends.cancel.run(()) />
                <Button label="Drain" kind=ButtonKind::Danger submit=true />
            </div>
        </form>
    }
    .into_any()
}

fn checkbox(label: &'static str, set: impl Fn(bool) + 'static) -> AnyView {
    view! {
        <label class="check">
            <input type="checkbox" on:change=move |event| set(event_target_checked(&event)) />
            {label}
        </label>
    }
    .into_any()
}

/// Returns what happens to the pods, in words, and those that would not leave.
fn planned(plan: &DrainProgress) -> AnyView {
    let leaving = plan.count(DrainState::Waiting) + plan.count(DrainState::Terminating);
    let held: Vec<_> = plan
        .pods
        .iter()
        .filter(|pod| pod.state == DrainState::NeedsUser)
        .map(held)
        .collect();
    let words = match (leaving, plan.count(DrainState::Stays)) {
        (leaving, 0) => format!("{} evicted.", will_be(leaving)),
        (leaving, stays) => format!(
            "{} evicted; {} of DaemonSets and of the node itself {}.",
            will_be(leaving),
            format::counted(stays, "pod"),
            if stays == 1 { "stays" } else { "stay" }
        ),
    };
    let held = (!held.is_empty()).then(|| {
        view! {
            <p>"These would not be evicted:"</p>
            <ul>{held}</ul>
        }
    });
    view! {
        <div data-plan="" role="status">
            <p>{words}</p>
            {held}
        </div>
    }
    .into_any()
}

fn will_be(pods: usize) -> String {
    format!("{} will be", format::counted(pods, "pod"))
}

fn held(pod: &DrainPod) -> AnyView {
    view! {
        <li>
            <strong class="wrap-anywhere">{format!("{}/{}", pod.namespace, pod.name)}</strong>
            ": "
            {pod.reason.clone()}
        </li>
    }
    .into_any()
}
