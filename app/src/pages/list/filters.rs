//! The filters of a list: a plain GET form, which scripts make immediate.
use crate::{
    api::resources::list_resources,
    context::use_session,
    routes::ListState,
    ui::{Choice, Icon, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{ListQuery, ListScope, ResourceRef};
use std::time::Duration;
use uuid::Uuid;

#[component]
pub fn Filters(
    cluster: Uuid,
    base: String,
    state: Memo<ListState>,
    namespaces: bool,
) -> impl IntoView {
    let go = {
        let base = base.clone();
        let navigate = use_navigate();
        Callback::new(move |next: ListState| {
            let options = NavigateOptions {
                replace: true,
                scroll: false,
                ..Default::default()
            };
            navigate(&format!("{base}{}", next.query()), options);
        })
    };
    let edit = RwSignal::new(state.get_untracked());
    // an address from elsewhere (back, a link) shows in the fields
    Effect::new(move |_| edit.set(state.get()));
    let pending = StoredValue::new(None::<TimeoutHandle>);
    let soon = move |change: Box<dyn FnOnce(&mut ListState)>| {
        let mut next = edit.get_untracked();
        next.rows = 0;
        change(&mut next);
        edit.set(next.clone());
        pending.update_value(|pending| {
            if let Some(handle) = pending.take() {
                handle.clear();
            }
            *pending =
                set_timeout_with_handle(move || go.run(next), Duration::from_millis(200)).ok();
        });
    };
    let is_set = move || {
        state.with(|state| {
            !(state.name.is_empty() && state.labels.is_empty() && state.namespace.is_empty())
        })
    };
    view! {
        <form
            class="toolbar"
            method="get"
            action=base.clone()
            role="search"
            aria-label="Filter the list"
            on:submit=move |event| {
                event.prevent_default();
                go.run(edit.get_untracked());
            }
        >
            {namespaces.then(|| view! { <NamespaceSelect cluster state go /> })}
            <div class="field">
                <label for="filter-name">"Name"</label>
                <div class="search">
                    <Icon icon=icons::SEARCH />
                    <input
                        class="input"
                        id="filter-name"
                        name="q"
                        type="search"
                        placeholder="Part of a name"
                        autocomplete="off"
                        spellcheck="false"
                        data-filter=""
                        value=state.get_untracked().name
                        prop:value=move || edit.with(|edit| edit.name.clone())
                        on:input=move |event| {
                            let text = event_target_value(&event);
                            soon(Box::new(move |state| state.name = text));
                        }
                    />
                </div>
            </div>
            <div class="field">
                <label for="filter-labels">"Labels"</label>
                <div class="search">
                    <Icon icon=icons::TAG />
                    <input
                        class="input"
                        id="filter-labels"
                        name="labels"
                        type="search"
                        placeholder="app=web,tier!=db"
                        autocomplete="off"
                        spellcheck="false"
                        value=state.get_untracked().labels
                        prop:value=move || edit.with(|edit| edit.labels.clone())
                        on:input=move |event| {
                            let text = event_target_value(&event);
                            soon(Box::new(move |state| state.labels = text));
                        }
                    />
                </div>
            </div>
            {move || state.with(|state| {
                let sort = state.sort.clone();
                (!sort.is_empty()).then(|| view! { <input type="hidden" name="sort" value=sort /> })
            })}
            <noscript>
                <button type="submit" class="btn">"Apply"</button>
            </noscript>
            {
                let base = base.clone();
                move || is_set().then(|| view! {
                    <a class="btn btn-quiet" href=base.clone() data-noscroll="">
                        <Icon icon=icons::CLOSE />
                        "Clear"
                    </a>
                })
            }
        </form>
    }
    .into_any()
}

/// The namespaces to choose from: those that the viewer may list, and the one of the address.
#[component]
fn NamespaceSelect(
    cluster: Uuid,
    state: Memo<ListState>,
    go: Callback<ListState>,
) -> impl IntoView {
    let session = use_session();
    let known = Resource::new(
        move || session.project.get(),
        move |_| async move {
            let query = ListQuery {
                resource: ResourceRef::core("namespaces"),
                namespace: None,
                name: String::new(),
                labels: String::new(),
                sort: String::new(),
            };
            // without an answer the select offers what the address says
            list_resources(cluster, query).await.map_or_else(
                |_| Vec::new(),
                |table| match table.scope {
                    ListScope::Namespaces { listed, .. } if table.rows.is_empty() => listed,
                    _ => table.rows.into_iter().map(|row| row.name).collect(),
                },
            )
        },
    );
    let choices = Signal::derive(move || {
        let chosen = state.with(|state| state.namespace.clone());
        let mut names = known.get().unwrap_or_default();
        if !chosen.is_empty() && !names.contains(&chosen) {
            names.push(chosen);
        }
        std::iter::once(Choice::new("", "All namespaces"))
            .chain(
                names
                    .into_iter()
                    .map(|name| Choice::new(name.clone(), name)),
            )
            .collect::<Vec<_>>()
    });
    let options = move || {
        let chosen = state.with(|state| state.namespace.clone());
        choices
            .get()
            .into_iter()
            .map(|choice| {
                let selected = choice.value == chosen;
                view! { <option value=choice.value selected=selected>{choice.label}</option> }
            })
            .collect_view()
    };
    view! {
        <div class="field">
            <label for="filter-namespace">"Namespace"</label>
            <select
                class="select"
                id="filter-namespace"
                name="namespace"
                on:change=move |event| {
                    let mut next = state.get_untracked();
                    next.namespace = event_target_value(&event);
                    next.rows = 0;
                    go.run(next);
                }
            >
                <Transition fallback=|| view! { <option value="">"All namespaces"</option> }>
                    {options}
                </Transition>
            </select>
        </div>
    }
    .into_any()
}
