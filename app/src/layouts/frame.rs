use super::{
    help::HelpDialog, operations::show_operations, palette::PaletteDialog,
    reauthenticate::ReauthDialog, topbar::Topbar,
};
use crate::{
    carried::use_carried,
    components::ToastRegion,
    context::use_session,
    hooks::{keyboard, page_change::provide_page_change},
    operations::use_operations,
    palette::Palette,
    ui::{Icon, close_popovers, icons},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use wasm_bindgen::JsCast;

/// The frame of every page.
#[component]
pub fn Frame(children: Children) -> impl IntoView {
    let session = use_session();
    let help = RwSignal::new(false);
    let palette = Palette::new(help);
    let announcement = provide_page_change().announcement;
    keyboard::use_shortcuts(session.project, use_carried(), help, palette.open);
    settle_after_navigation();
    show_operations(use_operations());
    view! {
        <a class="skip-link" href="#main" rel="external">
            "Skip to the content"
        </a>
        <p id="page-announcement" class="visually-hidden" aria-live="polite">
            {move || announcement.get()}
        </p>
        <Topbar palette />
        <KeystoneNotice />
        {children()}
        <ToastRegion />
        <PaletteDialog palette />
        <HelpDialog open=help />
        <ReauthDialog />
    }
    .into_any()
}

/// Shown on every page while Keystone does not respond.
#[component]
fn KeystoneNotice() -> impl IntoView {
    let session = use_session();
    let reachable = Memo::new(move |_| session.view.with(|view| view.keystone_reachable));
    Effect::new(move |_| {
        // while it is unreachable, check every few seconds whether it responds again
        if !reachable.get()
            && let Ok(handle) = set_interval_with_handle(
                move || session.refresh(),
                std::time::Duration::from_secs(5),
            )
        {
            on_cleanup(move || handle.clear());
        }
    });
    move || {
        (!reachable.get()).then(|| {
            view! {
                <div class="notice-bar" role="status">
                    <Icon icon=icons::WARNING />
                    "Keystone does not answer. What you see may be out of date; you stay signed in."
                </div>
            }
        })
    }
}

/// Closes menus after navigation, and moves a focus that was lost with the old page to the new
/// one.
fn settle_after_navigation() {
    let path = use_location().pathname;
    Effect::new(move |known: Option<String>| {
        let path = path.get();
        if known.is_some_and(|known| known != path) {
            close_popovers();
            set_timeout(focus_main_if_lost, std::time::Duration::from_millis(150));
        }
        path
    });
}

fn focus_main_if_lost() {
    let document = document();
    let lost = document
        .active_element()
        .is_none_or(|element| element.tag_name() == "BODY");
    if lost
        && let Some(main) = document.get_element_by_id("main")
        && let Ok(main) = main.dyn_into::<web_sys::HtmlElement>()
    {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = main.focus_with_options(&options);
    }
}
