//! The part of a log with which a page begins.
use crate::ui::Choice;

/// The lines to start with if a time range is chosen: as many as a page shows, so that the range decides.
const TAIL_LINES_OF_RANGE: u32 = 5_000;
/// The ranges, in seconds.
const RANGES: [(u32, &str); 4] = [
    (300, "Last 5 minutes"),
    (3_600, "Last hour"),
    (21_600, "Last 6 hours"),
    (86_400, "Last day"),
];

/// Returns the choices of a page; the first, without a range, has an empty value.
pub fn choices(first: &'static str) -> Vec<Choice> {
    let ranges = RANGES.map(|(seconds, label)| Choice::new(seconds.to_string(), label));
    std::iter::once(Choice::new("", first))
        .chain(ranges)
        .collect()
}

/// Returns the value of the choice for a range.
pub fn choice(since: Option<u32>) -> String {
    since.map(|seconds| seconds.to_string()).unwrap_or_default()
}

/// Reads the value of a choice or of the address; a range that is not offered is none.
pub fn seconds(value: Option<&str>) -> Option<u32> {
    let asked: u32 = value?.parse().ok()?;
    RANGES
        .into_iter()
        .map(|(seconds, _)| seconds)
        .find(|seconds| *seconds == asked)
}

/// Returns the number of lines to start with; `lines` without a range.
pub fn tail(since: Option<u32>, lines: u32) -> u32 {
    since.map_or(lines, |_| TAIL_LINES_OF_RANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_offered_ranges_are_read_from_the_address() {
        assert_eq!(seconds(Some("3600")), Some(3_600));
        for other in [None, Some(""), Some("1"), Some("-300"), Some("x")] {
            assert_eq!(seconds(other), None);
        }
        assert_eq!((tail(None, 200), tail(Some(300), 200)), (200, 5_000));
        assert_eq!(choice(Some(300)), "300");
        assert_eq!(choices("All")[0].value, "");
    }
}
