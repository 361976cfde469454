use leptos::{children::ViewFn, prelude::*};

/// A part of a page that cannot work without scripts. It is created when they run; a browser
/// without scripts shows the notice alone.
#[component]
pub fn NeedsScripts(
    /// What is not possible here without scripts, and the alternative.
    notice: AnyView,
    console: ViewFn,
) -> impl IntoView {
    let running = RwSignal::new(false);
    Effect::new(move |_| running.set(true));
    view! {
        <noscript>{notice}</noscript>
        {move || running.get().then(|| console.run())}
    }
    .into_any()
}
