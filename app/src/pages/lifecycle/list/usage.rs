//! What the project uses of its quotas, and Magnum's own count.
use crate::{
    api::cluster_care::get_project_usage,
    components::{Age, InlineError, NeedsScripts},
    error::UiError,
    format,
    hooks::use_poll,
    pages::lifecycle::{create::quota, without_scripts},
    ui::{Banner, Card, SkeletonLines, Tone},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::{ClusterStats, ProjectUsage};
use std::time::Duration;

/// How often the usage is read while the page is visible.
const INTERVAL: Duration = Duration::from_secs(60);

/// Returns the card of the usage.
pub fn card() -> AnyView {
    let notice = without_scripts(["quota", "stats"].map(|verb| format!("portico cluster {verb}")));
    view! {
        <div data-part="usage">
            <Card title="Usage of the project">
                <NeedsScripts
                    notice
                    console=ViewFn::from(|| view! { <Content /> }.into_any())
                />
            </Card>
        </div>
    }
    .into_any()
}

#[component]
fn Content() -> impl IntoView {
    let shown = RwSignal::new(None::<ProjectUsage>);
    let failure = RwSignal::new(None::<UiError>);
    let is_asking = StoredValue::new(false);
    let read = move || {
        if is_asking.try_get_value() != Some(false) {
            return;
        }
        is_asking.set_value(true);
        leptos::task::spawn_local(async move {
            let answer = get_project_usage().await;
            // the user may have left the page meanwhile
            is_asking.try_set_value(false);
            match answer {
                Ok(usage) => {
                    let _ = failure.try_set(None);
                    let _ = shown.try_set(Some(usage));
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    };
    read();
    use_poll(INTERVAL, read);
    let is_first_read =
        Memo::new(move |_| shown.with(Option::is_none) && failure.with(Option::is_none));
    view! {
        <div class="grid grid-cols-1 gap-3">
            {move || is_first_read.get().then(|| view! { <SkeletonLines lines=4 /> })}
            {move || failure.get().map(|error| view! { <InlineError error /> })}
            {move || shown.get().map(content)}
        </div>
    }
    .into_any()
}

fn content(usage: ProjectUsage) -> AnyView {
    let bars = usage.quotas.into_iter().map(quota::current).collect_view();
    let gaps = usage
        .gaps
        .into_iter()
        .map(|gap| view! { <Banner tone=Tone::Info>{gap}</Banner> })
        .collect_view();
    view! {
        <p class="text-muted">
            "Of the whole project, also outside of its clusters. Read " <Age at=Some(usage.read_at) />
            " ago."
        </p>
        <div class="form-groups">{bars}</div>
        {usage.stats.map(|stats| view! { <p>{in_words(stats)}</p> })}
        {gaps}
    }
    .into_any()
}

/// Returns Magnum's count as a sentence.
fn in_words(stats: ClusterStats) -> String {
    let count = |number: u64, noun: &str| {
        format::counted(usize::try_from(number).unwrap_or(usize::MAX), noun)
    };
    format!(
        "Magnum counts {} with {}, those of the control planes included.",
        count(stats.clusters, "cluster"),
        count(stats.nodes, "node")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_magnum_is_a_sentence() {
        let stats = ClusterStats {
            clusters: 1,
            nodes: 1_200,
        };
        assert_eq!(
            in_words(stats),
            "Magnum counts 1 cluster with 1,200 nodes, those of the control planes included."
        );
    }
}
