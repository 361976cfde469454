use leptos::prelude::*;

/// A table that scrolls inside its own region, reachable by keyboard.
#[component]
pub fn TableRegion(
    /// Names the table for screen readers.
    #[prop(into)]
    label: String,
    children: Children,
) -> impl IntoView {
    view! {
        <div class="table-region" role="region" tabindex="0" aria-label=label>
            <table class="table">{children()}</table>
        </div>
    }
    .into_any()
}
