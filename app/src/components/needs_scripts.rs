use leptos::{children::ViewFn, prelude::*};

/// A part of a page that cannot work without scripts. It is made when they run; a browser that has
/// none shows the notice alone.
#[component]
pub fn NeedsScripts(
    /// What cannot be done here, and how else it can.
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
