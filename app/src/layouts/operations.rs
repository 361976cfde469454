use crate::{operations::use_operations, pages::lazy};
use leptos::prelude::*;

/// The place of this tab's operations on every page.
#[component]
pub fn OperationRegion() -> impl IntoView {
    let operations = use_operations();
    view! {
        <Show when=move || operations.is_used()>
            <Suspense>{move || Suspend::new(lazy::operations(operations))}</Suspense>
        </Show>
    }
    .into_any()
}
