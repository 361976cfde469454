//! The drain of a node: how far it is, and what the user may do. The page continues a drain while it is open;
//! one that was begun in another tab waits for the user.
use super::{
    chosen::{Chosen, Verb},
    state::NodesState,
};
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
    let drained = Memo::new(move |_| {
        state.shown.with(|shown| {
            let shown = shown.as_ref()?;
            let drain = shown.drain.clone()?;
            let mut nodes = shown.nodes.iter();
            let node = nodes.find(|node| node.server.as_ref() == Some(&drain.server));
            let end = match node {
                Some(node) if node.can_be_healed => End::Healing,
                _ if shown.replacement.is_some() => End::Removal,
                _ => End::RemovalOrReplacement,
            };
            Some((drain, end))
        })
    });
    let shown =
        Memo::new(move |_| drained.with(|drain| drain.as_ref().map(|(drain, _)| drain.clone())));
    // the buttons stay while pods leave: a user may be on one of them
    let frame = Memo::new(move |_| {
        drained.with(|drain| {
            let (drain, end) = drain.as_ref()?;
            Some((drain.name.clone(), drain.server.clone(), drain.stage, *end))
        })
    });
    view! {
        <div aria-live="polite">
            {move || frame.get().map(|frame| content(state, &project, shown, frame))}
        </div>
        <div class="mb-4">
            {move || state.drain_failure.get().map(|error| view! { <InlineError error /> })}
        </div>
    }
    .into_any()
}

/// What a node is drained for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is removed, or replaced in place.
    RemovalOrReplacement,
    /// It is removed, as the last step of a replacement.
    Removal,
    /// Its server is deleted, and auto-healing makes a new one.
    Healing,
}

fn content(
    state: NodesState,
    project: &str,
    shown: Memo<Option<NodeDrain>>,
    (name, server, stage, end): (String, String, NodeDrainStage, End),
) -> AnyView {
    let title = format!("Drain of {name}");
    let text = move || shown.with(|drain| drain.as_ref().map(|drain| drain.text.clone()));
    let pods = Memo::new(move |_| {
        shown.with(|drain| {
            let drain = drain.as_ref();
            drain.map(|drain| drain.pods.clone()).unwrap_or_default()
        })
    });
    let project = project.to_owned();
    let pods = move || pods.with(|pods| list(state, &project, pods));
    let (of_options, of_uncordon, of_stop) = (server.clone(), server.clone(), server.clone());
    let chosen = Chosen {
        verb: Verb::Remove,
        server: server.clone(),
        name,
        can_be_drained: false,
    };
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
    let is_drained = stage == NodeDrainStage::Drained;
    let healing = (is_drained && end == End::Healing).then(|| {
        let command = format!("openstack server delete {}", chosen.server);
        view! {
            <p>
                "Delete its server now with " <code>{command}</code>
                ": Magnum cannot remove a chosen node of this cluster, and auto-healing makes a new one."
            </p>
        }
    });
    let in_place = Chosen {
        verb: Verb::ReplaceInPlace,
        ..chosen.clone()
    };
    let replace = (is_drained && end == End::RemovalOrReplacement).then(|| {
        view! {
            <Button
                label="Replace the drained node in place"
                kind=ButtonKind::Plain
                on_click=move |_| state.choose(in_place.clone())
            />
        }
    });
    let remove = (is_drained && end != End::Healing).then(|| {
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
                    <p class="wrap-anywhere">{text}</p>
                    {healing}
                    {pods}
                    {(stage == NodeDrainStage::NeedsUser).then(|| options(state, &of_options))}
                    <div class="flex flex-wrap gap-2">
                        {resume}
                        {remove}
                        {replace}
                        <Button
                            label="Stop and uncordon"
                            kind=ButtonKind::Plain
                            busy=state.is_sending
                            on_click=move |_| state.stop_drain(of_uncordon.clone(), true)
                        />
                        <Button
                            label="Stop and keep cordoned"
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

/// Returns the pods that have not left; nothing without any.
fn list(state: NodesState, project: &str, pods: &[DrainPod]) -> Option<AnyView> {
    if pods.is_empty() {
        return None;
    }
    let lines = pods.iter().map(|pod| pod_line(state, project, pod));
    let lines = lines.collect_view();
    let list = view! { <ul class="notes" aria-label="Pods that have not left">{lines}</ul> };
    Some(list.into_any())
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
