//! Common parts of all results: JSON for programs, a table and a plot for readers.
use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// The committed pages.
const PAGES: &str = "docs/performance";
const START: &str = "<!-- results: written by the benchmark -->\n";
const END: &str = "<!-- end of results -->\n";

/// The load average of the machine.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Load {
    pub before: f64,
    pub after: f64,
}

/// Returns the median: a round disturbed by other load does not count.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

/// Returns the values below which a quarter, and three quarters, of all are.
pub fn quartiles(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |quarters: usize| sorted.get(sorted.len() * quarters / 4);
    let value = |quarters| at(quarters).copied().unwrap_or(f64::NAN);
    (value(1), value(3))
}

/// Writes `<name>.json`, `<name>.svg` if there is a plot, and the results in `<name>.md`.
pub fn write(
    folder: &Path,
    name: &str,
    report: &impl Serialize,
    plot: Option<&str>,
    table: &str,
) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = |extension: &str| folder.join(format!("{name}.{extension}"));
    let mut json = serde_json::to_string_pretty(&rounded(serde_json::to_value(report)?))?;
    json.push('\n');
    std::fs::write(file("json"), json)?;
    if let Some(plot) = plot {
        std::fs::write(file("svg"), plot)?;
    }
    let page = file("md");
    // another folder may not have the page yet
    let template = if page.exists() {
        page.clone()
    } else {
        Path::new(PAGES).join(format!("{name}.md"))
    };
    let text =
        std::fs::read_to_string(&template).with_context(|| template.display().to_string())?;
    std::fs::write(&page, replaced(&text, table)?)?;
    Ok(())
}

/// Rounds to four decimal places: the rest is noise, and makes every run's difference unreadable.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().map(|float| (float * 1e4).round() / 1e4);
            short.map_or(Value::Null, Value::from)
        }
        Value::Array(values) => values.into_iter().map(rounded).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, rounded(value)))
            .collect(),
        other => other,
    }
}

/// Returns a page with its results replaced.
fn replaced(page: &str, results: &str) -> Result<String> {
    let missing = "the page has no marks for the results";
    let (before, rest) = page.split_once(START).context(missing)?;
    let (_, after) = rest.split_once(END).context(missing)?;
    Ok(format!("{before}{START}\n{results}\n{END}{after}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_spoilt_round_does_not_move_the_median() {
        assert!((median(&[3.0, 100.0, 1.0]) - 3.0).abs() < f64::EPSILON);
        assert!((median(&[1.0, 2.0]) - 1.5).abs() < f64::EPSILON);
    }

    #[test]
    fn a_quarter_of_the_rounds_is_on_either_side_of_the_quartiles() {
        let values: Vec<f64> = (0..15).rev().map(f64::from).collect();
        assert_eq!(quartiles(&values), (3.0, 11.0));
        assert_eq!(quartiles(&[2.0]), (2.0, 2.0));
        assert!(quartiles(&[]).0.is_nan());
    }

    #[test]
    fn only_the_results_of_a_page_are_replaced() {
        let page = format!("before\n{START}old\n{END}after\n");
        let expected = format!("before\n{START}\nnew\n{END}after\n");
        assert_eq!(replaced(&page, "new").unwrap(), expected);
        assert!(replaced("no marks", "new").is_err());
    }
}
