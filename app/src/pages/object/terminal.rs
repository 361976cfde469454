//! A shell in a container. The terminal itself is xterm.js in a custom element, which is loaded
//! on this tab only.
use crate::{
    components::missing_permission,
    context::use_session,
    hooks::scripts::load_module,
    routes::{self, Tab},
    ui::{Banner, Button, ButtonKind, Choice, SelectField, Tone, icons},
};
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use portico_domain::panel::{ObjectView, RightQuestion};
use uuid::Uuid;
use wasm_bindgen::{JsCast, JsValue};

/// Returns the address of the terminal's module. Its name holds a hash, which the build of the browser
/// half sets.
fn terminal_module() -> String {
    let file = option_env!("PORTICO_TERMINAL_MODULE").unwrap_or("terminal.js");
    format!("/pkg/{file}")
}

/// Returns what a browser without scripts shows instead of a terminal.
pub fn without_scripts(object: &ObjectView) -> AnyView {
    let namespace = object.reference.namespace.clone().unwrap_or_default();
    let pod = &object.reference.name;
    let mut containers = object.containers.iter().filter(|container| !container.init);
    let container = containers.next().map_or("", |container| &container.name);
    let command = format!("kubectl exec -it -n {namespace} {pod} -c {container} -- sh");
    view! {
        <noscript>
            <Banner tone=Tone::Info>
                <p>"The terminal needs JavaScript. In a terminal of your own:"</p>
                <p class="mono wrap-anywhere">{command}</p>
            </Banner>
        </noscript>
    }
    .into_any()
}

#[component]
pub fn Terminal(cluster: Uuid, object: ObjectView) -> impl IntoView {
    let names: Vec<String> = object
        .containers
        .iter()
        .filter(|container| !container.init)
        .map(|container| container.name.clone())
        .collect();
    let first = names.first().cloned().unwrap_or_default();
    let project = use_session().project.get_untracked();
    let url = use_query_map();
    let container =
        Memo::new(move |_| url.with(|url| url.get("container").unwrap_or_else(|| first.clone())));
    let base = routes::object_tab(&project, cluster, &object.reference, Tab::Terminal);
    let navigate = use_navigate();
    let choose = move |name: String| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{base}?container={name}"), options);
    };
    let chosen = RwSignal::new(container.get_untracked());
    let choices: Vec<Choice> = names
        .into_iter()
        .map(|name| Choice::new(name.clone(), name))
        .collect();
    Effect::new(move |_| load_module("portico-terminal-module", &terminal_module()));
    let (namespace, pod) = (
        object.reference.namespace.clone().unwrap_or_default(),
        object.reference.name,
    );
    let name = pod.clone();
    let address = move || routes::exec(&project, cluster, &namespace, &pod, &container.get());
    let is_fullscreen = RwSignal::new(false);
    let is_docked = RwSignal::new(false);
    let missing = RwSignal::new(None::<RightQuestion>);
    let receive_missing = move |event: web_sys::CustomEvent| {
        let text = event.detail().as_string();
        missing.set(text.and_then(|text| serde_json::from_str(&text).ok()));
    };
    let fullscreen_label = Signal::derive(move || {
        let label = if is_fullscreen.get() {
            "Leave full screen"
        } else {
            "Full screen"
        };
        label.to_owned()
    });
    let dock = move |_| {
        call("dock", &format!("{name}/{}", container.get_untracked()));
        is_fullscreen.set(false);
        is_docked.set(true);
    };
    let host = move || {
        if is_docked.get() {
            return view! {
                <div class="card-body">
                    <p>"This terminal is in the dock at the foot of the window; it stays open on every page."</p>
                    <Button
                        label="Open another one here"
                        on_click=move |_| is_docked.set(false)
                    />
                </div>
            }
            .into_any();
        }
        let address = address.clone();
        view! {
            <div class="terminal-host">
                {move || view! {
                    <portico-terminal data-path=address() data-status="terminal-status"></portico-terminal>
                }}
            </div>
        }
        .into_any()
    };
    view! {
        <section
            class="card"
            class:is-fullscreen=move || is_fullscreen.get()
            aria-label="Terminal"
            on:missing=receive_missing
        >
            <div class="console-head">
                <div class="w-44">
                    <SelectField
                        id="terminal-container"
                        label="Container"
                        value=chosen
                        choices
                        on_change=Callback::new(choose)
                    />
                </div>
                <span id="terminal-status" class="text-muted self-end pb-1" role="status">
                    "Connecting"
                </span>
                <div class="console-actions" hidden=move || is_docked.get()>
                    <Button
                        label="Connect again"
                        icon=icons::REFRESH
                        kind=ButtonKind::Quiet
                        on_click=move |_| call("connect", "")
                    />
                    <Button label="Move to dock" kind=ButtonKind::Quiet on_click=dock />
                    <Button
                        label=fullscreen_label
                        kind=ButtonKind::Quiet
                        on_click=move |_| is_fullscreen.update(|on| *on = !*on)
                    />
                </div>
            </div>
            {move || missing.get().map(|missing| view! {
                <div class="card-body">{missing_permission(Some(&missing))}</div>
            })}
            {host}
        </section>
        <p class="text-faint mt-2">
            "Everything typed here runs in the container as you. Ctrl+Shift+Escape leaves the terminal with the keyboard."
        </p>
        }
        .into_any()
}

/// Calls a method of the terminal's element.
fn call(method: &str, argument: &str) {
    let Some(element) = document().query_selector("portico-terminal").ok().flatten() else {
        return;
    };
    if let Ok(found) = js_sys::Reflect::get(&element, &JsValue::from_str(method))
        && let Ok(found) = found.dyn_into::<js_sys::Function>()
    {
        let _ = found.call1(&element, &JsValue::from_str(argument));
    }
}
