//! How far the replacement of a node is. The page only shows what the server finds out, so that it continues
//! wherever it is opened.
use super::{
    chosen::{Chosen, Verb},
    state::NodesState,
};
use crate::{
    components::InlineError,
    ui::{Button, ButtonKind, Card, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{NodeReplacement, ReplacementStage};
use std::cmp::Ordering;

/// Returns the card of the replacement; nothing if none is running.
pub fn card(state: NodesState) -> AnyView {
    let shown = Memo::new(move |_| {
        state.shown.with(|shown| {
            let shown = shown.as_ref()?;
            let replacement = shown.replacement.clone()?;
            let mut nodes = shown.nodes.iter();
            let old = nodes.find(|node| node.server.as_ref() == Some(&replacement.server));
            let can_be_drained = old.is_some_and(|node| node.kubernetes.is_some());
            Some((replacement, can_be_drained))
        })
    });
    view! {
        <div aria-live="polite">
            {move || shown.get().map(|(replacement, can_be_drained)| {
                content(state, replacement, can_be_drained)
            })}
        </div>
    }
    .into_any()
}

fn content(state: NodesState, replacement: NodeReplacement, can_be_drained: bool) -> AnyView {
    let NodeReplacement {
        name,
        server,
        group,
        stage,
        is_in_place,
        text,
    } = replacement;
    let title = format!("Replacement of {name}");
    let of_surge = [
        (ReplacementStage::Adding, format!("A new node in {group}")),
        (
            ReplacementStage::NotReady,
            "The new node is ready in Kubernetes, where that is known".to_owned(),
        ),
        (
            ReplacementStage::WaitingForYou,
            format!("Drain and confirm: {name}"),
        ),
        (ReplacementStage::Removing, format!("{name} leaves")),
    ];
    let of_place = [
        (ReplacementStage::Removing, format!("{name} leaves")),
        (
            ReplacementStage::WaitingForYou,
            "Confirm the new node".to_owned(),
        ),
        (ReplacementStage::Adding, format!("A new node in {group}")),
    ];
    let steps = if is_in_place {
        step_lines(Vec::from(of_place), stage)
    } else {
        step_lines(Vec::from(of_surge), stage)
    };
    let waits = stage == ReplacementStage::WaitingForYou;
    let is_waiting = waits && !is_in_place;
    let add = (waits && is_in_place).then(|| {
        view! {
            <Button
                label="Add the new node"
                kind=ButtonKind::Plain
                busy=state.is_sending
                on_click=move |_| state.refill()
            />
        }
    });
    let old = server.clone();
    let drain = (is_waiting && can_be_drained).then(|| {
        view! {
            <Button
                label="Drain the old node"
                kind=ButtonKind::Plain
                busy=state.is_sending
                on_click=move |_| state.begin_drain(old.clone())
            />
        }
    });
    let chosen = Chosen {
        verb: Verb::Remove,
        server,
        name,
        can_be_drained,
    };
    let remove = is_waiting.then(|| {
        view! {
            <Button
                label="Remove the old node"
                kind=ButtonKind::Plain
                on_click=move |_| state.choose(chosen.clone())
            />
        }
    });
    view! {
        <div class="mb-4" data-part="replacement">
            <Card title>
                <div class="grid grid-cols-1 gap-3">
                    <ol class="notes" aria-label="Steps">{steps}</ol>
                    <p>{text}</p>
                    <p class="text-muted">
                        "This page reads the state every few seconds while it is open. You may leave it: it \
                         continues here when it is opened again."
                    </p>
                    <div class="flex flex-wrap gap-2">
                        {add}
                        {drain}
                        {remove}
                        <Button
                            label="Stop the replacement"
                            kind=ButtonKind::Plain
                            busy=state.is_sending
                            on_click=move |_| state.stop()
                        />
                    </div>
                    {move || state.stop_failure.get().map(|error| view! { <InlineError error /> })}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns steps in their order with their states, when the replacement is at `now`.
fn step_lines(steps: Vec<(ReplacementStage, String)>, now: ReplacementStage) -> Vec<AnyView> {
    let place = steps.iter().position(|(step, _)| *step == now);
    let steps = steps.into_iter().enumerate();
    steps
        .map(|(index, (step, text))| step_line(step, Some(index).cmp(&place), text))
        .collect()
}

/// Returns a step with its state; `order` is its place beside that of the present step.
fn step_line(step: ReplacementStage, order: Ordering, text: String) -> AnyView {
    let (tone, state) = match order {
        Ordering::Less => (Tone::Ok, "Done"),
        Ordering::Equal if step == ReplacementStage::WaitingForYou => {
            (Tone::Warn, "Waiting for you")
        }
        Ordering::Equal => (Tone::Info, "Running"),
        Ordering::Greater => (Tone::Idle, "Later"),
    };
    view! { <li>{text}" " <Status tone text=state /></li> }.into_any()
}
