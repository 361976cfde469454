//! The cluster templates of the project: the list, and the page of each.
mod copy;
mod deletion;
mod details;
mod flags;
mod list;
mod sending;
mod words;

pub use details::TemplatePage;
pub use list::TemplateList;

use crate::ui::{Banner, Tone};
use leptos::prelude::*;

const TITLE: &str = "Cluster templates";

/// Returns what could not be read completely.
fn gaps_view(gaps: Vec<String>) -> Option<AnyView> {
    if gaps.is_empty() {
        return None;
    }
    let gaps = gaps
        .into_iter()
        .map(|gap| view! { <li>{gap}</li> })
        .collect_view();
    Some(
        view! {
            <Banner tone=Tone::Warn>
                <p class="font-semibold">"This page is not complete:"</p>
                <ul class="notes">{gaps}</ul>
            </Banner>
        }
        .into_any(),
    )
}
