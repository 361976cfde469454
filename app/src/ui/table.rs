use leptos::prelude::*;

/// A table that scrolls inside its own region, reachable by keyboard.
#[component]
pub fn TableRegion(
    /// The table's name for screen readers.
    #[prop(into)]
    label: String,
    /// Rows that stack on a narrow screen, as those of events do.
    #[prop(optional)]
    events: bool,
    /// Rows that stack on a narrow screen, where a cell has its `data-label` before its value.
    #[prop(optional)]
    stacked: bool,
    children: Children,
) -> impl IntoView {
    let class = match (events, stacked) {
        (_, true) => "table table-events table-stacked",
        (true, false) => "table table-events",
        (false, false) => "table",
    };
    view! {
        <div class="table-region" role="region" tabindex="0" aria-label=label>
            <table class=class>{children()}</table>
        </div>
    }
    .into_any()
}
