//! What every refusal has: the missing permission, and a link to the page that shows who has it and who can
//! grant it.
use crate::{
    context::use_session,
    routes,
    ui::{StateMessage, icons},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::{Refusal, RightQuestion};

/// Returns the address at which "Who can?" is answered for a permission, in the cluster of the page that is
/// shown; `None` on pages of no cluster.
pub fn who_can_here(missing: &RightQuestion) -> Option<String> {
    let path = use_location().pathname;
    let cluster = path.with_untracked(|path| routes::cluster_of(path))?;
    let project = use_session().project.get_untracked();
    Some(routes::who_can(&project, cluster, missing))
}

/// Returns the link of a refusal; nothing for one that no permission would lift.
pub fn who_can_link(missing: Option<&RightQuestion>) -> Option<AnyView> {
    Some(who_can_at(who_can_here(missing?)?))
}

/// Returns the link of a refusal to an address.
pub fn who_can_at(href: String) -> AnyView {
    view! { <a href=href>"Who can?"</a> }.into_any()
}

/// Returns the missing permission by name, with the link.
pub fn missing_permission(missing: Option<&RightQuestion>) -> Option<AnyView> {
    let words = missing?.in_words();
    Some(
        view! {
            <p class="wrap-anywhere">
                "Missing permission: " <code>{words}</code> ". " {who_can_link(missing)}
            </p>
        }
        .into_any(),
    )
}

/// Returns the message in place of a part of a page that the cluster refused.
pub fn not_permitted(what: &str, refusal: &Refusal) -> AnyView {
    let text = if refusal.reason.is_empty() {
        "Ask a project administrator for access.".to_owned()
    } else {
        format!("{} Ask a project administrator for access.", refusal.reason)
    };
    let title = format!("You may not {what}");
    match missing_permission(refusal.missing.as_deref()) {
        Some(permission) => view! {
            <StateMessage icon=icons::LOCK title text state="not-permitted">
                {permission}
            </StateMessage>
        }
        .into_any(),
        None => {
            view! { <StateMessage icon=icons::LOCK title text state="not-permitted" /> }.into_any()
        }
    }
}
