//! Times on pages: in UTC, and in the viewer's own time zone where scripts run.
use jiff::Timestamp;
use maud::{Markup, html};

/// Returns a point in time; the page needs [`super::assets::Asset::Times`] for the viewer's zone.
pub(crate) fn time(at: Timestamp) -> Markup {
    html! {
        time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()) {
            (at.strftime("%Y-%m-%d %H:%M UTC").to_string())
        }
    }
}

/// Returns an approximate duration in the past or future: "3 minutes ago", "in 2 hours".
pub(crate) fn roughly(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.as_second() - now.as_second();
    let (number, unit) = match seconds.abs() {
        0..60 => {
            return if seconds <= 0 {
                "just now"
            } else {
                "in a moment"
            }
            .to_owned();
        }
        60..3600 => (seconds.abs() / 60, "minute"),
        3600..172_800 => (seconds.abs() / 3600, "hour"),
        _ => (seconds.abs() / 86_400, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    if seconds < 0 {
        format!("{number} {unit}{plural} ago")
    } else {
        format!("in {number} {unit}{plural}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_roughly() {
        let now = Timestamp::UNIX_EPOCH;
        let at = |seconds| roughly(Timestamp::from_second(seconds).expect("time"), now);
        assert_eq!(at(-59), "just now");
        assert_eq!(at(-60), "1 minute ago");
        assert_eq!(at(-7200), "2 hours ago");
        assert_eq!(at(30), "in a moment");
        assert_eq!(at(3 * 86_400), "in 3 days");
    }
}
