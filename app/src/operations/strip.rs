//! What is shown of the operations of this tab.
use super::{Operation, Operations, State, panel};
use crate::{
    format, routes,
    ui::{Button, ButtonKind, Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{DrainPod, DrainState, RightQuestion};

/// Shows the operations, also those of an earlier page of this tab.
pub fn strip(operations: Operations) -> AnyView {
    operations.restore();
    let shown = move || {
        view! {
            <section
                class="operations"
                aria-label="Operations"
                hidden=move || operations.list.with(Vec::is_empty)
            >
                <For
                    each=move || operations.list.get()
                    key=|operation| operation.id
                    children=move |operation| row(operations, operation)
                />
                <div class="operation">
                    <Button
                        label="Activity"
                        icon=icons::ACTIVITY
                        small=true
                        on_click=move |_| operations.show_activity()
                    />
                </div>
            </section>
            {panel::panel(operations)}
        }
        .into_any()
    };
    // it outlives every page
    operations
        .owner
        .get_value()
        .map(|owner| owner.with(shown))
        .into_any()
}

pub fn row(operations: Operations, operation: Operation) -> AnyView {
    let drain = operation.drain.get_value();
    let name = drain.node.name.clone();
    let page = routes::object(&drain.project, drain.cluster, &drain.node);
    let words = move || {
        let left = operation.progress.with(|progress| progress.remaining());
        match operation.state.get() {
            State::Done => {
                "Drained. No new pods are placed on it until it is uncordoned.".to_owned()
            }
            State::Waiting(refusal) => format!("Waiting for you. {}", refusal.reason),
            State::Retrying(reason) => format!("{}. {reason}", left_of(left, operation)),
            State::Running if operation.total.get() == 0 => "Starting…".to_owned(),
            State::Running => left_of(left, operation),
        }
    };
    let icon = move || {
        let icon = match operation.state.get() {
            State::Running | State::Retrying(_) => icons::REFRESH,
            State::Waiting(_) => icons::PAUSE,
            State::Done => icons::CHECK,
        };
        view! { <Icon icon /> }
    };
    let missing = move || match operation.state.get() {
        State::Waiting(refusal) => who_can(operation, refusal.missing.as_deref()),
        _ => None,
    };
    let is_waiting = move || matches!(operation.state.get(), State::Waiting(_));
    let is_done = move || operation.state.get() == State::Done;
    let close = Signal::derive(move || if is_done() { "Close" } else { "Stop" }.to_owned());
    view! {
        <div class="operation" data-operation="drain">
            {icon}
            <p class="operation-words" role="status">
                "Drain of "<a href=page>{name}</a>": "{words}" "{missing}
            </p>
            <Show when=is_waiting>
                <Button
                    label="Resume"
                    kind=ButtonKind::Primary
                    small=true
                    on_click=move |_| operations.resume(operation)
                />
            </Show>
            <Button label=close small=true on_click=move |_| operations.remove(operation) />
            {move || pods(operation)}
        </div>
    }
    .into_any()
}

fn left_of(left: usize, operation: Operation) -> String {
    let total = operation.total.get();
    format!(
        "{} of {} left the node",
        total.saturating_sub(left),
        format::counted(total, "pod")
    )
}

/// The pods that have not left, with the reason.
fn pods(operation: Operation) -> Option<AnyView> {
    let rows: Vec<_> = operation.progress.with(|progress| {
        let leaving = |pod: &&DrainPod| pod.state != DrainState::Stays;
        progress
            .pods
            .iter()
            .filter(leaving)
            .map(|pod| pod_row(operation, pod))
            .collect()
    });
    (!rows.is_empty()).then(|| {
        view! {
            <details class="fold operation-pods">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    {format::counted(rows.len(), "pod")}" on the node"
                </summary>
                <ul>{rows}</ul>
            </details>
        }
        .into_any()
    })
}

/// Returns the link of a refusal; the strip is also on pages of other clusters.
fn who_can(operation: Operation, missing: Option<&RightQuestion>) -> Option<AnyView> {
    let missing = missing?;
    let href = operation
        .drain
        .with_value(|drain| routes::who_can(&drain.project, drain.cluster, missing));
    Some(view! { <a href=href>"Who can?"</a> }.into_any())
}

fn pod_row(operation: Operation, pod: &DrainPod) -> AnyView {
    let state = match pod.state {
        DrainState::NeedsUser => "stays",
        DrainState::Blocked => "blocked",
        DrainState::Waiting => "next",
        DrainState::Terminating => "shutting down",
        DrainState::Stays => "not evicted",
    };
    view! {
        <li>
            <span class="wrap-anywhere">{format!("{}/{}", pod.namespace, pod.name)}</span>
            ": "{state}
            {pod.reason.clone().map(|reason| format!(". {reason} "))}
            {who_can(operation, pod.missing.as_deref())}
        </li>
    }
    .into_any()
}
