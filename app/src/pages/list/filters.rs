//! The filters of a list: a plain GET form, which scripts make immediate.
use crate::{
    api::resources::namespaces_for,
    context::use_session,
    hooks::Timer,
    routes::ListState,
    ui::{Choice, Icon, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{ResourceRef, label_selector};
use std::time::Duration;
use uuid::Uuid;

#[component]
pub fn Filters(
    cluster: Uuid,
    resource: ResourceRef,
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
    let wrong_labels = Memo::new(move |_| {
        edit.with(|edit| label_selector::check(&edit.labels))
            .err()
            .map(|error| error.to_string())
    });
    // an address that changes otherwise (back, a link) is shown in the fields, except for a
    // selector that is still being typed while another field changes the address
    Effect::new(move |known: Option<String>| {
        let mut now = state.get();
        let labels = now.labels.clone();
        if known.as_ref() == Some(&labels) && wrong_labels.with_untracked(Option::is_some) {
            now.labels = edit.with_untracked(|edit| edit.labels.clone());
        }
        edit.set(now);
        labels
    });
    // an invalid selector keeps the one in the address in force, and so the list
    let apply = move || {
        let mut next = edit.get_untracked();
        if wrong_labels.with_untracked(Option::is_some) {
            next.labels = state.with_untracked(|state| state.labels.clone());
        }
        if state.with_untracked(|state| *state != next) {
            go.run(next);
        }
    };
    let pending = Timer::new();
    let soon = move |change: Box<dyn FnOnce(&mut ListState)>| {
        edit.update(|edit| {
            edit.rows = 0;
            change(edit);
        });
        pending.start(Duration::from_millis(200), apply);
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
                apply();
            }
        >
            {namespaces.then(|| view! { <NamespaceSelect cluster resource state go /> })}
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
                        aria-invalid=move || wrong_labels.with(Option::is_some).then_some("true")
                        aria-describedby=move || {
                            wrong_labels.with(Option::is_some).then_some("filter-labels-error")
                        }
                        value=state.get_untracked().labels
                        prop:value=move || edit.with(|edit| edit.labels.clone())
                        on:input=move |event| {
                            let text = event_target_value(&event);
                            soon(Box::new(move |state| state.labels = text));
                        }
                    />
                </div>
            </div>
            // below all fields: it is longer than each of them is wide
            <p id="filter-labels-error" class="field-error toolbar-error" role="status">
                {move || wrong_labels.get().map(|error| view! {
                    <Icon icon=icons::WARNING />
                    <span>
                        {error}" Example: "<code>"app=web,tier in (front,back)"</code>
                        ". The list is not filtered by it."
                    </span>
                })}
            </p>
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
                    <a
                        class="btn btn-quiet"
                        href=base.clone()
                        data-noscroll=""
                        on:click=move |_| edit.set(ListState::default())
                    >
                        <Icon icon=icons::CLOSE />
                        "Clear"
                    </a>
                })
            }
        </form>
    }
    .into_any()
}

/// The namespaces to choose from: those that the viewer may list, and the one in the address. Empty
/// for a kind whose objects are in no namespace.
#[component]
fn NamespaceSelect(
    cluster: Uuid,
    resource: ResourceRef,
    state: Memo<ListState>,
    go: Callback<ListState>,
) -> impl IntoView {
    let session = use_session();
    let known = Resource::new(
        move || session.project.get(),
        move |_| {
            let resource = resource.clone();
            // without a response the select offers the namespace in the address
            async move {
                namespaces_for(cluster, resource)
                    .await
                    .unwrap_or_else(|_| Some(Vec::new()))
            }
        },
    );
    let options = move |mut names: Vec<String>| {
        let chosen = state.with(|state| state.namespace.clone());
        if !chosen.is_empty() && !names.contains(&chosen) {
            names.push(chosen.clone());
        }
        std::iter::once(Choice::new("", "All namespaces"))
            .chain(
                names
                    .into_iter()
                    .map(|name| Choice::new(name.clone(), name)),
            )
            .map(|choice| {
                let selected = choice.value == chosen;
                view! { <option value=choice.value selected=selected>{choice.label}</option> }
            })
            .collect_view()
    };
    let field = move |names: Vec<String>| {
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
                    {move || options(names.clone())}
                </select>
            </div>
        }
        .into_any()
    };
    view! {
        // the space that the select will take, so that the other fields do not move
        <Transition fallback=|| view! { <div class="field" aria-hidden="true"></div> }>
            {move || Suspend::new(async move { known.await.map(field) })}
        </Transition>
    }
    .into_any()
}
