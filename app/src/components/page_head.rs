use crate::{
    carried::use_carried,
    context::use_session,
    hooks::page_change::use_page_shown,
    routes,
    ui::{Icon, icons},
};
use leptos::{children::ViewFn, prelude::*};
use leptos_meta::Title;

/// One step of the breadcrumbs.
pub struct Crumb {
    pub label: String,
    pub href: String,
}

impl Crumb {
    pub fn new(label: impl Into<String>, href: String) -> Self {
        Self {
            label: label.into(),
            href,
        }
    }
}

/// A page's title with its breadcrumbs and its actions.
#[component]
pub fn PageHead(
    #[prop(into)] title: String,
    /// Before the title: what kind of thing the page is about.
    #[prop(optional)]
    icon: Option<icondata_core::Icon>,
    /// Replaces the title on the page, if the title has to be loaded.
    #[prop(optional_no_strip)]
    heading: Option<ViewFn>,
    /// The steps between the launchpad and this page, which itself is the last one; none on pages
    /// above it.
    #[prop(optional)]
    crumbs: Option<Vec<Crumb>>,
    #[prop(into, optional)] lede: String,
    /// After the lede: words of which some may be folded.
    #[prop(into, optional)]
    lede_end: Option<AnyView>,
    /// Beside the title: badges.
    #[prop(into, optional)]
    aside: Option<AnyView>,
    #[prop(into, optional)] actions: Option<AnyView>,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let window_title = crumbs
        .iter()
        .flatten()
        .rev()
        .fold(title.clone(), |all, crumb| {
            format!("{all} · {}", crumb.label)
        });
    use_page_shown(window_title.clone());
    let carried = use_carried();
    let shown_title = {
        let title = title.clone();
        move || {
            heading
                .as_ref()
                .map_or_else(|| title.clone().into_any(), ViewFn::run)
        }
    };
    let way = crumbs.map(|crumbs| {
        let steps = std::iter::once(Crumb::new("Launchpad", routes::launchpad(&project)))
            .chain(crumbs)
            .map(|Crumb { label, href }| {
                // back to a list as it was left
                let href = move || carried.back(&href);
                view! {
                    <li>
                        <a href=href>{label}</a>
                        <Icon icon=icons::CHEVRON_RIGHT />
                    </li>
                }
            })
            .collect_view();
        view! {
            <nav aria-label="Breadcrumb">
                <ol class="crumbs">
                    {steps}
                    <li aria-current="page">{shown_title()}</li>
                </ol>
            </nav>
        }
    });
    let has_lede = !lede.is_empty() || lede_end.is_some();
    view! {
        <Title text=format!("{window_title} · Portico") />
        <div class="page-head">
            <div class="page-head-text">
                {way}
                <div class="page-title">
                    {icon.map(|icon| view! { <Icon icon large=true /> })}
                    <h1 tabindex="-1">{shown_title()}</h1>
                    {aside}
                </div>
                {has_lede.then(|| view! { <div class="page-lede">{lede}{lede_end}</div> })}
            </div>
            {actions.map(|actions| view! { <div class="page-actions">{actions}</div> })}
        </div>
    }
    .into_any()
}
