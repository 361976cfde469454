use crate::{
    api::objects::list_events,
    components::{Age, ErrorState},
    context::use_session,
    hooks::{keep_fresh, refresh_quietly},
    ui::{SkeletonTable, StateMessage, Status, TableRegion, Tone, icons},
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
            {move || Suspend::new(async move {
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
            let tone = if event.kind == "Warning" {
                Tone::Warn
            } else {
                Tone::Idle
            };
            let icon_text = if event.kind == "Warning" {
                view! { <Status tone text=event.reason /> }.into_any()
            } else {
                view! { <span class="font-semibold">{event.reason}</span> }.into_any()
            };
            view! {
                <tr>
                    <td>{icon_text}</td>
                    <td class="cell-wide wrap-anywhere">{event.message}</td>
                    <td>{event.count}</td>
                    <td><Age at=event.last_seen /></td>
                    <td class="cell-low">{event.source}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Events">
            <thead>
                <tr>
                    <th scope="col">"Reason"</th>
                    <th scope="col">"Message"</th>
                    <th scope="col">"Count"</th>
                    <th scope="col">"Last seen"</th>
                    <th scope="col" class="cell-low">"From"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}
