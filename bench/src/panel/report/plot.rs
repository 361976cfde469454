//! The rounds as a picture: the share of each target that was used, and the memory of a tab.
use super::{Report, logs};
use crate::theme::{self, FIRST, GRID, INK, PAPER, SECOND};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const SIZE: (u32, u32) = (960, 400);
/// A bar ends there, with its value beside it.
const MAX_SHARE: f64 = 2.5;
/// Of heap, in MB.
const HEAP_TARGET: f64 = 40.0;

/// A name, rounds as shares of the target, and their median.
struct Bar {
    name: &'static str,
    rounds: Vec<f64>,
    median: f64,
}

/// Returns the picture, for light and dark pages.
pub(super) fn svg(report: &Report) -> Result<String> {
    let mut svg = String::new();
    draw(report, &mut svg).map_err(|error| anyhow!("plot: {error}"))?;
    let title =
        "The panel's figures as shares of their targets, and the memory of a tab while pods change";
    Ok(theme::finished(&svg, title))
}

fn draw(report: &Report, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let (left, right) = root.split_horizontally(620);
    draw_shares(&left, &bars(report))?;
    draw_memory(&right, report)?;
    root.present()?;
    Ok(())
}

/// Returns what has rounds and a target.
fn bars(report: &Report) -> Vec<Bar> {
    let rounds = &report.rounds;
    let (page, list) = (&report.first_page, &report.list_10000);
    let slow = |value: fn(&super::FirstPage) -> f64| -> Vec<f64> {
        let chosen = rounds.first_page.iter();
        let chosen = chosen.filter(|round| round.network == super::Network::Slow);
        chosen.map(value).collect()
    };
    let bar = |name, values: Vec<f64>, median: f64, target: f64| Bar {
        name,
        rounds: values.into_iter().map(|value| value / target).collect(),
        median: median / target,
    };
    let cold = rounds.first_rows.iter().filter(|round| !round.is_shared);
    vec![
        bar(
            "first page, bytes",
            slow(|round| round.bytes as f64),
            page.bytes_brotli,
            350_000.0,
        ),
        bar(
            "first paint, slow",
            slow(|round| round.fcp_ms),
            page.fcp_ms_slow,
            1_500.0,
        ),
        bar(
            "interactive, slow",
            slow(|round| round.interactive_ms),
            page.interactive_ms_slow,
            3_000.0,
        ),
        bar(
            "first rows",
            cold.map(|round| round.first_rows_ms).collect(),
            list.first_rows_ms,
            500.0,
        ),
        bar(
            "filter",
            rounds.filter.iter().map(|round| round.shown_ms).collect(),
            list.filter_ms,
            100.0,
        ),
        bar(
            "sort",
            rounds.sort.iter().map(|round| round.shown_ms).collect(),
            list.sort_ms,
            100.0,
        ),
        bar(
            "change to screen",
            rounds.event_to_screen.quiet_ms.clone(),
            report.event_to_screen_p95_ms,
            1_000.0,
        ),
        bar("heap", vec![list.heap_mb], list.heap_mb, HEAP_TARGET),
        bar(
            "heap, log",
            rounds
                .log
                .samples
                .iter()
                .map(|sample| sample.memory.heap_mb())
                .collect(),
            report.logs_5000.heap_mb,
            logs::HEAP_TARGET,
        ),
        bar(
            "server memory",
            rounds.viewers.rss_mb.clone(),
            report.viewers_50.server_rss_mb,
            300.0,
        ),
    ]
}

fn draw_shares(panel: &Area<'_>, bars: &[Bar]) -> Result<(), Box<dyn std::error::Error>> {
    let count = bars.len();
    let mut chart = ChartBuilder::on(panel)
        .caption(
            "share of the target (1: reached)",
            ("sans-serif", 15).into_font().color(&INK),
        )
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(130)
        .build_cartesian_2d(0.0..MAX_SHARE, 0.0..count as f64)?;
    let label = |y: &f64| {
        let places = bars.iter().rev().enumerate();
        let named = places.filter(|(place, _)| (y - *place as f64 - 0.5).abs() < 0.01);
        named.map(|(_, bar)| bar.name.to_owned()).collect()
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .bold_line_style(GRID)
        .light_line_style(PAPER)
        .axis_style(INK)
        .label_style(("sans-serif", 11).into_font().color(&INK))
        .x_labels(6)
        .x_label_formatter(&|x| format!("{x:.1}"))
        .y_labels(count * 2 + 1)
        .y_label_formatter(&label)
        .draw()?;
    for (place, bar) in bars.iter().rev().enumerate() {
        let bottom = place as f64 + 0.2;
        let color = if bar.median <= 1.0 { SECOND } else { FIRST };
        let length = bar.median.min(MAX_SHARE);
        let body = Rectangle::new([(0.0, bottom), (length, bottom + 0.6)], color.filled());
        chart.draw_series(std::iter::once(body))?;
        let inside = bar
            .rounds
            .iter()
            .copied()
            .filter(|share| *share <= MAX_SHARE);
        chart
            .draw_series(inside.map(|share| Circle::new((share, bottom + 0.3), 2, INK.filled())))?;
        if bar.median > MAX_SHARE {
            let style = ("sans-serif", 11).into_font().color(&INK);
            let text = format!("{:.1}", bar.median);
            let place = (MAX_SHARE - 0.2, bottom + 0.45);
            chart.draw_series(std::iter::once(Text::new(text, place, style)))?;
        }
    }
    let line = PathElement::new(vec![(1.0, 0.0), (1.0, count as f64)], INK);
    chart.draw_series(std::iter::once(line))?;
    Ok(())
}

fn draw_memory(panel: &Area<'_>, report: &Report) -> Result<(), Box<dyn std::error::Error>> {
    let changes = &report.rounds.changes;
    let values: Vec<f64> = changes
        .memory
        .iter()
        .map(|memory| memory.heap_mb())
        .collect();
    let highest = values.iter().copied().fold(HEAP_TARGET, f64::max);
    let steps = values.len().saturating_sub(1).max(1);
    let minutes = changes.seconds as f64 / 60.0;
    let mut chart = ChartBuilder::on(panel)
        .caption(
            "heap of a tab, MB",
            ("sans-serif", 15).into_font().color(&INK),
        )
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(40)
        .build_cartesian_2d(0.0..minutes, 0.0..highest * 1.15)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(PAPER)
        .axis_style(INK)
        .label_style(("sans-serif", 11).into_font().color(&INK))
        .x_desc("minutes at 100 changes/s")
        .x_labels(6)
        .x_label_formatter(&|x| format!("{x:.1}"))
        .y_label_formatter(&|y| theme::short(*y))
        .draw()?;
    let at = |step: usize| minutes * step as f64 / steps as f64;
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .map(|(step, value)| (at(step), *value))
        .collect();
    chart.draw_series(LineSeries::new(points.clone(), SECOND.stroke_width(2)))?;
    chart.draw_series(
        points
            .into_iter()
            .map(|point| Circle::new(point, 2, INK.filled())),
    )?;
    let target = PathElement::new(vec![(0.0, HEAP_TARGET), (minutes, HEAP_TARGET)], INK);
    chart.draw_series(std::iter::once(target))?;
    Ok(())
}
