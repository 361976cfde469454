//! The drain of a node: how far it is, and what the user may do. The page continues a drain while it is open;
//! one that was begun in another tab waits for the user.
use super::state::{Chosen, NodesState, Verb};
use crate::{
    components::InlineError,
    context::use_session,
    routes,
    ui::{Button, ButtonKind, Card, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{
    DrainOptions, DrainPod, ObjectRef, ResourceRef,
    lifecycle::{NodeDrain, NodeDrainStage},
};

/// Returns the card of the drain; nothing if none was begun.
pub fn card(state: NodesState) -> AnyView {
    let project = use_session().project.get_untracked();
    let shown = Memo::new(move |_| {
        state
            .shown
            .with(|shown| shown.as_ref().and_then(|shown| shown.drain.clone()))
    });
    view! {
        <div aria-live="polite">
            {move || shown.get().map(|drain| content(state, &project, drain))}
        </div>
        <div class="mb-4">
            {move || state.drain_failure.get().map(|error| view! { <InlineError error /> })}
        </div>
    }
    .into_any()
}

fn content(state: NodesState, project: &str, drain: NodeDrain) -> AnyView {
    let title = format!("Drain of {}", drain.name);
    let stage = drain.stage;
    let pods = drain.pods.iter().map(|pod| pod_line(state, project, pod));
    let pods = pods.collect_view();
    let pods = (!drain.pods.is_empty()).then(|| {
        view! { <ul class="notes" aria-label="Pods that have not left">{pods}</ul> }
    });
    let server = drain.server.clone();
    let resume = move || {
        let label = match stage {
            NodeDrainStage::TimedOut | NodeDrainStage::NeedsUser => Some("Begin again"),
            NodeDrainStage::Draining if !state.is_draining.get() => Some("Continue draining"),
            _ => None,
        };
        let server = server.clone();
        label.map(|label| {
            view! {
                <Button
                    label
                    kind=ButtonKind::Plain
                    busy=state.is_sending
                    on_click=move |_| state.resume_drain(stage, server.clone())
                />
            }
        })
    };
    let (of_options, of_uncordon, of_stop) = (
        drain.server.clone(),
        drain.server.clone(),
        drain.server.clone(),
    );
    let chosen = Chosen {
        verb: Verb::Remove,
        server: drain.server,
        name: drain.name,
        can_be_drained: false,
    };
    let remove = (stage == NodeDrainStage::Drained).then(|| {
        view! {
            <Button
                label="Remove the drained node"
                kind=ButtonKind::Plain
                on_click=move |_| state.choose(chosen.clone())
            />
        }
    });
    view! {
        <div class="mb-4" data-part="drain">
            <Card title>
                <div class="grid grid-cols-1 gap-3">
                    {move || {
                        let (tone, text) = status(stage, state.is_draining.get());
                        view! { <Status tone text /> }
                    }}
                    <p>{drain.text}</p>
                    {pods}
                    {(stage == NodeDrainStage::NeedsUser).then(|| options(state, &of_options))}
                    <div class="flex flex-wrap gap-2">
                        {resume}
                        {remove}
                        <Button
                            label="Stop and uncordon"
                            kind=ButtonKind::Plain
                            busy=state.is_sending
                            on_click=move |_| state.stop_drain(of_uncordon.clone(), true)
                        />
                        <Button
                            label="Stop"
                            kind=ButtonKind::Plain
                            busy=state.is_sending
                            on_click=move |_| state.stop_drain(of_stop.clone(), false)
                        />
                    </div>
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns the state in words; a drain that this tab does not continue waits for the user.
fn status(stage: NodeDrainStage, is_draining: bool) -> (Tone, &'static str) {
    match stage {
        NodeDrainStage::Draining if is_draining => (Tone::Info, "Running"),
        NodeDrainStage::Draining | NodeDrainStage::NeedsUser | NodeDrainStage::TimedOut => {
            (Tone::Warn, "Waiting for you")
        }
        NodeDrainStage::Drained => (Tone::Ok, "Drained: waiting for you"),
        NodeDrainStage::Unknown => (Tone::Idle, "Not known"),
    }
}

fn pod_line(state: NodesState, project: &str, pod: &DrainPod) -> AnyView {
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(pod.namespace.clone()),
        name: pod.name.clone(),
    };
    let href = routes::object(project, state.cluster, &object);
    let name = format!("{}/{}", pod.namespace, pod.name);
    let reason = pod.reason.clone();
    view! { <li><a href=href>{name}</a>" "{reason}</li> }.into_any()
}

/// Returns the fields with which the user accepts a loss.
fn options(state: NodesState, server: &str) -> AnyView {
    view! {
        {option(
            (state, server),
            "Evict pods without a controller too. Nothing creates them again.",
            |options| options.unmanaged,
            |options, is_on| options.unmanaged = is_on,
        )}
        {option(
            (state, server),
            "Evict pods with emptyDir volumes too. Their data is lost.",
            |options| options.local_data,
            |options, is_on| options.local_data = is_on,
        )}
    }
    .into_any()
}

fn option(
    (state, server): (NodesState, &str),
    label: &'static str,
    get: fn(&DrainOptions) -> bool,
    set: fn(&mut DrainOptions, bool),
) -> AnyView {
    let (of_get, of_set) = (server.to_owned(), server.to_owned());
    view! {
        <label class="check whitespace-normal">
            <input
                type="checkbox"
                prop:checked=move || get(&state.accepted_loss(&of_get))
                on:change=move |event| {
                    let is_on = event_target_checked(&event);
                    state.accept_loss(&of_set, |options| set(options, is_on));
                }
            />
            {label}
        </label>
    }
    .into_any()
}
