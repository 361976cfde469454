//! The style of plots, on light and dark pages.
use plotters::style::RGBColor;

pub const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);
pub const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
pub const GRID: RGBColor = RGBColor(0xD1, 0xD9, 0xE0);
/// Distinguishable with colour vision deficiency too.
pub const FIRST: RGBColor = RGBColor(0x8C, 0x95, 0x9F);
pub const SECOND: RGBColor = RGBColor(0x09, 0x69, 0xDA);
/// The colours on a dark page, in place of the ones above.
const DARK: [(&str, &str); 5] = [
    ("#FFFFFE", "#0D1117"),
    ("#1F2328", "#E6EDF3"),
    ("#D1D9E0", "#30363D"),
    ("#8C959F", "#768390"),
    ("#0969DA", "#58A6FF"),
];

/// Returns a drawn picture with its title and its colours for dark pages.
pub fn finished(svg: &str, title: &str) -> String {
    let rules: String = DARK
        .iter()
        .map(|(light, dark)| {
            format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}")
        })
        .collect();
    let style = format!("<style>@media (prefers-color-scheme: dark){{{rules}}}</style>");
    svg.replacen(
        "\">\n",
        &format!("\">\n<title>{title}</title>\n{style}\n"),
        1,
    )
}

/// Returns a number on an axis.
pub fn short(y: f64) -> String {
    if y >= 1000.0 {
        format!("{:.0}k", y / 1000.0)
    } else {
        format!("{y}")
    }
}
