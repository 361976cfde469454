use super::{
    subject::{self, Words},
    what_can,
};
use crate::{
    components::{Age, missing_permission, who_can_link},
    format,
    ui::{Badge, Button, Icon, StateMessage, TableRegion, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{BindingRow, Refusal};
use uuid::Uuid;

/// The bindings made by users; those of Kubernetes itself are folded.
#[component]
pub fn Bindings(
    cluster: Uuid,
    bindings: Vec<BindingRow>,
    /// The reason why there are none, if the viewer may read none.
    refused: Option<Refusal>,
    filter: RwSignal<String>,
    revoking: RwSignal<Option<BindingRow>>,
) -> impl IntoView {
    if let Some(refusal) = refused {
        let permission = missing_permission(refusal.missing.as_deref());
        return view! {
            <section class="section">
                <div class="section-head">
                    <h2>"Who has access"</h2>
                </div>
                <div class="card">
                    <StateMessage
                        icon=icons::LOCK
                        title="You can't read role bindings"
                        text=refusal.reason
                        state="not-permitted"
                    >
                        {permission}
                    </StateMessage>
                </div>
            </section>
        }
        .into_any();
    }
    let (system, own): (Vec<_>, Vec<_>) = bindings.into_iter().partition(|row| row.system);
    view! {
        <section class="section">
            <div class="section-head">
                <h2>"Who has access"</h2>
            </div>
            <div class="toolbar">
                <div class="field">
                    <label for="filter-bindings">"Subject, role or namespace"</label>
                    <div class="search">
                        <Icon icon=icons::SEARCH />
                        <input
                            class="input"
                            id="filter-bindings"
                            type="search"
                            autocomplete="off"
                            spellcheck="false"
                            data-filter=""
                            prop:value=move || filter.get()
                            on:input=move |event| filter.set(event_target_value(&event))
                        />
                    </div>
                </div>
            </div>
            {move || table(cluster, &own, &filter.get(), revoking, "Bindings")}
            {(!system.is_empty()).then(|| view! {
                <details class="fold mt-4">
                    <summary>
                        <Icon icon=icons::CHEVRON_RIGHT />
                        {format!(
                            "{} created by Kubernetes itself",
                            format::counted(system.len(), "binding"),
                        )}
                    </summary>
                    <div class="mt-2">
                        {move || table(cluster, &system, &filter.get(), revoking, "Bindings of Kubernetes")}
                    </div>
                </details>
            })}
        </section>
    }
    .into_any()
}

fn table(
    cluster: Uuid,
    bindings: &[BindingRow],
    filter: &str,
    revoking: RwSignal<Option<BindingRow>>,
    label: &'static str,
) -> AnyView {
    let wanted = filter.trim().to_lowercase();
    let rows: Vec<_> = bindings
        .iter()
        .filter(|row| matches(row, &wanted))
        .collect();
    if rows.is_empty() {
        let (title, text, state) = if bindings.is_empty() {
            (
                "No role bindings yet",
                "Grants made on this page or with kubectl appear here.",
                "empty",
            )
        } else {
            (
                "No binding matches",
                "Subjects, roles, bindings and namespaces were searched.",
                "no-match",
            )
        };
        return view! {
            <div class="card">
                <StateMessage icon=icons::SHIELD title text state>
                    {(!wanted.is_empty()).then(|| view! {
                        <Button label="Clear the filter" on_click=move |_| filter_clear() />
                    })}
                </StateMessage>
            </div>
        }
        .into_any();
    }
    let rows = rows
        .into_iter()
        .map(|row| binding(cluster, row, revoking))
        .collect_view();
    view! {
        <TableRegion label>
            <thead>
                <tr>
                    <th scope="col">"Subject"</th>
                    <th scope="col">"Role"</th>
                    <th scope="col">"Where"</th>
                    <th scope="col">"Age"</th>
                    <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

/// Clears the filter's field as a user would, so that its signal is updated.
fn filter_clear() {
    use wasm_bindgen::JsCast;
    if let Some(field) = document().get_element_by_id("filter-bindings")
        && let Ok(field) = field.dyn_into::<web_sys::HtmlInputElement>()
    {
        field.set_value("");
        if let Ok(event) = web_sys::Event::new_with_event_init_dict("input", &bubbling()) {
            let _ = field.dispatch_event(&event);
        }
        let _ = field.focus();
    }
}

fn bubbling() -> web_sys::EventInit {
    let init = web_sys::EventInit::new();
    init.set_bubbles(true);
    init
}

fn matches(row: &BindingRow, wanted: &str) -> bool {
    let words = Words::of(&row.subject);
    [
        Some(&words.name),
        words.id.as_ref(),
        Some(&row.role.name),
        Some(&row.binding.name),
        row.binding.namespace.as_ref(),
    ]
    .into_iter()
    .flatten()
    .any(|text| text.to_lowercase().contains(wanted))
}

fn binding(cluster: Uuid, row: &BindingRow, revoking: RwSignal<Option<BindingRow>>) -> AnyView {
    let (place_icon, place) = row.binding.namespace.clone().map_or_else(
        || (icons::BOXES, "Whole cluster".to_owned()),
        |namespace| (icons::LAYERS, namespace),
    );
    let yours = row
        .own
        .then(|| view! { <Badge text="Yours" icon=icons::USER /> }.into_any());
    let role_kind = if row.role.cluster {
        "ClusterRole"
    } else {
        "Role"
    };
    let action = if row.may_revoke {
        let chosen = row.clone();
        view! {
            <Button
                label="Revoke"
                small=true
                on_click=move |_| revoking.set(Some(chosen.clone()))
            />
        }
        .into_any()
    } else {
        let refusal = row
            .revoke_refused
            .clone()
            .unwrap_or_else(|| "Your roles do not include it.".to_owned().into());
        view! { <RevokeRefused refusal /> }.into_any()
    };
    view! {
        <tr>
            <th scope="row" class="cell-name">
                {subject::view(&row.subject, yours)}
                {what_can::link(&row.subject, cluster)}
            </th>
            <td class="cell-text">
                <span class="wrap-anywhere">{row.role.name.clone()}</span>
                <span class="block text-faint">{role_kind}", by "{row.binding.name.clone()}</span>
            </td>
            <td>
                <span class="with-icon">
                    <Icon icon=place_icon />
                    {place}
                </span>
            </td>
            <td><Age at=row.created_at /></td>
            <td class="cell-end">{action}</td>
        </tr>
    }
    .into_any()
}

/// A disabled button, with the reason as text of the row: a tooltip would be cut off by the table's
/// edge.
#[component]
fn RevokeRefused(refusal: Refusal) -> impl IntoView {
    let link = who_can_link(refusal.missing.as_deref());
    view! {
        <span class="inline-flex items-center gap-1.5 text-faint whitespace-normal text-left max-w-56" data-action="revoke" aria-disabled="true">
            <Icon icon=icons::LOCK />
            <span>{refusal.reason} " " {link}</span>
        </span>
    }
    .into_any()
}
