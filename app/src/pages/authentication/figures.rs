//! kube-auth's figures for this cluster, live.
use crate::{
    api::authentication::get_kube_auth_figures,
    components::{Age, InlineError},
    context::use_session,
    format,
    hooks::keep_fresh,
    ui::{Banner, Card, SkeletonLines, StateMessage, Status, TableRegion, Tone, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{Figures, FiguresView, KeystoneFigures, Quantile, ReviewFigures};
use std::time::Duration;
use uuid::Uuid;

const REFRESH_INTERVAL: Duration = Duration::from_secs(5);

#[component]
pub fn FiguresCard(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_kube_auth_figures(cluster),
    );
    let outdated = RwSignal::new(false);
    keep_fresh(data, REFRESH_INTERVAL, outdated, move || {
        get_kube_auth_figures(cluster)
    });
    view! {
        <Card title="kube-auth metrics">
            {move || outdated.get().then(|| view! {
                <div class="mb-4">
                    <Banner tone=Tone::Warn>"These figures could not be refreshed; \
                                             retrying."</Banner>
                </div>
            })}
            // loaded separately: nothing else on the page waits for it
            <Suspense fallback=|| view! { <SkeletonLines /> }>
                {move || suspended(async move {
                    match data.await {
                        Ok(view) => shown(view),
                        Err(error) => view! { <InlineError error /> }.into_any(),
                    }
                })}
            </Suspense>
        </Card>
    }
    .into_any()
}

fn shown(view: FiguresView) -> AnyView {
    match view {
        FiguresView::Known(figures) => known(&figures),
        FiguresView::Unavailable(reason) => {
            let text = format!(
                "{reason} Sign-in to the cluster may still work. Portico's operators set the \
                 address with panel.kube_auth_metrics_url."
            );
            view! {
                <StateMessage
                    icon=icons::WARNING
                    title="No figures available"
                    text
                    state="unavailable"
                />
            }
            .into_any()
        }
        FiguresView::NotConfigured => view! {
            <StateMessage
                icon=icons::INFO
                title="No figures are set up"
                text="kube-auth runs in a process of its own here. Portico's operators can name the \
                      /metrics address of its admin port as panel.kube_auth_metrics_url."
                state="not-configured"
            />
        }
        .into_any(),
    }
}

fn known(figures: &Figures) -> AnyView {
    let all = &figures.since_start;
    let recent = figures.recent.as_ref();
    let heading = recent.map(|(seconds, _)| format!("Last {}", format::age(signed(*seconds), 0)));
    let recent = recent.map(|(_, recent)| recent);
    let rows = [
        row("Authenticated", count(|f| f.authenticated), all, recent),
        row("Refused", count(|f| f.refused), all, recent),
        row(
            "Unknown (Keystone did not respond)",
            count(|f| f.undecided),
            all,
            recent,
        ),
        row("No token review", count(|f| f.invalid), all, recent),
        row("Answered from the cache", cached, all, recent),
        row("Median latency (p50)", |f| latency(f.p50), all, recent),
        row(
            "99th percentile latency (p99)",
            |f| latency(f.p99),
            all,
            recent,
        ),
    ];
    view! {
        <div class="grid grid-cols-1 gap-4">
            {keystone(&figures.keystone)}
            <TableRegion label="Token reviews">
                <thead>
                    <tr>
                        <th scope="col">"Token reviews of this cluster"</th>
                        {heading.map(|heading| view! { <th scope="col" class="cell-end">{heading}</th> })}
                        <th scope="col" class="cell-end">"Since its start"</th>
                    </tr>
                </thead>
                <tbody>{rows.into_iter().collect_view()}</tbody>
            </TableRegion>
            <p class="text-muted">
                "Read " <Age at=Some(figures.read_at) /> " ago; renewed every 5 s while this page \
                 is open. "
                {figures.started_at.map(|at| view! {
                    "This kube-auth has been running for " <Age at=Some(at) /> ". "
                })}
                "Durations are estimated from a histogram. The figures are counts of the whole \
                 cluster and identify no user; every user who may see the cluster sees them."
            </p>
        </div>
    }
    .into_any()
}

fn signed(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

fn row(
    name: &'static str,
    written: impl Fn(&ReviewFigures) -> String,
    all: &ReviewFigures,
    recent: Option<&ReviewFigures>,
) -> AnyView {
    let recent = recent.map(|recent| {
        let text = written(recent);
        view! { <td class="cell-end">{text}</td> }
    });
    view! {
        <tr>
            <th scope="row" class="cell-text font-normal">{name}</th>
            {recent}
            <td class="cell-end">{written(all)}</td>
        </tr>
    }
    .into_any()
}

fn count(of: impl Fn(&ReviewFigures) -> u64) -> impl Fn(&ReviewFigures) -> String {
    move |figures| format::count(usize::try_from(of(figures)).unwrap_or(usize::MAX))
}

fn cached(figures: &ReviewFigures) -> String {
    let total = figures.total();
    if total == 0 {
        return "–".to_owned();
    }
    format!("{} %", format::percent(figures.cached, total))
}

fn latency(quantile: Option<Quantile>) -> String {
    match quantile {
        None => "–".to_owned(),
        Some(Quantile {
            microseconds,
            or_more,
        }) => {
            let more = if or_more { "more than " } else { "" };
            format!("{more}{}", format::latency(microseconds))
        }
    }
}

fn keystone(keystone: &KeystoneFigures) -> AnyView {
    let (tone, text, at) = match keystone.failing() {
        None => (Tone::Idle, "kube-auth has not asked Keystone yet", None),
        Some(false) => (Tone::Ok, "Keystone answers kube-auth", keystone.last_answer),
        Some(true) => (
            Tone::Bad,
            "Keystone does not answer kube-auth",
            keystone.last_failure,
        ),
    };
    view! {
        <p class="flex flex-wrap items-center gap-x-2">
            <Status tone text />
            {at.map(|at| view! {
                <span class="text-muted">"last asked " <Age at=Some(at) /> " ago"</span>
            })}
        </p>
    }
    .into_any()
}
