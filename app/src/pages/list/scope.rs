//! Which namespaces a list is made of, if it is not all of them.
use crate::{
    components::{NameList, who_can_here, who_can_link},
    context::use_session,
    format,
    hooks::LiveList,
    routes,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{ListScope, ResourceRef, RightQuestion};

/// Maximum number of namespaces with a link of their own.
const MAX_LINKS: usize = 5;

/// Says "5 of 8 namespaces", and which ones when it is opened.
#[component]
pub fn ScopeNote(
    list: LiveList,
    /// Namespaces that failed to respond, with the reason.
    failures: Vec<String>,
) -> impl IntoView {
    let failures = StoredValue::new(failures);
    move || {
        let failures = failures.get_value();
        let (listed, refused, all_known) = match list.scope.get() {
            ListScope::Namespaces {
                listed,
                refused,
                all_known,
            } => (listed, refused, all_known),
            _ if failures.is_empty() => return ().into_any(),
            _ => (Vec::new(), Vec::new(), true),
        };
        let all = listed.len() + refused.len();
        let text = if all == 0 {
            "Not everything could be read".to_owned()
        } else if refused.is_empty() {
            format::counted(all, "namespace")
        } else {
            format!("{} of {}", listed.len(), format::counted(all, "namespace"))
        };
        let is_partial = !failures.is_empty();
        view! {
            <details class="scope-note">
                <summary>
                    {is_partial.then(|| view! {
                        <span class="status is-warn"><Icon icon=icons::WARNING /></span>
                    })}
                    {text}
                </summary>
                <div class="scope-names">
                    {names(list, listed, refused, &failures)} {others(list, all_known)}
                </div>
            </details>
        }
        .into_any()
    }
}

/// Returns the note that other namespaces may exist, with a link to the page that adds one.
fn others(list: LiveList, all_known: bool) -> Option<AnyView> {
    let session = use_session();
    (!all_known).then(|| {
        let project = session.project.get_untracked();
        let href = routes::namespaces(&project, list.cluster());
        let missing = RightQuestion::on("list", &ResourceRef::core("namespaces"), None);
        view! {
            <div>
                "Your roles do not include the list of namespaces: there may be others. "
                <a href=href>"Add a namespace by its name"</a>
                ". "
                {who_can_link(Some(&missing))}
            </div>
        }
        .into_any()
    })
}

/// Returns the links to who may list the kind in the first namespaces that the viewer's roles do not cover.
fn who_can_list(list: LiveList, refused: &[String]) -> Option<AnyView> {
    let resource = list.query()?.resource;
    let links: Vec<_> = refused
        .iter()
        .take(MAX_LINKS)
        .filter_map(|namespace| {
            let missing = RightQuestion::on("list", &resource, Some(namespace));
            let href = who_can_here(&missing)?;
            let text = format!("Who can in {namespace}?");
            Some(view! { " " <a href=href>{text}</a> }.into_any())
        })
        .collect();
    (!links.is_empty()).then(|| links.into_iter().collect_view().into_any())
}

fn names(
    list: LiveList,
    listed: Vec<String>,
    refused: Vec<String>,
    failures: &[String],
) -> AnyView {
    let shown = if listed.is_empty() && refused.is_empty() {
        ().into_any()
    } else if listed.is_empty() {
        view! { <p>"You cannot list any namespace here."</p> }.into_any()
    } else {
        view! {
            <div>"Showing the namespaces you can list: "<NameList names=listed shown=20 />"."</div>
        }
        .into_any()
    };
    let others = (!refused.is_empty()).then(|| {
        let links = who_can_list(list, &refused);
        view! {
            <div>"Your roles do not cover "<NameList names=refused shown=20 />"." {links}</div>
        }
    });
    let failed = (!failures.is_empty())
        .then(|| format!("Not everything could be read: {}", failures.join("; ")));
    view! { {shown} {others} {failed.map(|text| view! { <p>{text}</p> })} }.into_any()
}
