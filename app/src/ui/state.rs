use super::Icon;
use leptos::prelude::*;

/// A message in place of content: empty, no match, refused, failed.
#[component]
pub fn StateMessage(
    icon: icondata_core::Icon,
    #[prop(into)] title: String,
    /// The meaning, and the next step.
    #[prop(into, optional)]
    text: String,
    /// For errors: announced at once.
    #[prop(optional)]
    alert: bool,
    /// The kind of state, for tests: `empty`, `no-match`, `error`, `not-permitted`.
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
