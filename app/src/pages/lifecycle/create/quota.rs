//! The quotas of the project, now and with the cluster.
use super::state::Wizard;
use crate::ui::{Card, Status, Tone};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{QuotaFit, QuotaProjection, QuotaUsage, QuotaUse};

/// Returns the bars: with the cluster once the form was checked, else as they are now.
pub fn card(wizard: Wizard) -> AnyView {
    let bars = move || {
        let projections = wizard.review.with(|review| {
            let review = review.as_ref()?;
            (!review.quotas.is_empty()).then(|| review.quotas.clone())
        });
        if let Some(projections) = projections {
            return projections.into_iter().map(projected).collect_view();
        }
        let now = wizard.options.with_value(|options| options.quotas.clone());
        now.into_iter().map(current).collect_view()
    };
    let state = move || {
        let failure = wizard
            .failure
            .with(|failure| failure.as_ref().map(|error| error.message.clone()));
        match failure {
            Some(message) => Some(format!("The form could not be checked: {message}")),
            None => wizard.is_outdated.get().then(|| "Checking…".to_owned()),
        }
    };
    view! {
        <div data-part="quotas">
            <Card title="Quotas of the project">
                <p class="text-muted mb-3">
                    "Now, and with this cluster. A later upgrade needs one more node in each group."
                </p>
                <div class="form-groups">{bars}</div>
                <p class="text-muted mt-3" role="status">
                    {state}
                </p>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns the bar of a quota now and after.
pub fn projected(quota: QuotaProjection) -> AnyView {
    let tone = match quota.fit {
        QuotaFit::Fits => None,
        QuotaFit::FitsWithoutSurge => Some(Tone::Warn),
        QuotaFit::Exceeded(_) => Some(Tone::Bad),
        QuotaFit::Unknown => Some(Tone::Idle),
    };
    let after = quota.after.or(quota.usage.map(|usage| usage.used));
    let sentence = quota.sentence.clone();
    let note = tone.map(|tone| view! { <Status tone text=sentence /> });
    bar(quota.resource, quota.usage, after, note.into_any())
}

/// Returns the bar of a quota as it is now.
pub fn current(quota: QuotaUse) -> AnyView {
    let used = quota.usage.map(|usage| usage.used);
    bar(quota.resource, quota.usage, used, ().into_any())
}

/// Returns the bar of one resource; without a limit, or if it could not be read, only its figures.
fn bar(resource: String, usage: Option<QuotaUsage>, after: Option<u64>, note: AnyView) -> AnyView {
    let figures = in_words(usage, after);
    let meter = usage.and_then(|usage| usage.limit).map(|limit| {
        let percent = crate::format::percent(after.unwrap_or_default(), limit).min(100);
        view! {
            <meter
                class="bar"
                max="100"
                low="80"
                high="95"
                optimum="0"
                value=percent
                aria-label=format!("{resource}: {figures}")
            ></meter>
        }
    });
    view! {
        <div class="meter-row">
            <div class="meter-label">
                <span class="font-medium">{resource.clone()}</span>
                <span class="text-muted">{figures.clone()}</span>
            </div>
            {meter}
            {note}
        </div>
    }
    .into_any()
}

/// Returns `12 → 16 of 20`.
fn in_words(usage: Option<QuotaUsage>, after: Option<u64>) -> String {
    let Some(QuotaUsage { used, limit }) = usage else {
        return "not known".to_owned();
    };
    let change = match after {
        Some(after) if after != used => format!("{used} → {after}"),
        _ => used.to_string(),
    };
    match limit {
        Some(limit) => format!("{change} of {limit}"),
        None => format!("{change}, no limit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_shown_now_and_after() {
        let usage = |limit| Some(QuotaUsage { used: 12, limit });
        assert_eq!(in_words(usage(Some(20)), Some(16)), "12 → 16 of 20");
        assert_eq!(in_words(usage(Some(20)), Some(12)), "12 of 20");
        assert_eq!(in_words(usage(None), Some(16)), "12 → 16, no limit");
        assert_eq!(in_words(None, Some(16)), "not known");
    }
}
