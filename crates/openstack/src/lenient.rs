//! Deserialisation of what OpenStack services write in several forms. An unexpected form of a
//! single field must not cost the whole answer.
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a time with or without a zone (Cinder and Octavia write UTC without one); `None` for
/// anything else.
pub(crate) fn time<'de, D: Deserializer<'de>>(de: D) -> Result<Option<Timestamp>, D::Error> {
    let value = Option::<Value>::deserialize(de)?;
    Ok(value.as_ref().and_then(Value::as_str).and_then(parse_time))
}

fn parse_time(text: &str) -> Option<Timestamp> {
    text.parse::<Timestamp>().ok().or_else(|| {
        let civil: DateTime = text.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

/// Reads `null` and a missing field as the default.
pub(crate) fn or_default<'de, D, T>(de: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(de)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Read {
        #[serde(default, deserialize_with = "time")]
        at: Option<Timestamp>,
    }

    fn read(json: &str) -> Read {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_time_without_a_zone_is_utc_and_an_unknown_form_is_left_out() {
        let expected: Option<Timestamp> = "2026-11-21T11:13:55Z".parse().ok();
        for (text, expected) in [
            (r#""2026-11-21T11:13:55+00:00""#, expected),
            (r#""2026-11-21T11:13:55""#, expected),
            (r#""2026-11-21T12:13:55+01:00""#, expected),
            (r#""yesterday""#, None),
            ("null", None),
            ("12", None),
        ] {
            assert_eq!(read(&format!(r#"{{"at": {text}}}"#)).at, expected, "{text}");
        }
        assert_eq!(read("{}").at, None);
    }
}
