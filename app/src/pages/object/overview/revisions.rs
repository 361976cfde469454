//! The revisions of a workload, each with a rollback to it.
use crate::{
    components::Age,
    context::use_session,
    pages::object::{
        changes::{Asked, Dialogs},
        refusal, who_can,
    },
    routes,
    ui::{Badge, Card, Icon, TableRegion, Tone, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Action, ObjectView, Revision};
use uuid::Uuid;

pub fn view(
    revisions: Vec<Revision>,
    object: &ObjectView,
    cluster: Uuid,
    dialogs: Dialogs,
) -> AnyView {
    let project = use_session().project.get_untracked();
    let rows = revisions
        .into_iter()
        .map(|revision| {
            let href = routes::object(&project, cluster, &revision.object);
            let current = revision
                .is_current
                .then(|| view! { <Badge tone=Tone::Ok text="Current" /> });
            view! {
                <tr>
                    <th scope="row" class="cell-short">{revision.number}" "{current}</th>
                    <td class="cell-detail mono">{revision.images.join(", ")}</td>
                    <td>{revision.replicas}</td>
                    <td class="cell-text">
                        <a href=href>{revision.object.name.clone()}</a>
                        {revision.cause.clone().map(|cause| view! { <p class="text-muted">{cause}</p> })}
                    </td>
                    <td><Age at=revision.created_at /></td>
                    <td class="cell-end">{roll_back(&revision, object, cluster, dialogs)}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="mt-4" data-part="revisions">
            <Card title="Revisions" flush=true>
                <TableRegion label="Revisions">
                    <thead>
                        <tr>
                            <th scope="col">"Revision"</th>
                            <th scope="col">"Images"</th>
                            <th scope="col">"Replicas"</th>
                            <th scope="col">"Stored in"</th>
                            <th scope="col">"Age"</th>
                            <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </TableRegion>
            </Card>
        </div>
    }
    .into_any()
}

fn roll_back(revision: &Revision, object: &ObjectView, cluster: Uuid, dialogs: Dialogs) -> AnyView {
    let offered = object
        .actions
        .iter()
        .any(|state| state.action == Action::RollBack);
    if revision.is_current || !offered {
        return ().into_any();
    }
    if let Some(reason) = refusal(object, Action::RollBack) {
        let id = format!("why-roll-back-{}", revision.number);
        let who_can = who_can(object, Action::RollBack, cluster);
        return view! {
            <Why id label="Roll back" reason action="roll_back" class="btn btn-small" who_can />
        }
        .into_any();
    }
    let (object, number) = (object.clone(), revision.number);
    view! {
        <button
            type="button"
            class="btn btn-small"
            data-action="roll_back"
            aria-label=format!("Roll back to revision {number}")
            on:click=move |_| dialogs.ask(Asked::RollBack(number), object.clone())
        >
            <Icon icon=icons::UNDO />
            "Roll back"
        </button>
    }
    .into_any()
}
