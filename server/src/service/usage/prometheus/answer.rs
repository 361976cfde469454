//! Responses of Prometheus' HTTP API
//! (<https://prometheus.io/docs/prometheus/latest/querying/api/>).
use super::PrometheusError;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Maximum number of series in one response: containers of 500 pods, and more.
pub const MAX_SERIES: usize = 5_000;

/// One series of a response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    /// Of an instant query: Unix seconds and the value as text.
    #[serde(default)]
    value: Option<(f64, String)>,
    /// Of a range query.
    #[serde(default)]
    values: Vec<(f64, String)>,
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Series>,
}

impl Series {
    /// Returns the value of a label; empty if the series does not have it.
    pub fn label(&self, name: &str) -> &str {
        self.metric.get(name).map_or("", String::as_str)
    }

    /// Returns the value of an instant query; `None` if it is not a finite number.
    pub fn value(&self) -> Option<f64> {
        self.value.as_ref().and_then(|(_, text)| finite(text))
    }

    /// Returns the values of a range query with their times in Unix seconds, without those that are
    /// not finite numbers.
    pub fn points(&self) -> impl Iterator<Item = (i64, f64)> {
        self.values
            .iter()
            .filter_map(|(at, text)| Some((seconds(*at), finite(text)?)))
    }
}

/// Reads the series of a response.
///
/// # Errors
/// `Failed` with Prometheus' own message, `TooManySeries`, and `Unreadable`.
pub fn read(body: &[u8]) -> Result<Vec<Series>, PrometheusError> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| PrometheusError::Unreadable(error.to_string()))?;
    if answer.status != "success" {
        return Err(PrometheusError::Failed(answer.error));
    }
    let data = answer
        .data
        .ok_or_else(|| PrometheusError::Unreadable("no data".to_owned()))?;
    if data.result.len() > MAX_SERIES {
        return Err(PrometheusError::TooManySeries);
    }
    Ok(data.result)
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "times of this century; what is larger is cut off"
)]
fn seconds(at: f64) -> i64 {
    at.round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_values_have_their_labels() {
        let body = br#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"pod":"web-0","container":"app"},"value":[1700000000.781,"0.25"]},
            {"metric":{"pod":"web-1"},"value":[1700000000.781,"NaN"]},
            {"metric":{},"value":[1700000000,"+Inf"]}]},"warnings":["partial"]}"#;
        let series = read(body).unwrap();
        assert_eq!(series[0].label("pod"), "web-0");
        assert_eq!(series[0].value(), Some(0.25));
        assert_eq!(series[1].label("container"), "");
        assert_eq!((series[1].value(), series[2].value()), (None, None));
    }

    #[test]
    fn a_range_has_its_points_in_order() {
        let body = br#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"values":[[1700000000,"1"],[1700000060,"NaN"],[1700000120.4,"3e6"]]}]}}"#;
        let series = read(body).unwrap();
        let points: Vec<_> = series[0].points().collect();
        assert_eq!(points, [(1_700_000_000, 1.0), (1_700_000_120, 3e6)]);
    }

    #[test]
    fn an_answer_that_is_not_a_result_is_an_error() {
        let failed = br#"{"status":"error","errorType":"timeout","error":"query timed out"}"#;
        assert!(
            matches!(read(failed), Err(PrometheusError::Failed(text)) if text == "query timed out")
        );
        for body in [
            &b"<html>"[..],
            br#"{"status":"success"}"#,
            br#"{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}"#,
        ] {
            assert!(matches!(read(body), Err(PrometheusError::Unreadable(_))));
        }
    }

    #[test]
    fn too_many_series_are_refused() {
        let series = r#"{"metric":{},"value":[1,"2"]}"#;
        let many = vec![series; MAX_SERIES + 1].join(",");
        let body = format!(r#"{{"status":"success","data":{{"result":[{many}]}}}}"#);
        assert!(matches!(
            read(body.as_bytes()),
            Err(PrometheusError::TooManySeries)
        ));
    }
}
