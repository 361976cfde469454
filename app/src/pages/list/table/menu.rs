//! The menu of a row. There is one for the whole table, which opens at the row's button.
use crate::{
    components::who_can_here,
    context::use_session,
    hooks::LiveRow,
    pages::list::{
        bulk::{Bulk, face},
        page::ListPage,
        rights::{Deed, Rights},
        selection::target_of,
    },
    routes::Tab,
    ui::{Icon, close_popovers, icons, place_below, walk},
};
use leptos::prelude::*;
use portico_domain::panel::{BulkTarget, ResourceKind};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

const ID: &str = "row-menu";

fn panel() -> Option<HtmlElement> {
    document().get_element_by_id(ID)?.dyn_into().ok()
}

/// Opens the menu at a row's button.
pub fn open(button: &Element) {
    if let Some(panel) = panel() {
        place_below(button, &panel);
        let _ = panel.show_popover();
        // its items are rendered with the row
        request_animation_frame(move || {
            walk(&panel, ".menu-item", 1);
        });
    }
}

#[component]
pub fn RowMenu(
    page: ListPage,
    kind: ResourceKind,
    row: RwSignal<Option<LiveRow>>,
    bulk: Bulk,
    rights: Rights,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let deeds = Deed::of(&kind);
    let resource = if kind.group.is_empty() {
        kind.plural.clone()
    } else {
        format!("{}.{}", kind.plural, kind.group)
    };
    let items = move || {
        let target = row.get()?.row.with_untracked(target_of);
        rights.ask(&deeds, std::slice::from_ref(&target.namespace));
        let href = |tab| page.object_href(&project, target.namespace.clone(), &target.name, tab);
        let changes = deeds
            .iter()
            .map(|deed| {
                let link = match deed {
                    Deed::Logs => Some(href(Tab::Logs)),
                    Deed::Terminal => Some(href(Tab::Terminal)),
                    _ => None,
                };
                item(*deed, &target, link, bulk, rights)
            })
            .collect_view();
        let place = target
            .namespace
            .as_ref()
            .map_or_else(String::new, |namespace| format!(" -n {namespace}"));
        let command = format!("kubectl get {resource} {}{place} -o yaml", target.name);
        Some(view! {
            <a class="menu-item" role="menuitem" href=href(Tab::Overview) on:click=|_| close_popovers()>
                <Icon icon=icons::EXTERNAL />
                "Open"
            </a>
            {changes}
            {copy("Copy name", target.name.clone())}
            {copy("Copy kubectl command", command)}
        })
    };
    let key = move |event: leptos::ev::KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowDown" => 1,
            "ArrowUp" => -1,
            _ => return,
        };
        event.prevent_default();
        if let Some(panel) = panel() {
            walk(&panel, ".menu-item", by);
        }
    };
    view! {
        <div
            id=ID
            popover="auto"
            class="popover row-actions"
            role="menu"
            aria-label="Actions"
            on:keydown=key
        >
            {items}
        </div>
    }
    .into_any()
}

fn item(
    deed: Deed,
    target: &BulkTarget,
    link: Option<String>,
    bulk: Bulk,
    rights: Rights,
) -> AnyView {
    let (label, name, icon) = face(deed);
    let namespaces = vec![target.namespace.clone()];
    let refusal = Memo::new(move |_| rights.refusal(deed, &namespaces));
    let reason = move || {
        refusal
            .get()
            .map(|refusal| view! { <span class="menu-reason">{refusal.reason}</span> })
    };
    let disabled = move || refusal.with(Option::is_some).then_some("true");
    let what = match deed {
        Deed::Logs => "see the logs".to_owned(),
        Deed::Terminal => "open a terminal".to_owned(),
        _ => label.to_lowercase(),
    };
    // a link of its own, as the refused item cannot be used
    let who_can = move || {
        let what = what.clone();
        let missing = refusal.get()?.missing?;
        let href = who_can_here(&missing)?;
        Some(view! {
            <a class="menu-item" role="menuitem" href=href on:click=|_| close_popovers()>
                <Icon icon=icons::SHIELD />
                {format!("Who can {what}?")}
            </a>
        })
    };
    let content = view! {
        <Icon icon />
        <span>{label}{reason}</span>
    };
    if let Some(href) = link {
        return view! {
            <a
                class="menu-item"
                role="menuitem"
                href=href
                data-action=name
                aria-disabled=disabled
                on:click=|_| close_popovers()
            >
                {content}
            </a>
            {who_can}
        }
        .into_any();
    }
    let target = target.clone();
    view! {
        <button
            type="button"
            class="menu-item"
            role="menuitem"
            data-action=name
            aria-disabled=disabled
            on:click=move |_| {
                if refusal.with_untracked(Option::is_none) {
                    close_popovers();
                    bulk.ask(deed, vec![target.clone()]);
                }
            }
        >
            {content}
        </button>
        {who_can}
    }
    .into_any()
}

fn copy(label: &'static str, text: String) -> AnyView {
    view! {
        <button
            type="button"
            class="menu-item"
            role="menuitem"
            on:click=move |_| {
                // a browser that refuses shows so itself
                let _ = window().navigator().clipboard().write_text(&text);
                close_popovers();
            }
        >
            <Icon icon=icons::COPY />
            {label}
        </button>
    }
    .into_any()
}
