//! The health of the cluster: Magnum's report, beside it Portico's own request to the API server, each with
//! its age.
use super::watch::Watch;
use crate::{
    api::cluster_care::get_cluster_health,
    components::{Age, InlineError, NeedsScripts},
    error::UiError,
    format,
    hooks::use_poll,
    pages::lifecycle::{read_failure::show_once, without_scripts},
    ui::{Banner, Button, Card, DescriptionList, SkeletonLines, Status, Tone, icons},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::{
    ApiServerProbe, AutoHealing, ClusterHealth, HealthChange, HealthHistory, HealthPart,
    ProbeResult, ReportedHealth,
};
use std::time::Duration;
use uuid::Uuid;

/// How often the health is read while the page is visible.
const INTERVAL: Duration = Duration::from_secs(60);

/// What the card has read. `Copy`.
#[derive(Clone, Copy)]
struct Reader {
    cluster: Uuid,
    /// The last answer; it stays while another one is read.
    shown: RwSignal<Option<ClusterHealth>>,
    failure: RwSignal<Option<UiError>>,
    busy: RwSignal<bool>,
}

impl Reader {
    fn read(self) {
        if self.busy.try_get_untracked() != Some(false) {
            return;
        }
        self.busy.set(true);
        let asked = get_cluster_health(self.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.busy.try_set(false);
            match answer {
                Ok(health) => {
                    let _ = self.failure.try_set(None);
                    let _ = self.shown.try_set(Some(health));
                }
                Err(error) => show_once(self.failure, error),
            }
        });
    }
}

/// Returns the card of the health.
pub fn card(watch: Watch) -> AnyView {
    let notice = without_scripts([format!("portico cluster health {}", watch.cluster)]);
    view! {
        <div class="mt-4" data-part="health">
            <Card title="Health">
                <NeedsScripts
                    notice
                    console=ViewFn::from(move || view! { <Content watch /> }.into_any())
                />
            </Card>
        </div>
    }
    .into_any()
}

#[component]
fn Content(watch: Watch) -> impl IntoView {
    let reader = Reader {
        cluster: watch.cluster,
        shown: RwSignal::new(None),
        failure: RwSignal::new(None),
        busy: RwSignal::new(false),
    };
    // an enrolled cluster can be asked
    let enrolment = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| progress.cluster.enrolment.clone())
    });
    Effect::new(move |_| {
        enrolment.track();
        reader.read();
    });
    use_poll(INTERVAL, move || reader.read());
    let is_first_read = Memo::new(move |_| {
        reader.shown.with(Option::is_none) && reader.failure.with(Option::is_none)
    });
    view! {
        <div class="grid grid-cols-1 gap-3">
            {move || is_first_read.get().then(|| view! { <SkeletonLines lines=3 /> })}
            {move || reader.failure.get().map(|error| view! { <InlineError error /> })}
            {move || reader.shown.get().map(content)}
            <div>
                <Button
                    label="Measure again"
                    icon=icons::REFRESH
                    busy=reader.busy
                    on_click=move |_| reader.read()
                />
            </div>
        </div>
    }
    .into_any()
}

fn content(health: ClusterHealth) -> AnyView {
    let rows = [
        ("Reported by Magnum", reported(health.magnum)),
        ("Measured by Portico", measured(health.probe)),
        ("Auto-healing", healing(health.healing)),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    view! {
        {health.disagreement.map(|text| view! {
            <div data-part="disagreement">
                <Banner tone=Tone::Warn>{text}</Banner>
            </div>
        })}
        <DescriptionList rows />
        {history(health.history)}
    }
    .into_any()
}

/// Returns Magnum's report. Health that is not measured has no age, and is not bad.
fn reported(health: ReportedHealth) -> AnyView {
    let age = match health.reported_at {
        Some(at) => view! {
            "Magnum changed its record " <Age at=Some(at) /> " ago"
        }
        .into_any(),
        None if health.is_measured => "age not known".into_any(),
        None => "Magnum has no report about this cluster".into_any(),
    };
    let parts = health.parts.into_iter().map(part).collect_view();
    view! {
        <div class="grid gap-1" data-part="reported">
            <span class="flex flex-wrap items-center gap-2">
                <Status tone=Tone::from(health.health) text=health.status />
                <span class="text-muted">{age}</span>
            </span>
            // without bullets, as the history below: each entry has an icon
            <ul class="grid gap-1">{parts}</ul>
        </div>
    }
    .into_any()
}

fn part(part: HealthPart) -> AnyView {
    let tone = if part.is_good { Tone::Ok } else { Tone::Warn };
    view! {
        <li class="wrap-anywhere">
            <Status tone text=format!("{}: {}", part.name, part.text) />
        </li>
    }
    .into_any()
}

fn measured(probe: ApiServerProbe) -> AnyView {
    let (tone, status, details) = match probe.result {
        ProbeResult::Reachable {
            version,
            latency_micros,
            note,
        } => {
            let version = version.map(|version| format!("{version}, "));
            let answered = format!(
                "{}answered within {}",
                version.unwrap_or_default(),
                format::latency(latency_micros)
            );
            (
                Tone::Ok,
                "The API server answers",
                vec![Some(answered), note],
            )
        }
        ProbeResult::Failed { reason } => (
            Tone::Bad,
            "The API server does not answer as it should",
            vec![Some(reason)],
        ),
        ProbeResult::NotMeasured { reason } => (Tone::Idle, "Not measured", vec![Some(reason)]),
    };
    let details = details
        .into_iter()
        .flatten()
        .map(|text| view! { <li class="wrap-anywhere">{text}</li> })
        .collect_view();
    view! {
        <div class="grid gap-1" data-part="measured">
            <span class="flex flex-wrap items-center gap-2">
                <Status tone text=status />
                {probe.measured_at.map(|at| view! {
                    <span class="text-muted">"measured " <Age at=Some(at) /> " ago"</span>
                })}
            </span>
            <ul class="notes">{details}</ul>
        </div>
    }
    .into_any()
}

fn healing(healing: AutoHealing) -> AnyView {
    view! {
        <div class="grid gap-1" data-part="healing">
            <span class="wrap-anywhere">{healing.text}</span>
            <span class="text-muted">{healing.note}</span>
        </div>
    }
    .into_any()
}

/// Returns the changes of Magnum's report and of the nodes, as Portico has observed them.
fn history(history: HealthHistory) -> AnyView {
    let is_empty = history.changes.is_empty() && history.gap.is_none();
    let changes = history.changes.into_iter().map(change).collect_view();
    view! {
        <div class="grid gap-2" data-part="health-history">
            <p class="font-semibold">"History of health and nodes"</p>
            {history.gap.map(|gap| view! { <p class="text-muted">{gap}</p> })}
            {is_empty.then(|| view! {
                <p class="text-muted">"Portico has observed no changes yet."</p>
            })}
            <ol class="grid gap-2">{changes}</ol>
        </div>
    }
    .into_any()
}

fn change(change: HealthChange) -> AnyView {
    let before = change.since.map(|since| {
        format!(
            "Between {} and {}: nothing was observed in this time.",
            format::moment(since),
            format::moment(change.at)
        )
    });
    let lines = change.lines.into_iter().chain(before);
    let lines = lines
        .map(|line| view! { <span class="text-muted wrap-anywhere">{line}</span> })
        .collect_view();
    view! {
        <li class="grid gap-1">
            <span class="flex flex-wrap items-center gap-2">
                <Status tone=Tone::from(change.health) text=change.text />
                <span class="text-muted"><Age at=Some(change.at) /> " ago"</span>
            </span>
            {lines}
        </li>
    }
    .into_any()
}
