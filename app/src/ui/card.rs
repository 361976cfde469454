use leptos::prelude::*;

/// A bordered part of a page, with a heading.
#[component]
pub fn Card(
    #[prop(into)] title: String,
    /// At the right of the heading.
    #[prop(optional, into)]
    aside: Option<AnyView>,
    /// Without inner space, for tables.
    #[prop(optional)]
    flush: bool,
    children: Children,
) -> impl IntoView {
    view! {
        <section class="card">
            <div class=if flush { "card-head pb-3" } else { "card-head" }>
                <h2>{title}</h2>
                {aside}
            </div>
            <div class=if flush { "" } else { "card-body" }>{children()}</div>
        </section>
    }
    .into_any()
}

/// Pairs of a name and a value.
#[component]
pub fn DescriptionList(rows: Vec<(String, AnyView)>) -> impl IntoView {
    let rows = rows
        .into_iter()
        .map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> })
        .collect_view();
    view! { <dl class="description-list">{rows}</dl> }.into_any()
}
