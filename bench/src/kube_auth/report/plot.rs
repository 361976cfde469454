//! The rounds as a picture: bars for medians, dots for rounds.
use super::{Figures, Report, Round};
use crate::theme::{self, FIRST, GRID, INK, PAPER, SECOND};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Value = fn(&Round) -> f64;
type Median = fn(&Figures) -> f64;

const SIZE: (u32, u32) = (960, 400);
const NAMES: [&str; 3] = ["1", "16", "64"];
/// Returns the picture, for light and dark pages.
pub(super) fn svg(report: &Report) -> Result<String> {
    let mut svg = String::new();
    draw(report, &mut svg).map_err(|error| anyhow!("plot: {error}"))?;
    let title = "kube-auth: cached reviews beside an echo of the same size";
    Ok(theme::finished(&svg, title))
}

fn draw(report: &Report, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let panels = root.split_evenly((1, 3));
    let all: [(&str, Value, Median); 3] = [
        (
            "reviews a second",
            |round| round.reviews_per_second,
            |f| f.reviews_per_second,
        ),
        ("p99, milliseconds", |round| round.p99_ms, |f| f.p99_ms),
        (
            "CPU a review, microseconds",
            |round| round.cpu_us_per_review,
            |f| f.cpu_us_per_review,
        ),
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
    let highest = report.rounds.iter().map(value).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 15).into_font().color(&INK))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..3.0, 0.0..highest * 1.15)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(PAPER)
        .axis_style(INK)
        .label_style(("sans-serif", 12).into_font().color(&INK))
        .x_labels(7)
        .x_label_formatter(&|x| label(*x))
        .x_desc("connections")
        .y_label_formatter(&|y| theme::short(*y))
        .draw()?;
    for (subject, figures, color, left) in [
        ("echo", &report.echo, FIRST, 0.16),
        ("cached", &report.cached, SECOND, 0.51),
    ] {
        let places = NAMES
            .iter()
            .enumerate()
            .map(|(index, name)| (index as f64 + left, *name));
        let bars = places.clone().filter_map(|(x, name)| {
            let height = median(figures.get(name)?);
            Some(Rectangle::new(
                [(x, 0.0), (x + 0.33, height)],
                color.filled(),
            ))
        });
        chart
            .draw_series(bars)?
            .label(subject)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
        let dots = places.flat_map(|(x, name)| {
            report
                .rounds
                .iter()
                .filter(move |round| round.subject == subject && round.connections == name)
                .map(move |round| Circle::new((x + 0.165, value(round)), 2, INK.filled()))
        });
        chart.draw_series(dots)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(("sans-serif", 12).into_font().color(&INK))
        .draw()?;
    Ok(())
}

/// Writes a name at the middle of a group.
fn label(x: f64) -> String {
    let group = NAMES.iter().enumerate();
    group
        .filter(|(index, _)| (x - *index as f64 - 0.5).abs() < 0.01)
        .map(|(_, name)| (*name).to_owned())
        .collect()
}
