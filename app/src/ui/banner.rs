use super::{Icon, Tone, icons};
use leptos::prelude::*;

/// A sentence or two above the content that they are about.
#[component]
pub fn Banner(
    tone: Tone,
    /// Interrupts screen readers; only for what just happened.
    #[prop(optional)]
    alert: bool,
    children: Children,
) -> impl IntoView {
    let icon = match tone {
        Tone::Idle | Tone::Info => icons::INFO,
        _ => tone.icon(),
    };
    view! {
        <div class=format!("banner {}", tone.class()) role=alert.then_some("alert")>
            <Icon icon />
            <div>{children()}</div>
        </div>
    }
    .into_any()
}
