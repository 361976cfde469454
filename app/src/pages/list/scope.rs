//! Which namespaces a list is made of, if it is not all of them.
use crate::{
    components::NameList,
    format,
    hooks::LiveList,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::ListScope;

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
        let (listed, refused) = match list.scope.get() {
            ListScope::Namespaces { listed, refused } => (listed, refused),
            _ if failures.is_empty() => return ().into_any(),
            _ => (Vec::new(), Vec::new()),
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
                <div class="scope-names">{names(listed, refused, &failures)}</div>
            </details>
        }
        .into_any()
    }
}

fn names(listed: Vec<String>, refused: Vec<String>, failures: &[String]) -> AnyView {
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
        view! { <div>"Your roles do not cover "<NameList names=refused shown=20 />"."</div> }
    });
    let failed = (!failures.is_empty())
        .then(|| format!("Not everything could be read: {}", failures.join("; ")));
    view! { {shown} {others} {failed.map(|text| view! { <p>{text}</p> })} }.into_any()
}
