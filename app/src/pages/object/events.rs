use crate::{
    api::objects::list_events,
    components::{ErrorState, event_cell},
    context::use_session,
    hooks::{keep_fresh, refresh_quietly},
    ui::{SkeletonTable, StateMessage, TableRegion, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{EventRow, ObjectRef};
use std::time::Duration;
use uuid::Uuid;

/// What the cluster reported about the object, newest first.
#[component]
pub fn Events(cluster: Uuid, object: ObjectRef, changes: RwSignal<u32>) -> impl IntoView {
    let session = use_session();
    let ask = move || list_events(cluster, object.clone());
    let data = Resource::new(move || session.project.get(), {
        let ask = ask.clone();
        move |_| ask()
    });
    let outdated = RwSignal::new(false);
    keep_fresh(data, Duration::from_secs(10), outdated, ask.clone());
    Effect::new(move |known: Option<u32>| {
        let now = changes.get();
        if known.is_some_and(|known| known != now) {
            refresh_quietly(data, outdated, ask());
        }
        now
    });
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <Suspense fallback=|| view! { <SkeletonTable rows=4 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(events) => table(events),
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

fn table(events: Vec<EventRow>) -> AnyView {
    if events.is_empty() {
        return view! {
            <div class="card">
                <StateMessage
                    icon=icons::BELL
                    title="No events"
                    text="The cluster keeps events for about an hour. New ones appear here."
                    state="empty"
                />
            </div>
        }
        .into_any();
    }
    let rows = events
        .into_iter()
        .map(|event| {
            view! {
                <tr>
                    <td class="cell-short">{event_cell::seen(event.last_seen, event.count)}</td>
                    <td class="cell-short">{event_cell::event_type(&event.kind)}</td>
                    <th scope="row" class="event-reason">{event.reason}</th>
                    <td class="event-message">{event_cell::message(event.message)}</td>
                    <td class="cell-low">{event.source}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Events" events=true>
            <thead>
                <tr>
                    <th scope="col" aria-sort="ascending">"Last seen"</th>
                    <th scope="col">"Type"</th>
                    <th scope="col">"Reason"</th>
                    <th scope="col">"Message"</th>
                    <th scope="col" class="cell-low">"From"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}
