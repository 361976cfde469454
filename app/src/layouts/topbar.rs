use super::cluster_switcher::ClusterSwitcher;
use crate::{
    components::{NameList, ProjectSwitcher, ThemeToggle},
    context::use_session,
    palette::Palette,
    routes,
    ui::{Button, ButtonKind, Icon, Menu, icons},
};
use leptos::prelude::*;

/// The signed-in user, the project, the cluster, and the links to everything else.
#[component]
pub fn Topbar(palette: Palette) -> impl IntoView {
    let help = palette.help;
    let session = use_session();
    let home = move || {
        let project = session.project.get();
        if project.is_empty() {
            "/".to_owned()
        } else {
            routes::launchpad(&project)
        }
    };
    let user = Signal::derive(move || session.view.with(|view| view.user_name.clone()));
    view! {
        <header class="topbar">
            <a class="brand" href=home>
                <Logo />
                <span class="max-sm:sr-only">"Portico"</span>
            </a>
            <span class="topbar-divider max-sm:hidden"></span>
            <ProjectSwitcher />
            <ClusterSwitcher />
            <span class="topbar-spacer"></span>
            <button
                type="button"
                class="btn search-button"
                aria-haspopup="dialog"
                aria-keyshortcuts="Control+K Meta+K"
                on:click=move |_| palette.open.set(true)
            >
                <Icon icon=icons::SEARCH />
                <span class="search-button-label">"Search…"</span>
                <kbd aria-hidden="true">"Ctrl K"</kbd>
            </button>
            <span class="max-sm:hidden">
                <Button
                    label="Keyboard shortcuts"
                    icon=icons::HELP
                    icon_only=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| help.set(true)
                />
            </span>
            <Menu id="user-menu" label=user caption="Account" icon=icons::USER>
                <UserMenu />
            </Menu>
        </header>
    }
    .into_any()
}

#[component]
fn UserMenu() -> impl IntoView {
    let session = use_session();
    let domain = move || session.view.with(|view| view.domain.name.clone());
    let roles = move || {
        let roles: Vec<String> = session
            .view
            .with(|view| view.roles.iter().map(|role| role.name.clone()).collect());
        if roles.is_empty() {
            "No role in this project".into_any()
        } else {
            view! { "Roles here: "<NameList names=roles /> }.into_any()
        }
    };
    view! {
        <div class="menu-head">
            <p class="font-semibold">
                {move || session.view.with(|view| view.user_name.clone())}
                <span class="text-faint font-normal">" in domain "{domain}</span>
            </p>
            <div class="text-muted max-w-64">{roles}</div>
        </div>
        <ThemeToggle />
        <a class="menu-item" href="/oauth2/sessions" rel="external">
            <Icon icon=icons::SESSIONS />
            "Your sessions"
        </a>
        <a class="menu-item" href="/oauth2/audit" rel="external">
            <Icon icon=icons::ACTIVITY />
            "Your activity"
        </a>
        <form method="post" action="/oauth2/sign_out" class="border-t border-line mt-1.5 pt-1.5">
            <input
                type="hidden"
                name="csrf_token"
                value=move || session.view.with(|view| view.csrf_token.clone())
            />
            <button type="submit" class="menu-item" data-command="sign-out">
                <Icon icon=icons::SIGN_OUT />
                "Sign out"
            </button>
        </form>
    }
    .into_any()
}

#[component]
fn Logo() -> impl IntoView {
    view! {
        <svg
            viewBox="0 0 24 24"
            fill="none"
            stroke="currentColor"
            stroke-width="2"
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
        >
            <path d="M3 9.5 12 4l9 5.5"></path>
            <path d="M4 20h16"></path>
            <path d="M6.5 12v5M12 12v5M17.5 12v5"></path>
        </svg>
    }
    .into_any()
}
