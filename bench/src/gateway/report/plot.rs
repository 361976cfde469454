//! The rounds as a picture: bars for medians, dots for rounds.
use super::{Client, Figures, Report, Round, SUBJECTS};
use crate::theme::{self, FIRST, GRID, INK, PAPER, SECOND};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Value = fn(&Round) -> f64;
type Median = fn(&Figures) -> f64;

const SIZE: (u32, u32) = (960, 400);
/// The names have little space below the bars.
const NAMES: [&str; SUBJECTS.len()] = ["nginx", "JSON", "human", "auth_req.", "mod_auth"];

/// Returns the picture, for light and dark pages.
pub(super) fn svg(report: &Report) -> Result<String> {
    let mut svg = String::new();
    draw(report, &mut svg).map_err(|error| anyhow!("plot: {error}"))?;
    let title = "The gateway beside other proxies: answers of 1 KiB over 16 connections";
    Ok(theme::finished(&svg, title))
}

fn draw(report: &Report, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let panels = root.split_evenly((1, 3));
    let all: [(&str, Value, Median); 3] = [
        (
            "CPU a request, microseconds",
            |round| round.cpu_us_per_request,
            |f| f.cpu_us_per_request,
        ),
        (
            "requests a second",
            |round| round.requests_per_second,
            |f| f.requests_per_second,
        ),
        ("p99, milliseconds", |round| round.p99_ms, |f| f.p99_ms),
    ];
    for (panel, (title, value, median)) in panels.iter().zip(all) {
        draw_panel(panel, report, title, value, median)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(
    panel: &Area<'_>,
    report: &Report,
    title: &str,
    value: Value,
    median: Median,
) -> Result<(), Box<dyn std::error::Error>> {
    let small = || {
        let ours = |round: &&Round| round.body == "1k" && round.client == Client::Ours;
        report.rounds.iter().filter(ours)
    };
    let highest = small().map(value).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 15).into_font().color(&INK))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..SUBJECTS.len() as f64, 0.0..highest * 1.15)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(PAPER)
        .axis_style(INK)
        .label_style(("sans-serif", 11).into_font().color(&INK))
        .x_labels(SUBJECTS.len() * 2 + 1)
        .x_label_formatter(&|x| label(*x))
        .y_label_formatter(&|y| theme::short(*y))
        .draw()?;
    for (index, (subject, _)) in SUBJECTS.into_iter().enumerate() {
        let (left, height) = (index as f64 + 0.2, median(&report.of(subject).small));
        let color = if subject.starts_with("gateway") {
            SECOND
        } else {
            FIRST
        };
        let bar = Rectangle::new([(left, 0.0), (left + 0.6, height)], color.filled());
        chart.draw_series(std::iter::once(bar))?;
        let dots = small()
            .filter(|round| round.subject == subject)
            .map(|round| Circle::new((left + 0.3, value(round)), 2, INK.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}

/// Writes a name at the middle of a bar.
fn label(x: f64) -> String {
    let bars = NAMES.iter().enumerate();
    bars.filter(|(index, _)| (x - *index as f64 - 0.5).abs() < 0.01)
        .map(|(_, name)| (*name).to_owned())
        .collect()
}
