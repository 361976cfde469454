//! Formatting of numbers and times. Everything here is pure: the clock is an argument, so that
//! server and browser write the same.

/// Returns the time between two moments as kubectl writes it: `8s`, `12m`, `5h`, `3d`, `2y`.
pub fn age(now: i64, then: i64) -> String {
    let seconds = (now - then).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, "m", seconds % 60, "s"),
        600..7_200 => format!("{minutes}m"),
        7_200..36_000 => pair(hours, "h", minutes % 60, "m"),
        36_000..172_800 => format!("{hours}h"),
        172_800..864_000 => pair(days, "d", hours % 24, "h"),
        864_000..63_072_000 => format!("{days}d"),
        _ => pair(days / 365, "y", days % 365, "d"),
    }
}

fn pair(big: i64, big_unit: &str, small: i64, small_unit: &str) -> String {
    if small == 0 {
        format!("{big}{big_unit}")
    } else {
        format!("{big}{big_unit}{small}{small_unit}")
    }
}

/// Returns a moment in full, in UTC: `2026-03-09 14:05:07 UTC`.
pub fn moment(unix: i64) -> String {
    let (year, month, day) = civil(unix.div_euclid(86_400));
    let second = unix.rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// Returns the value of `<time datetime>`: `2026-03-09T14:05:07Z`.
pub fn machine_moment(unix: i64) -> String {
    moment(unix).replacen(' ', "T", 1).replace(" UTC", "Z")
}

/// Days since 1970 to a date of the Gregorian calendar (Howard Hinnant's algorithm).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Returns CPU in cores: `250m`, `1.5`, `12`.
pub fn cores(milli: u64) -> String {
    if milli < 1_000 {
        format!("{milli}m")
    } else if milli.is_multiple_of(1_000) {
        format!("{}", milli / 1_000)
    } else {
        format!("{}.{}", milli / 1_000, milli % 1_000 / 100)
    }
}

/// Returns bytes with binary units: `512 MiB`, `3.4 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut whole = count;
    let mut rest = 0;
    while whole >= 1_024 && unit < UNITS.len() - 1 {
        rest = whole % 1_024;
        whole /= 1_024;
        unit += 1;
    }
    let tenth = rest * 10 / 1_024;
    if tenth == 0 || whole >= 100 {
        format!("{whole} {}", UNITS[unit])
    } else {
        format!("{whole}.{tenth} {}", UNITS[unit])
    }
}

/// Returns a duration of a request: `840 µs`, `3.4 ms`, `1.2 s`.
pub fn latency(microseconds: u64) -> String {
    match microseconds {
        0..1_000 => format!("{microseconds} µs"),
        1_000..1_000_000 => tenths(microseconds / 100, "ms"),
        _ => tenths(microseconds / 100_000, "s"),
    }
}

fn tenths(tenths: u64, unit: &str) -> String {
    if tenths >= 1_000 || tenths.is_multiple_of(10) {
        format!("{} {unit}", tenths / 10)
    } else {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

/// Returns `part` of `whole` in per cent, at most 999.
pub fn percent(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    (u128::from(part) * 100 / u128::from(whole))
        .min(999)
        .try_into()
        .unwrap_or(999)
}

/// Returns a number with thousands set apart: `12,345`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns `1 pod`, `3 pods`; the plural adds an s.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Returns `a`, `a and b`, `a, b and c`. Use [`crate::components::NameList`] for a list that may be
/// long.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the same with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Returns a log line without terminal control sequences.
pub fn without_ansi(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.peek() == Some(&'[') {
                chars.next();
                for c in chars.by_ref() {
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
            }
        } else if c == '\t' || !c.is_control() {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_writes_them() {
        let ages = [
            0, 119, 120, 150, 599, 600, 7_199, 7_260, 90_000, 180_000, 900_000, 70_000_000,
        ]
        .map(|seconds| age(seconds, 0));
        assert_eq!(
            ages,
            [
                "0s", "119s", "2m", "2m30s", "9m59s", "10m", "119m", "2h1m", "25h", "2d2h", "10d",
                "2y80d"
            ]
        );
    }

    #[test]
    fn a_moment_ahead_of_the_clock_is_now() {
        assert_eq!(age(10, 20), "0s");
    }

    #[test]
    fn moments_are_dates_in_utc() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_827_696), "2000-02-29 12:34:56 UTC");
        assert_eq!(moment(1_773_065_107), "2026-03-09 14:05:07 UTC");
        assert_eq!(machine_moment(1_773_065_107), "2026-03-09T14:05:07Z");
    }

    #[test]
    fn quantities_keep_one_decimal() {
        assert_eq!([250, 1_000, 1_500].map(cores), ["250m", "1", "1.5"]);
        assert_eq!(
            [12, 2_048, 3_700_000_000].map(bytes),
            ["12 B", "2 KiB", "3.4 GiB"]
        );
        assert_eq!(
            [(0, 0), (1, 3), (9, 3)].map(|(a, b)| percent(a, b)),
            [0, 33, 300]
        );
    }

    #[test]
    fn latencies_keep_one_decimal() {
        let written = [0, 840, 1_000, 3_456, 250_000, 1_250_000].map(latency);
        assert_eq!(
            written,
            ["0 µs", "840 µs", "1 ms", "3.4 ms", "250 ms", "1.2 s"]
        );
    }

    #[test]
    fn counts_and_lists_are_words() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(2_000, "row"), "2,000 rows");
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names), "a, b and c");
        assert_eq!(listed(&names[..2]), "a and b");
        assert_eq!(listed(&names[..1]), "a");
        assert_eq!(listed(&[]), "");
    }

    #[test]
    fn control_sequences_leave_log_lines() {
        assert_eq!(
            without_ansi("\u{1b}[1;31merror\u{1b}[0m\tx\u{7}"),
            "error\tx"
        );
    }
}
