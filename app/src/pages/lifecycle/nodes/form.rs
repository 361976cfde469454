//! The form that removes or replaces a node, with its review.
use super::{
    chosen::{Chosen, Verb},
    others,
    state::NodesState,
    table::in_kubernetes,
};
use crate::{
    components::InlineError,
    context::use_session,
    pages::lifecycle::{change::reason_field, focus::focus_table, node_groups, pods},
    ui::{Banner, Button, ButtonKind, Card, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::NodeRemoval;

pub fn card(state: NodesState, chosen: Chosen) -> AnyView {
    let project = use_session().project.get_untracked();
    let is_removal = chosen.verb != Verb::Replace;
    let others = (chosen.verb == Verb::Remove).then(|| others::choice(state, &chosen.server));
    let in_place = Chosen {
        verb: Verb::ReplaceInPlace,
        ..chosen.clone()
    };
    let (title, label, class) = match chosen.verb {
        Verb::Remove => (
            format!("Remove {}", chosen.name),
            "Remove the node",
            "btn btn-danger",
        ),
        Verb::Replace => (
            format!("Replace {}", chosen.name),
            "Add the new node",
            "btn btn-primary",
        ),
        Verb::ReplaceInPlace => (
            format!("Replace {} in place", chosen.name),
            "Remove the node first",
            "btn btn-danger",
        ),
    };
    let part = chosen.verb.part();
    let page = in_kubernetes(&project, state.cluster, &chosen.name);
    let server = chosen.server.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        state.send();
    };
    let is_reviewing = Memo::new(move |_| state.review.with(Option::is_none));
    view! {
        <div class="mt-4" data-part=part>
            <Card title>
                <form class="form-groups" on:submit=submit>
                    {(is_removal && chosen.can_be_drained).then(|| view! {
                        <Banner tone=Tone::Info>
                            <p>
                                "Drain the node first: it is cordoned, and its pods move as their \
                                 PodDisruptionBudgets permit. "
                                <a href=page>"Its page in Kubernetes"</a>
                            </p>
                            <Button
                                label="Drain the node"
                                kind=ButtonKind::Plain
                                busy=state.is_sending
                                on_click=move |_| state.begin_drain(server.clone())
                            />
                        </Banner>
                    })}
                    {(chosen.verb == Verb::ReplaceInPlace).then(|| view! {
                        <p>
                            "The node leaves first. When it has left, this page waits for you to add the new \
                             one; until then the group has one node less. This needs no quota for one more \
                             node."
                        </p>
                    })}
                    {others}
                    <p class="text-muted" role="status">
                        {move || is_reviewing.get().then_some("Checking the change…")}
                    </p>
                    {move || state.review.get().map(|review| match review {
                        Ok(review) => {
                            let pending = review.pending_pods.clone();
                            view! {
                                {node_groups::reviewed(review)}
                                {pods::approval(pending, state.accepted_pods)}
                            }
                            .into_any()
                        }
                        Err(error) => view! { <InlineError error /> }.into_any(),
                    })}
                    {is_removal.then(|| typed_name(state, chosen.name))}
                    {reason_field("node-reason", state.reason)}
                    <div class="flex flex-wrap gap-2">
                        <button
                            type="submit"
                            class=class
                            disabled=move || !state.can_be_sent()
                        >
                            {move || if state.others.with(Vec::is_empty) {
                                label
                            } else {
                                "Remove the nodes"
                            }}
                        </button>
                        {(!is_removal).then(|| view! {
                            <Button
                                label="Replace in place"
                                kind=ButtonKind::Plain
                                on_click=move |_| state.choose(in_place.clone())
                            />
                        })}
                        <Button
                            label="Cancel"
                            kind=ButtonKind::Plain
                            on_click=move |_| {
                                state.close();
                                focus_table();
                            }
                        />
                    </div>
                    <p class="visually-hidden" role="status">
                        {move || state.is_sending.get().then_some("The change is being sent.")}
                    </p>
                </form>
            </Card>
        </div>
    }
    .into_any()
}

fn typed_name(state: NodesState, name: String) -> AnyView {
    let confirmation = Memo::new(move |_| {
        let others = state.others.with(Vec::len);
        NodeRemoval::confirmation(&name, others)
    });
    view! {
        <div class="field">
            <label for="node-typed">
                "Type " <strong class="mono">{move || confirmation.get()}</strong> " to confirm"
            </label>
            <input
                class="input"
                id="node-typed"
                required
                autocomplete="off"
                spellcheck="false"
                aria-describedby="node-typed-hint"
                prop:value=move || state.typed.get()
                on:input=move |event| state.typed.set(event_target_value(&event))
            />
            <span class="field-hint" id="node-typed-hint">
                "A node that is not drained is removed only with "
                <strong class="mono">
                    {move || confirmation.with(|text| NodeRemoval::without_draining(text))}
                </strong>
                ": its pods end with it."
            </span>
        </div>
    }
    .into_any()
}
