//! The CPU and memory that an object uses: against its bounds, by container or pod, and in the last
//! hour. Read beside the object, so that a slow source of metrics delays nothing else.
use crate::{
    api::objects::get_usage,
    components::who_can_link,
    context::use_session,
    error::UiError,
    format,
    hooks::{refresh_quietly, use_poll},
    ui::{Card, Icon, Meter, SkeletonLines, TableRegion, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::{
    ObjectRef, Reading, RightQuestion, UsageFigure, UsagePart, UsagePoint, UsageView, has_usage,
};
use std::time::Duration;
use uuid::Uuid;

/// How often usage is read; sources measure every 15 to 60 seconds.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30);
/// The view box of a chart.
const CHART_WIDTH: i64 = 600;
const CHART_HEIGHT: i64 = 100;
/// The table of a history has every fifth point.
const TABLE_STEP: usize = 5;

/// The usage of an object, as the page shares it. `None` for a kind that has none.
#[derive(Clone, Copy)]
pub struct Usage {
    data: Resource<Result<Option<Reading<UsageView>>, UiError>>,
    applies: bool,
    /// Whether the table of the history is open, also after the figures were replaced.
    is_open: RwSignal<bool>,
}

impl Usage {
    /// Reads it while it is shown.
    pub fn read(cluster: Uuid, object: &ObjectRef, is_shown: Memo<bool>) -> Self {
        let session = use_session();
        let applies = has_usage(&object.resource);
        let object = object.clone();
        let ask = move || get_usage(cluster, object.clone());
        let data = Resource::new(move || (session.project.get(), is_shown.get()), {
            let ask = ask.clone();
            move |(_, is_shown): (String, bool)| {
                let ask = (applies && is_shown).then(&ask);
                async move {
                    match ask {
                        Some(ask) => ask.await.map(Some),
                        None => Ok(None),
                    }
                }
            }
        });
        let outdated = RwSignal::new(false);
        if applies {
            use_poll(REFRESH_INTERVAL, move || {
                if is_shown.get_untracked() {
                    let ask = ask();
                    refresh_quietly(data, outdated, async move { ask.await.map(Some) });
                }
            });
        }
        Self {
            data,
            applies,
            is_open: RwSignal::new(false),
        }
    }

    /// Shows it; nothing for a kind that has none.
    pub fn view(self) -> AnyView {
        if !self.applies {
            return ().into_any();
        }
        view! {
            <Suspense fallback=|| view! { <div class="card card-body mb-4"><SkeletonLines lines=3 /></div> }>
                {move || suspended(async move {
                    match self.data.await {
                        Ok(None) => ().into_any(),
                        Ok(Some(Reading::Known(usage))) => known(usage, self.is_open),
                        Ok(Some(Reading::NotPermitted(refusal))) => {
                            unknown(&refusal.reason, refusal.missing.as_deref())
                        }
                        Ok(Some(Reading::Unavailable(reason))) => unknown(&reason, None),
                        Err(error) => unknown(&error.message, error.missing.as_deref()),
                    }
                })}
            </Suspense>
        }
        .into_any()
    }
}

fn unknown(reason: &str, missing: Option<&RightQuestion>) -> AnyView {
    let text = format!("Usage unknown. {reason}");
    let link = who_can_link(missing);
    view! {
        <div class="mb-4" data-part="usage">
            <Card title="Usage">
                <p class="text-muted">{text}" "{link}</p>
            </Card>
        </div>
    }
    .into_any()
}

fn known(usage: UsageView, is_open: RwSignal<bool>) -> AnyView {
    let source = format!("from {}", usage.source.words());
    let aside = view! { <span class="text-muted">{source}</span> }.into_any();
    let notes = usage
        .notes
        .iter()
        .map(|note| {
            let link = who_can_link(note.missing.as_deref());
            view! { <p class="text-muted mt-2">{note.reason.clone()}" "{link}</p> }
        })
        .collect_view();
    view! {
        <div class="mb-4" data-part="usage">
            <Card title="Usage" aside=aside>
                <div class="usage">
                    {figure("CPU", &usage.cpu, format::cores)}
                    {figure("Memory", &usage.memory, format::bytes)}
                </div>
                {parts(usage.parts)}
                {history(&usage.cpu, &usage.memory, is_open)}
                {notes}
            </Card>
        </div>
    }
    .into_any()
}

/// Shows the use of one resource: a bar for each bound, and the last hour as a line.
fn figure(label: &'static str, figure: &UsageFigure, write: fn(u64) -> String) -> AnyView {
    let used = write(figure.used);
    let meters = if figure.bounds.is_empty() {
        view! {
            <div class="meter-label">
                <span class="font-medium">{label}</span>
                <span class="text-muted">{used}" in use"</span>
            </div>
        }
        .into_any()
    } else {
        figure
            .bounds
            .iter()
            .map(|bound| {
                let text = format!("{used} of {} {}", write(bound.amount), bound.kind.words());
                view! { <Meter label=label part=figure.used whole=bound.amount text /> }
            })
            .collect_view()
            .into_any()
    };
    view! {
        <div class="usage-figure">
            {meters}
            {chart(label, &figure.history, write)}
        </div>
    }
    .into_any()
}

/// Shows a history as a line; nothing without at least two points.
fn chart(label: &str, history: &[UsagePoint], write: fn(u64) -> String) -> AnyView {
    let Some((points, least, most)) = line(history) else {
        return ().into_any();
    };
    let text = format!(
        "{label} in the last hour: between {} and {}",
        write(least),
        write(most)
    );
    view! {
        <svg
            class="usage-chart"
            viewBox=format!("0 0 {CHART_WIDTH} {CHART_HEIGHT}")
            preserveAspectRatio="none"
            role="img"
            aria-label=text.clone()
        >
            <polyline points=points fill="none" vector-effect="non-scaling-stroke"></polyline>
        </svg>
        <p class="text-muted" aria-hidden="true">{text}</p>
    }
    .into_any()
}

/// Returns the points of a polyline, from 0 at the bottom, with the least and the largest value.
fn line(history: &[UsagePoint]) -> Option<(String, u64, u64)> {
    let (first, last) = (history.first()?.at, history.last()?.at);
    let values = || history.iter().map(|point| point.value);
    let (least, most) = (values().min()?, values().max()?);
    if last <= first {
        return None;
    }
    let points: Vec<String> = history
        .iter()
        .map(|point| {
            let x = (point.at - first) * CHART_WIDTH / (last - first);
            let share = u128::from(point.value) * 100 / u128::from(most.max(1));
            format!("{x},{}", CHART_HEIGHT - i64::try_from(share).unwrap_or(0))
        })
        .collect();
    Some((points.join(" "), least, most))
}

fn parts(parts: Vec<UsagePart>) -> AnyView {
    if parts.len() < 2 {
        return ().into_any();
    }
    let rows = parts
        .into_iter()
        .map(|part| {
            view! {
                <tr>
                    <th scope="row" class="cell-name">{part.name}</th>
                    <td>{format::cores(part.used.cpu)}</td>
                    <td>{format::bytes(part.used.memory)}</td>
                </tr>
            }
        })
        .collect_view();
    table("Usage by part", "Name", rows.into_any())
}

/// Shows what the charts show, in numbers.
fn history(cpu: &UsageFigure, memory: &UsageFigure, is_open: RwSignal<bool>) -> AnyView {
    if cpu.history.len() < 2 {
        return ().into_any();
    }
    let rows = cpu
        .history
        .iter()
        .rev()
        .step_by(TABLE_STEP)
        .map(|point| {
            let bytes = memory.history.iter().find(|other| other.at == point.at);
            view! {
                <tr>
                    <th scope="row">{minute(point.at)}</th>
                    <td>{format::cores(point.value)}</td>
                    <td>{bytes.map_or_else(|| "–".to_owned(), |point| format::bytes(point.value))}</td>
                </tr>
            }
        })
        .collect_view();
    let rows = table("Usage in the last hour", "Time (UTC)", rows.into_any());
    view! {
        <details class="fold mt-3" open=is_open.get_untracked()>
            <summary on:click=move |_| is_open.update(|open| *open = !*open)>
                <Icon icon=icons::CHEVRON_RIGHT />
                "The last hour in numbers"
            </summary>
            {rows}
        </details>
    }
    .into_any()
}

fn table(label: &'static str, first: &'static str, rows: AnyView) -> AnyView {
    view! {
        <div class="mt-3">
            <TableRegion label>
                <thead>
                    <tr>
                        <th scope="col">{first}</th>
                        <th scope="col">"CPU"</th>
                        <th scope="col">"Memory"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        </div>
    }
    .into_any()
}

/// Returns a time of day: `14:05`.
fn minute(at: i64) -> String {
    let moment = format::moment(at);
    moment.get(11..16).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[u64]) -> Vec<UsagePoint> {
        (0_i64..)
            .zip(values)
            .map(|(minute, &value)| UsagePoint {
                at: 1_700_000_000 + minute * 60,
                value,
            })
            .collect()
    }

    #[test]
    fn need_07_a_history_is_a_line_from_zero_to_its_largest_value() {
        let (line, least, most) = line(&points(&[0, 50, 200])).unwrap();
        assert_eq!(line, "0,100 300,75 600,0");
        assert_eq!((least, most), (0, 200));
    }

    #[test]
    fn a_line_needs_two_points_and_survives_zeros() {
        assert!(line(&points(&[])).is_none() && line(&points(&[7])).is_none());
        assert_eq!(line(&points(&[0, 0])).unwrap().0, "0,100 600,100");
    }

    #[test]
    fn a_point_in_numbers_has_its_minute() {
        assert_eq!(minute(1_700_000_000), "22:13");
    }
}
