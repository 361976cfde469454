//! The choice of namespaces.
use super::page::ListPage;
use crate::{
    format,
    ui::{Popover, icons, walk},
};
use leptos::{html, prelude::*};

/// Maximum number of namespaces that are rendered; the others are found by typing.
const MAX_OPTIONS: usize = 100;

#[component]
pub fn NamespaceSelect(
    page: ListPage,
    /// Those that the viewer may list.
    names: Vec<String>,
) -> impl IntoView {
    let state = page.state;
    let typed = RwSignal::new(String::new());
    let names = StoredValue::new(names);
    let label = Signal::derive(move || {
        state.with(|state| match state.namespaces.as_slice() {
            [] => "All namespaces".to_owned(),
            [one] => one.clone(),
            more => format!("{} namespaces", format::count(more.len())),
        })
    });
    let toggle = move |name: &str, on: bool| {
        page.change(|state| {
            state.namespaces.retain(|chosen| chosen != name);
            if on {
                state.namespaces.push(name.to_owned());
                state.namespaces.sort();
            }
        });
    };
    // the chosen ones first; the order stays while boxes are ticked
    let options = move || {
        let typed = typed.get().to_lowercase();
        let chosen = state.with_untracked(|state| state.namespaces.clone());
        names.with_value(|names| {
            let mut found: Vec<String> = chosen.clone();
            let more = names.iter().filter(|name| !chosen.contains(name));
            found.extend(more.cloned());
            found.retain(|name| name.contains(&typed));
            let count = found.len();
            let is_known = count > 0 || typed.is_empty();
            found.truncate(MAX_OPTIONS);
            let rest = count.saturating_sub(MAX_OPTIONS);
            let boxes = found
                .into_iter()
                .chain((!is_known).then_some(typed))
                .map(|name| option(page, name, is_known, toggle))
                .collect_view();
            view! {
                {boxes}
                {(rest > 0).then(|| view! {
                    <p class="popover-note">
                        {format!("{} more: type a part of the name.", format::count(rest))}
                    </p>
                })}
            }
        })
    };
    let list = NodeRef::<html::Div>::new();
    let key = move |event: leptos::ev::KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            // the first match, as in a menu
            "Enter" => {
                event.prevent_default();
                let typed = typed.get_untracked();
                let first = names
                    .with_value(|names| names.iter().find(|name| name.contains(&typed)).cloned());
                if let (false, Some(name)) = (typed.is_empty(), first) {
                    toggle(&name, true);
                }
                return;
            }
            _ => return,
        };
        event.prevent_default();
        if let Some(list) = list.get_untracked() {
            walk(&list, "input", by);
        }
    };
    view! {
        <Popover
            id="filter-namespaces"
            label
            caption="Namespace"
            icon=icons::LAYERS
            active=Signal::derive(move || state.with(|state| !state.namespaces.is_empty()))
        >
            <div node_ref=list on:keydown=key>
                // without scripts what is typed here is one more namespace
                <input
                    class="input"
                    name="namespace"
                    type="search"
                    placeholder="Find or type one"
                    aria-label="Find a namespace"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || typed.get()
                    on:input=move |event| typed.set(event_target_value(&event))
                />
                <div class="options" role="group" aria-label="Namespaces">{options}</div>
            </div>
            <button
                type="button"
                class="btn btn-quiet btn-small"
                on:click=move |_| {
                    typed.set(String::new());
                    page.change(|state| state.namespaces.clear());
                }
            >
                "All namespaces"
            </button>
        </Popover>
    }
    .into_any()
}

fn option(
    page: ListPage,
    name: String,
    is_known: bool,
    toggle: impl Fn(&str, bool) + Copy + Send + Sync + 'static,
) -> AnyView {
    let is_chosen = {
        let name = name.clone();
        move || page.state.with(|state| state.namespaces.contains(&name))
    };
    let value = name.clone();
    let text = if is_known {
        name.clone()
    } else {
        format!("Use {name}")
    };
    view! {
        <label class="option">
            <input
                type="checkbox"
                name="namespace"
                value=value
                checked=untrack(&is_chosen)
                prop:checked=is_chosen
                on:change=move |event| toggle(&name, event_target_checked(&event))
            />
            <span>{text}</span>
        </label>
    }
    .into_any()
}
