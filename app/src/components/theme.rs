use crate::{
    hooks::preferences,
    ui::{Icon, icons},
};
use leptos::prelude::*;

const PREFERENCE: &str = "portico-theme";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    fn name(self) -> &'static str {
        match self {
            Self::System => "",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn parse(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// Light, dark, or the system's appearance; stored in this browser.
#[component]
pub fn ThemeToggle() -> impl IntoView {
    let theme = RwSignal::new(Theme::System);
    Effect::new(move |_| {
        theme.set(Theme::parse(
            &preferences::stored(PREFERENCE).unwrap_or_default(),
        ));
    });
    let choose = move |next: Theme| {
        theme.set(next);
        preferences::store(PREFERENCE, next.name());
        if let Some(root) = document().document_element() {
            let _ = if next == Theme::System {
                root.remove_attribute("data-theme")
            } else {
                root.set_attribute("data-theme", next.name())
            };
        }
    };
    let entry = move |which: Theme, icon, label: &'static str| {
        view! {
            <button
                type="button"
                class="menu-item"
                aria-pressed=move || if theme.get() == which { "true" } else { "false" }
                on:click=move |_| choose(which)
            >
                <Icon icon />
                <span class="flex-1">{label}</span>
                {move || (theme.get() == which).then(|| view! { <Icon icon=icons::CHECK /> })}
            </button>
        }
        .into_any()
    };
    view! {
        <p class="menu-head label">"Appearance"</p>
        {entry(Theme::System, icons::SUN_MOON, "As the system")}
        {entry(Theme::Light, icons::SUN, "Light")}
        {entry(Theme::Dark, icons::MOON, "Dark")}
    }
    .into_any()
}
