//! Deprecated APIs in use: a metric of the API server names those that were requested since it was started,
//! and the release that removes each.
use portico_lifecycle::preflight::Reading;
use portico_lifecycle::version::KubernetesVersion;
use prometheus_parse::{Scrape, Value};

/// A gauge: 1 for each deprecated API that was requested (Kubernetes 1.19 and later).
const METRIC: &str = "apiserver_requested_deprecated_apis";
/// How all metrics of an API server begin.
const OWN_METRICS: &str = "apiserver_";

/// A deprecated API that was requested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeprecatedApi {
    /// Such as `policy/v1beta1 poddisruptionbudgets`.
    pub name: String,
    /// The release without it: major and minor.
    pub removed_in: (u16, u16),
}

impl DeprecatedApi {
    /// Returns it with the release that removes it.
    fn in_words(&self) -> String {
        let (major, minor) = self.removed_in;
        format!("{} (removed in v{major}.{minor})", self.name)
    }
}

/// Returns the APIs of which the metrics of an API server state that they were requested.
pub fn requested(metrics: &str) -> Reading<Vec<DeprecatedApi>> {
    // an API server without such requests does not write the metric
    if !metrics.lines().any(|line| line.starts_with(OWN_METRICS)) {
        return Reading::NotChecked("The metrics are not those of an API server.".to_owned());
    }
    let lines = metrics.lines().filter(|line| line.starts_with(METRIC));
    let lines = lines.map(|line| Ok(line.to_owned()));
    // reading lines from memory cannot fail
    let samples = Scrape::parse(lines).map_or_else(|_| Vec::new(), |scrape| scrape.samples);
    let mut found = Vec::new();
    for sample in samples {
        let is_requested = match sample.value {
            Value::Gauge(value) | Value::Counter(value) | Value::Untyped(value) => value > 0.0,
            Value::Histogram(_) | Value::Summary(_) => false,
        };
        if sample.metric != METRIC || !is_requested {
            continue;
        }
        let label = |name: &str| sample.labels.get(name).unwrap_or_default();
        // some are deprecated, and no release is to remove them
        let Some(removed_in) = release(label("removed_release")) else {
            continue;
        };
        let group = match label("group") {
            "" => String::new(),
            group => format!("{group}/"),
        };
        found.push(DeprecatedApi {
            name: format!("{group}{} {}", label("version"), label("resource")),
            removed_in,
        });
    }
    found.sort();
    // a subresource is of the same API
    found.dedup();
    Reading::Known(found)
}

/// Returns the APIs that a version no longer has, each with the release that removes it.
pub fn removed_by(
    requested: &Reading<Vec<DeprecatedApi>>,
    target: Option<KubernetesVersion>,
) -> Reading<Vec<String>> {
    let apis = match requested {
        Reading::Known(apis) => apis,
        Reading::NotChecked(reason) => return Reading::NotChecked(reason.clone()),
    };
    let Some(target) = target else {
        return Reading::NotChecked("The version of the template is not known.".to_owned());
    };
    let removed = apis
        .iter()
        .filter(|api| api.removed_in <= (target.major, target.minor));
    Reading::Known(removed.map(DeprecatedApi::in_words).collect())
}

/// Reads `1.25`.
fn release(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
