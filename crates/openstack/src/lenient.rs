//! Deserialisation of what OpenStack services write in several forms. An unexpected form of a
//! single field must not cost the whole answer.
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

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

/// Reads an object of scalars as texts: Magnum returns labels as text, integers, floats or
/// booleans, depending on how they were set.
pub(crate) fn texts<'de, D>(de: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    let values = Option::<BTreeMap<String, Value>>::deserialize(de)?.unwrap_or_default();
    let texts = values.into_iter().map(|(key, value)| (key, text(value)));
    Ok(texts.collect())
}

/// Reads a list of texts; `null`, and elements of other types, as if they were absent.
pub(crate) fn list_of_texts<'de, D>(de: D) -> Result<Vec<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let values = Option::<Vec<Value>>::deserialize(de)?.unwrap_or_default();
    let texts = values.into_iter().filter_map(|value| match value {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(texts.collect())
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Read {
        #[serde(default, deserialize_with = "time")]
        at: Option<Timestamp>,
        #[serde(default, deserialize_with = "texts")]
        labels: BTreeMap<String, String>,
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

    #[test]
    fn labels_of_any_scalar_type_are_texts() {
        let labels =
            read(r#"{"labels": {"a": "x", "b": 3, "c": true, "d": 1.5, "e": null}}"#).labels;
        let expected = [
            ("a", "x"),
            ("b", "3"),
            ("c", "true"),
            ("d", "1.5"),
            ("e", ""),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(labels, BTreeMap::from(expected));
        assert!(read(r#"{"labels": null}"#).labels.is_empty());
    }
}
