//! Moments in UTC in fields for a date and a time, and in addresses.
use crate::format;

/// Returns a moment as the field has it; empty for none.
pub fn written(until: Option<u32>) -> String {
    until.map_or_else(String::new, |until| {
        let mut text = format::machine_moment(i64::from(until));
        text.truncate(text.trim_end_matches('Z').len());
        text
    })
}

/// Reads a moment in UTC from the field (`2026-03-09T14:05`, with or without seconds) or from the address
/// (with `Z`), as Unix seconds. `None` for another text, and for a moment before 1970 or after 2105.
pub fn seconds(text: &str) -> Option<u32> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    // a browser may add a fraction
    let (text, _) = text.split_once('.').unwrap_or((text, ""));
    let (date, time) = text.split_once('T')?;
    let (date, time) = (numbers(date, '-')?, numbers(time, ':')?);
    let (&[year, month, day], &[hour, minute, ref rest @ ..]) = (&*date, &*time) else {
        return None;
    };
    let second = match rest {
        [] => 0,
        [second] => *second,
        _ => return None,
    };
    let unix = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    // 30 February is another day
    let is_same = format::machine_moment(unix).starts_with(text);
    u32::try_from(unix).ok().filter(|_| is_same)
}

fn numbers(text: &str, separator: char) -> Option<Vec<i64>> {
    text.split(separator)
        .map(|part| part.parse::<u16>().ok().map(i64::from))
        .collect()
}

/// Returns the days since 1970 of a date of the Gregorian calendar (Howard Hinnant's algorithm).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_range_is_read_from_the_field_and_from_the_address() {
        let at = Some(1_773_065_107);
        for text in [
            "2026-03-09T14:05:07",
            "2026-03-09T14:05:07Z",
            "2026-03-09T14:05:07.000",
        ] {
            assert_eq!(seconds(text), at, "{text}");
        }
        assert_eq!(seconds("2026-03-09T14:05"), Some(1_773_065_100));
        assert_eq!(written(at), "2026-03-09T14:05:07");
        assert_eq!(written(None), "");
        for day in ["2024-02-29", "2000-02-29", "1999-12-31", "2100-03-01"] {
            let text = format!("{day}T23:59:59");
            assert_eq!(written(seconds(&text)), text);
        }
    }

    #[test]
    fn a_text_that_is_not_a_moment_is_not_read() {
        for text in [
            "",
            "T",
            "2026-03-09",
            "2026-02-30T10:00",
            "2026-13-01T10:00",
            "2026-03-09T24:00",
            "2026-03-09T10:60",
            "2026-03-09T10",
            "2026-3-9T1:5",
            "2026-03-09T10:00:00:00",
            "1969-12-31T23:59:59",
            "2107-01-01T00:00",
            "65535-01-01T00:00",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
