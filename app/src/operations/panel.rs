//! The activity of this tab: operations that run or wait for the user, and the history below.
use super::{Operation, Operations, history::Entry, strip::row};
use crate::{
    components::{Age, KubectlCommand},
    ui::{Button, Dialog, Icon, StateMessage, Tone, icons},
};
use leptos::prelude::*;

/// Returns the dialog with the activity; its content exists only while it is open.
pub fn panel(operations: Operations) -> AnyView {
    let open = operations.is_panel_open;
    let title = Signal::stored("Activity of this tab".to_owned());
    view! {
        <Dialog open id="activity-title" title wide=true>
            {move || content(operations)}
            <div class="dialog-foot">
                <a class="btn" href="/oauth2/audit" rel="external">"All your activity"</a>
                <Button label="Close" on_click=move |_| open.set(false) />
            </div>
        </Dialog>
    }
    .into_any()
}

fn content(operations: Operations) -> AnyView {
    operations.load_history();
    let running: Vec<Operation> = operations.list.get();
    let entries = operations.history.get();
    if running.is_empty() && entries.is_empty() {
        return view! {
            <StateMessage
                icon=icons::ACTIVITY
                title="Nothing yet"
                text="Changes that you make in this tab appear here with their outcome."
                state="empty"
            />
        }
        .into_any();
    }
    let running = (!running.is_empty()).then(|| {
        let rows: Vec<_> = running
            .into_iter()
            .map(|operation| {
                let text = operation.drain.with_value(|drain| drain.command.clone());
                let command = (!text.is_empty()).then(|| command(text));
                view! { <div>{row(operations, operation)}{command}</div> }.into_any()
            })
            .collect();
        view! { <section aria-label="In progress">{rows}</section> }
    });
    let rows: Vec<_> = entries
        .into_iter()
        .map(|entry| past(operations, entry))
        .collect();
    view! {
        <div class="dialog-body activity">
            {running}
            <ul class="rows" aria-label="Done in this tab">{rows}</ul>
        </div>
    }
    .into_any()
}

fn past(operations: Operations, entry: Entry) -> AnyView {
    let (tone, outcome) = if entry.is_failed {
        (Tone::Bad, "failed")
    } else {
        (Tone::Ok, "done")
    };
    let activity = entry.activity;
    let command = (!activity.command.is_empty()).then(|| command(activity.command));
    view! {
        <li class="operation" data-outcome=outcome>
            <span class=format!("status {}", tone.class())><Icon icon=tone.icon() /></span>
            <div class="operation-words">
                <a href=activity.href on:click=move |_| operations.is_panel_open.set(false)>
                    {activity.title}
                </a>
                <span class="visually-hidden">{format!(" {outcome}")}</span>
                ": "
                {entry.words}
            </div>
            <Age at=Some(entry.at) />
            {command}
        </li>
    }
    .into_any()
}

fn command(text: String) -> AnyView {
    view! { <div class="operation-pods"><KubectlCommand command=Signal::stored(text) /></div> }
        .into_any()
}
