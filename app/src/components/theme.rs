use crate::{
    hooks::preferences,
    ui::{Icon, icons},
};
use leptos::prelude::*;

/// The cookie of the chosen appearance. The gateway reads it for its own pages.
const COOKIE: &str = "portico-theme";
/// The attribute of the document that the style sheet reads.
const ATTRIBUTE: &str = "data-theme";

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

    /// Returns the name of the choice in the command palette.
    fn command(self) -> &'static str {
        match self {
            Self::System => "appearance-system",
            Self::Light => "appearance-light",
            Self::Dark => "appearance-dark",
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

/// Light, dark, or the system's appearance; stored in a cookie of this browser.
#[component]
pub fn ThemeToggle() -> impl IntoView {
    let theme = RwSignal::new(Theme::System);
    Effect::new(move |_| {
        // set before the first paint, see `shell`
        let chosen = document()
            .document_element()
            .and_then(|root| root.get_attribute(ATTRIBUTE));
        theme.set(Theme::parse(&chosen.unwrap_or_default()));
    });
    let choose = move |next: Theme| {
        theme.set(next);
        preferences::store_in_cookie(COOKIE, next.name());
        if let Some(root) = document().document_element() {
            let _ = if next == Theme::System {
                root.remove_attribute(ATTRIBUTE)
            } else {
                root.set_attribute(ATTRIBUTE, next.name())
            };
        }
    };
    let entry = move |which: Theme, icon, label: &'static str| {
        view! {
            <button
                type="button"
                class="menu-item"
                data-command=which.command()
                data-command-label=format!("Appearance: {}", label.to_lowercase())
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
