use crate::{context::use_session, format};
use leptos::prelude::*;

/// The time since a moment, with the moment in full on hover.
#[component]
pub fn Age(at: Option<i64>) -> impl IntoView {
    let now = use_session().now;
    at.map(|at| {
        view! {
            <time datetime=format::machine_moment(at) title=format::moment(at)>
                {move || format::age(now.get(), at)}
            </time>
        }
    })
    .into_any()
}
