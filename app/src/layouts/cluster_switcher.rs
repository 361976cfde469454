//! The choice of a cluster in the bar at the top, with the state of each.
use crate::{
    carried::{Carried, use_carried},
    cluster_states::{ClusterStates, use_cluster_states, word},
    context::use_session,
    hooks::{keyboard, use_poll},
    routes,
    ui::{Icon, Tone, icons},
};
use leptos::{ev::KeyboardEvent, prelude::*};
use leptos_router::hooks::use_location;
use portico_domain::identity::Named;
use std::time::Duration;
use uuid::Uuid;
use wasm_bindgen::JsCast;

const MENU: &str = "clusters-menu";
/// How often the states are read while the menu is open.
const OPEN_INTERVAL: Duration = Duration::from_secs(15);

/// Shows the cluster of the page with its state, and links to the others.
#[component]
pub fn ClusterSwitcher() -> impl IntoView {
    let session = use_session();
    let path = use_location().pathname;
    let current = Memo::new(move |_| path.with(|path| routes::cluster_of(path)));
    let offered = Memo::new(move |_| {
        current.get().is_some() || session.view.with(|view| !view.clusters.is_empty())
    });
    view! {
        <Show when=move || offered.get()>
            <Switcher current />
        </Show>
    }
    .into_any()
}

#[component]
fn Switcher(current: Memo<Option<Uuid>>) -> impl IntoView {
    let session = use_session();
    let states = use_cluster_states();
    let carried = use_carried();
    let wanted = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    let menu = NodeRef::<leptos::html::Div>::new();
    let field = NodeRef::<leptos::html::Input>::new();
    let name = move || {
        current.get().map_or_else(
            || "Choose a cluster".to_owned(),
            |cluster| session.cluster_name(cluster),
        )
    };
    let toggled = move |_| {
        let shown = menu
            .get_untracked()
            .is_some_and(|menu| menu.matches(":popover-open").unwrap_or(false));
        open.set(shown);
        if shown {
            wanted.set(String::new());
            states.refresh(Vec::new());
            if let Some(field) = field.get_untracked() {
                let _ = field.focus();
            }
        }
    };
    use_poll(OPEN_INTERVAL, move || {
        if open.get_untracked() {
            states.refresh(Vec::new());
        }
    });
    let keydown = move |event: KeyboardEvent| {
        let Some(menu) = menu.get_untracked() else {
            return;
        };
        let key = event.key();
        let in_field = event
            .target()
            .is_some_and(|target| target.dyn_ref::<web_sys::HtmlInputElement>().is_some());
        let done = if key == "Enter" && in_field {
            let first = keyboard::elements(&menu, "a.menu-item:not([hidden])");
            if let Some(first) = first.first() {
                first.click();
            }
            true
        } else {
            keyboard::walk_menu(&menu, &key)
        };
        if done {
            event.prevent_default();
        }
    };
    let clusters = move || session.view.with(|view| view.clusters.clone());
    let none = move || {
        let wanted = wanted.get().to_lowercase();
        clusters()
            .iter()
            .all(|cluster| !cluster.name.to_lowercase().contains(&wanted))
    };
    view! {
        <button
            type="button"
            id="clusters-button"
            class="btn btn-quiet switcher"
            popovertarget=MENU
            title=move || current.get().and_then(|id| states.of(id)).map(|state| state.status)
        >
            {move || state_icon(states, current.get())}
            <span class="visually-hidden">"Cluster: "</span>
            <span class="btn-label">{name}</span>
            {move || {
                let state = states.of(current.get()?)?;
                let tone = Tone::from(state.health);
                let class = format!("switcher-state status {}", tone.class());
                Some(view! { <span class=class>{word(state.health)}</span> })
            }}
            <Icon icon=icons::CHEVRON_DOWN />
        </button>
        <div
            id=MENU
            node_ref=menu
            popover="auto"
            class="menu menu-left menu-clusters"
            on:toggle=toggled
            on:keydown=keydown
        >
            <div class="menu-search search">
                <Icon icon=icons::SEARCH />
                <input
                    node_ref=field
                    class="input"
                    type="search"
                    aria-label="Find a cluster"
                    placeholder="Find a cluster"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || wanted.get()
                    on:input=move |event| wanted.set(event_target_value(&event))
                />
            </div>
            <ul aria-label="Clusters">
                <For
                    each=clusters
                    key=|cluster| (cluster.id.clone(), cluster.name.clone())
                    children=move |cluster| entry(cluster, current, wanted, states, carried)
                />
            </ul>
            <p class="menu-note" role="status">
                {move || {
                    if none() {
                        "No cluster of this project has such a name."
                    } else if states.failed.get() {
                        "The states could not be read; retrying."
                    } else {
                        ""
                    }
                }}
            </p>
        </div>
    }
    .into_any()
}

fn state_icon(states: ClusterStates, cluster: Option<Uuid>) -> AnyView {
    let tone = cluster
        .and_then(|cluster| states.of(cluster))
        .map(|state| Tone::from(state.health));
    let class = tone.map_or_else(
        || "status".to_owned(),
        |tone| format!("status {}", tone.class()),
    );
    let icon = tone.map_or(icons::SERVER, Tone::icon);
    view! { <span class=class><Icon icon /></span> }.into_any()
}

fn entry(
    cluster: Named,
    current: Memo<Option<Uuid>>,
    wanted: RwSignal<String>,
    states: ClusterStates,
    carried: Carried,
) -> AnyView {
    let Ok(id) = Uuid::parse_str(&cluster.id) else {
        return ().into_any();
    };
    let session = use_session();
    let href = move || carried.in_cluster(&session.project.get(), id);
    let lower = cluster.name.to_lowercase();
    let left_out = move || !lower.contains(&wanted.get().to_lowercase());
    let state = move || {
        let state = states.of(id);
        let word = state.as_ref().map_or("", |state| word(state.health));
        // the word says as much as "Ready" does
        let detail = state
            .filter(|state| state.status != word)
            .map(|state| view! { <span class="menu-detail">{state.status}</span> });
        view! { <span class="menu-state">{word}</span>{detail} }
    };
    view! {
        <li>
            <a
                class="menu-item"
                href=href
                hidden=left_out
                aria-current=move || (current.get() == Some(id)).then_some("true")
            >
                {move || state_icon(states, Some(id))}
                <span class="menu-name">{cluster.name}</span>
                {state}
            </a>
        </li>
    }
    .into_any()
}
