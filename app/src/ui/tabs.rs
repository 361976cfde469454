use leptos::prelude::*;

/// A tab that is a link: each has an address.
#[component]
pub fn LinkTab(
    #[prop(into)] href: String,
    #[prop(into)] label: String,
    #[prop(into)] current: Signal<bool>,
    #[prop(optional)] action: &'static str,
) -> impl IntoView {
    view! {
        <a
            class="tab"
            href=href
            data-noscroll=""
            data-action=action
            aria-current=move || current.get().then_some("page")
        >
            {label}
        </a>
    }
    .into_any()
}

/// Tabs without addresses of their own. Arrow keys move between them.
#[component]
pub fn LocalTabs(
    #[prop(into)] label: String,
    /// The prefix of the element IDs; unique on the page.
    id: &'static str,
    tabs: Vec<(&'static str, AnyView)>,
    /// The index of the chosen tab, where it outlives these tabs: they are made again with other
    /// contents.
    #[prop(optional, into)]
    chosen: Option<RwSignal<usize>>,
) -> impl IntoView {
    let chosen = chosen.unwrap_or_else(|| RwSignal::new(0));
    let count = tabs.len();
    let step = move |by: usize| {
        chosen.update(|chosen| *chosen = (*chosen + by) % count);
        let id = format!("{id}-tab-{}", chosen.get_untracked());
        if let Some(tab) = document().get_element_by_id(&id) {
            use wasm_bindgen::JsCast;
            if let Ok(tab) = tab.dyn_into::<web_sys::HtmlElement>() {
                let _ = tab.focus();
            }
        }
    };
    let (buttons, panels): (Vec<_>, Vec<_>) = tabs
        .into_iter()
        .enumerate()
        .map(|(index, (name, panel))| {
            let is_chosen = move || chosen.get() == index;
            let button = view! {
                <button
                    type="button"
                    role="tab"
                    class="tab"
                    id=format!("{id}-tab-{index}")
                    aria-controls=format!("{id}-panel-{index}")
                    aria-selected=move || if is_chosen() { "true" } else { "false" }
                    tabindex=move || if is_chosen() { "0" } else { "-1" }
                    on:click=move |_| chosen.set(index)
                    on:keydown=move |event| match event.key().as_str() {
                        "ArrowRight" => step(1),
                        "ArrowLeft" => step(count - 1),
                        _ => {}
                    }
                >
                    {name}
                </button>
            }
            .into_any();
            let panel = view! {
                <div
                    role="tabpanel"
                    id=format!("{id}-panel-{index}")
                    aria-labelledby=format!("{id}-tab-{index}")
                    hidden=move || !is_chosen()
                >
                    {panel}
                </div>
            }
            .into_any();
            (button, panel)
        })
        .unzip();
    view! {
        <div class="tabs" role="tablist" aria-label=label>
            {buttons}
        </div>
        {panels}
    }
    .into_any()
}
