use super::Icon;
use leptos::prelude::*;

/// What a page or list shows instead of content: nothing there, no match, refused, failed.
#[component]
pub fn StateMessage(
    icon: icondata_core::Icon,
    #[prop(into)] title: String,
    /// What it means, and what to do.
    #[prop(into, optional)]
    text: String,
    /// For errors: announced at once.
    #[prop(optional)]
    alert: bool,
    /// What kind of state this is, for tests: `empty`, `no-match`, `error`, `not-permitted`.
    state: &'static str,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="state" role=alert.then_some("alert") data-state=state>
            <Icon icon />
            <h2>{title}</h2>
            {(!text.is_empty()).then(|| view! { <p>{text}</p> })}
            {children.map(|children| view! { <div class="state-actions">{children()}</div> })}
        </div>
    }
    .into_any()
}
