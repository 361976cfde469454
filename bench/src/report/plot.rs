//! The rounds as a picture: bars for medians, dots for rounds.
use super::{Figures, Report, Round};
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Value = fn(&Round) -> f64;
type Median = fn(&Figures) -> f64;

const SIZE: (u32, u32) = (960, 400);
const NAMES: [&str; 3] = ["1", "16", "64"];
const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
const GRID: RGBColor = RGBColor(0xD1, 0xD9, 0xE0);
/// Told apart by people who see few colours too.
const ECHO: RGBColor = RGBColor(0x8C, 0x95, 0x9F);
const CACHED: RGBColor = RGBColor(0x09, 0x69, 0xDA);
/// What a dark page wants instead of the colours above.
const DARK: [(&str, &str); 5] = [
    ("#FFFFFE", "#0D1117"),
    ("#1F2328", "#E6EDF3"),
    ("#D1D9E0", "#30363D"),
    ("#8C959F", "#768390"),
    ("#0969DA", "#58A6FF"),
];

/// The picture, for light and dark pages.
pub(super) fn svg(report: &Report) -> Result<String> {
    let mut svg = String::new();
    draw(report, &mut svg).map_err(|error| anyhow!("plot: {error}"))?;
    let title = "<title>kube-auth: cached reviews beside an echo of the same size</title>";
    let rules: String = DARK
        .iter()
        .map(|(light, dark)| {
            format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
        })
        .collect();
    let style = format!("<style>@media (prefers-color-scheme: dark){{{rules}}}</style>");
    Ok(svg.replacen("\">\n", &format!("\">\n{title}\n{style}\n"), 1))
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
        .y_label_formatter(&|y| short(*y))
        .draw()?;
    for (subject, figures, color, left) in [
        ("echo", &report.echo, ECHO, 0.16),
        ("cached", &report.cached, CACHED, 0.51),
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

/// The middle of each group has its name.
fn label(x: f64) -> String {
    let group = NAMES.iter().enumerate();
    group
        .filter(|(index, _)| (x - *index as f64 - 0.5).abs() < 0.01)
        .map(|(_, name)| (*name).to_owned())
        .collect()
}

fn short(y: f64) -> String {
    if y >= 1000.0 {
        format!("{:.0}k", y / 1000.0)
    } else {
        format!("{y}")
    }
}
