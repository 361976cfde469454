use crate::format;
use leptos::prelude::*;

/// The used share of something: a bar, with the figures in words beside it.
#[component]
pub fn Meter(
    #[prop(into)] label: String,
    part: u64,
    whole: u64,
    /// `1.5 of 4 cores requested`.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let percent = format::percent(part, whole);
    view! {
        <div class="meter-row">
            <div class="meter-label">
                <span class="font-medium">{label.clone()}</span>
                <span class="text-muted">{text.clone()}" ("{percent}" %)"</span>
            </div>
            <meter
                class="bar"
                max="100"
                low="80"
                high="95"
                optimum="0"
                value=percent.min(100)
                aria-label=format!("{label}: {text}")
            ></meter>
        </div>
    }
    .into_any()
}
