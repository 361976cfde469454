//! States and health of clusters in words.
use portico_domain::panel::{Health, lifecycle::HealthPart};
use portico_lifecycle::driver::{Driver, Evidence, Family};
use portico_lifecycle::status::{Activity, Phase, Status};
use portico_openstack::magnum::HealthStatus;
use std::collections::BTreeMap;

/// Maximum number of reasons in one text.
const MAX_REASONS: usize = 3;

/// Returns a state of a cluster or node group in words.
pub fn state(status: &Status) -> String {
    use Activity::{Create, Delete, Rollback, Update};
    let words = match status {
        Status::Known(Create, Phase::InProgress) => "Being created",
        Status::Known(Create, Phase::Failed) => "Creation failed",
        Status::Known(Update, Phase::InProgress) => "Being changed",
        Status::Known(Update, Phase::Failed) => "Change failed",
        Status::Known(Delete, Phase::InProgress) => "Being deleted",
        Status::Known(Delete, Phase::Failed) => "Deletion failed",
        Status::Known(Delete, Phase::Complete) => "Deleted",
        Status::Known(Rollback, Phase::InProgress) => "Being rolled back",
        Status::Known(Rollback, Phase::Failed) => "Rollback failed",
        Status::Known(_, Phase::Complete) => "Running",
        Status::Known(_, Phase::InProgress) => "Busy",
        Status::Known(_, Phase::Failed) => "Failed",
        Status::Other(text) if text.is_empty() => "Requested",
        Status::Other(text) => return text.replace('_', " ").to_lowercase(),
    };
    words.to_owned()
}

/// Returns the tone of a state. A cluster that runs and whose health is bad is a warning: Magnum's
/// measure of health is not the state of the cluster.
pub fn tone(status: &Status, health: Option<&HealthStatus>, is_blocked: bool) -> Health {
    match status {
        _ if is_blocked => Health::Warning,
        Status::Known(_, Phase::Failed) => Health::Failed,
        Status::Known(_, Phase::InProgress) => Health::Progressing,
        Status::Known(_, Phase::Complete) if health == Some(&HealthStatus::Unhealthy) => {
            Health::Warning
        }
        Status::Known(_, Phase::Complete) => Health::Ok,
        Status::Other(text) if text.ends_with("_IN_PROGRESS") || text.is_empty() => {
            Health::Progressing
        }
        Status::Other(_) => Health::Unknown,
    }
}

/// Returns whether Magnum works on a cluster in this state.
pub fn is_busy(status: &Status) -> bool {
    match status {
        Status::Known(_, phase) => *phase == Phase::InProgress,
        // without a state it was just requested
        Status::Other(text) => text.is_empty() || text.ends_with("_IN_PROGRESS"),
    }
}

/// Returns the health that Magnum measured, the worst reason first.
pub fn measured_health(
    health: Option<&HealthStatus>,
    reasons: &BTreeMap<String, String>,
) -> String {
    let words = health_status(health);
    if matches!(health, None | Some(HealthStatus::Healthy)) {
        return words;
    }
    // the API concerns all users of the cluster, a node only some
    let (of_api, of_others): (Vec<_>, Vec<_>) = reasons
        .iter()
        .filter(|(_, text)| !is_good(text))
        .partition(|(part, _)| part.as_str() == "api");
    let bad: Vec<_> = of_api.into_iter().chain(of_others).collect();
    let mut texts: Vec<_> = bad
        .iter()
        .take(MAX_REASONS)
        .map(|(part, text)| reason(part, text))
        .collect();
    if bad.len() > MAX_REASONS {
        texts.push(format!("{} more", bad.len() - MAX_REASONS));
    }
    if texts.is_empty() {
        return words;
    }
    format!("{words}: {}", texts.join("; "))
}

/// Returns Magnum's word for the health of a cluster in words, without its reasons.
pub fn health_status(health: Option<&HealthStatus>) -> String {
    let words = match health {
        None => "Not measured",
        Some(HealthStatus::Healthy) => "Healthy",
        Some(HealthStatus::Unhealthy) => "Unhealthy",
        Some(HealthStatus::Unknown) => "Not known",
        Some(HealthStatus::Other(word)) => word.as_str(),
    };
    words.to_owned()
}

/// Returns the tone of Magnum's word. It is a warning at most: the word may be old, and whether the
/// cluster works is another question.
pub fn health_tone(health: Option<&HealthStatus>) -> Health {
    match health {
        Some(HealthStatus::Healthy) => Health::Ok,
        Some(HealthStatus::Unhealthy) => Health::Warning,
        None | Some(HealthStatus::Unknown | HealthStatus::Other(_)) => Health::Unknown,
    }
}

/// Returns what Magnum reports about each part, the bad ones first.
pub fn health_parts(reasons: &BTreeMap<String, String>) -> Vec<HealthPart> {
    let mut parts: Vec<_> = reasons
        .iter()
        .map(|(part, text)| health_part(part, text))
        .collect();
    // stable: within each half the API server and the nodes stay in the order of their names
    parts.sort_by_key(|part| part.is_good);
    parts
}

/// Returns what Magnum reports about one part.
pub fn health_part(part: &str, text: &str) -> HealthPart {
    let is_good = is_good(text);
    let (name, words) = match (part, part.strip_suffix(".Ready")) {
        ("api", _) => ("API server", text),
        (_, Some(node)) if is_good => (node, "ready"),
        (_, Some(node)) if text.eq_ignore_ascii_case("false") => (node, "not ready"),
        (_, Some(node)) => (node, text),
        (other, None) => (other, text),
    };
    HealthPart {
        name: name.to_owned(),
        text: words.to_owned(),
        is_good,
    }
}

/// Returns a driver in words, with what it means that it is not known.
pub fn driver(driver: Driver) -> String {
    let name = driver.family.name();
    if driver.family == Family::Unknown {
        return format!("{name} (what it supports is not verified, and the CA is not rotated)");
    }
    match driver.evidence {
        Evidence::Nothing | Evidence::TemplateField | Evidence::Configuration => name.to_owned(),
        Evidence::ClusterId | Evidence::Label | Evidence::Distribution => {
            format!("{name} (concluded, this Magnum does not name it)")
        }
    }
}

/// Returns what it means for a template that its driver is not known, and the remedy; `None` if it is
/// known.
pub fn unknown_driver(driver: Driver) -> Option<String> {
    if driver.family != Family::Unknown {
        return None;
    }
    let remedy = match driver.evidence {
        Evidence::Nothing => "This Magnum does not name the drivers of its templates.",
        _ => "The operator can describe the driver in magnum.drivers of the configuration.",
    };
    Some(format!(
        "Portico does not know this driver: what it supports is not verified, and the CA is not rotated, \
         because with some drivers that damages the cluster's record. {remedy}"
    ))
}

/// Returns whether Magnum's text about a part means that it works.
pub fn is_good(text: &str) -> bool {
    ["ok", "true", "ready"].contains(&text.trim().to_lowercase().as_str())
}

fn reason(part: &str, text: &str) -> String {
    match part.strip_suffix(".Ready") {
        Some(node) if text.eq_ignore_ascii_case("false") => format!("{node} is not ready"),
        _ => format!("{part}: {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_45_the_worst_reason_of_bad_health_is_first_and_in_words() {
        let reasons = [
            ("api", "error"),
            ("node-0.Ready", "True"),
            ("node-1.Ready", "False"),
        ];
        let reasons = reasons.map(|(part, text)| (part.to_owned(), text.to_owned()));
        let text = measured_health(Some(&HealthStatus::Unhealthy), &BTreeMap::from(reasons));
        assert_eq!(text, "Unhealthy: api: error; node-1 is not ready");
    }

    #[test]
    fn case_46_health_that_is_not_measured_is_not_a_failure() {
        assert_eq!(measured_health(None, &BTreeMap::new()), "Not measured");
        let complete = Status::parse("CREATE_COMPLETE");
        assert_eq!(tone(&complete, None, false), Health::Ok);
        let unhealthy = HealthStatus::Unhealthy;
        assert_eq!(tone(&complete, Some(&unhealthy), false), Health::Warning);
    }

    #[test]
    fn parts_are_in_words_and_the_bad_ones_first() {
        let reasons = [
            ("api", "ok"),
            ("node-0.Ready", "True"),
            ("node-1.Ready", "False"),
            ("node-2.Ready", "Unknown"),
        ];
        let reasons = reasons.map(|(part, text)| (part.to_owned(), text.to_owned()));
        let parts: Vec<_> = health_parts(&BTreeMap::from(reasons))
            .into_iter()
            .map(|part| (part.name, part.text, part.is_good))
            .collect();
        let part = |name: &str, text: &str, is_good| (name.to_owned(), text.to_owned(), is_good);
        assert_eq!(
            parts,
            [
                part("node-1", "not ready", false),
                part("node-2", "Unknown", false),
                part("API server", "ok", true),
                part("node-0", "ready", true),
            ]
        );
        assert_eq!(health_tone(None), Health::Unknown);
    }

    #[test]
    fn an_unknown_driver_is_explained_with_its_remedy() {
        let of = |family, evidence| Driver { family, evidence };
        let named = of(Family::Unknown, Evidence::TemplateField);
        assert!(driver(named).contains("not verified"));
        let text = unknown_driver(named).unwrap();
        assert!(text.contains("magnum.drivers"), "{text}");
        // without a name in the template, the configuration cannot describe it
        let text = unknown_driver(of(Family::Unknown, Evidence::Nothing)).unwrap();
        assert!(!text.contains("magnum.drivers"), "{text}");
        let configured = of(Family::CapiHelm, Evidence::Configuration);
        assert_eq!(driver(configured), "magnum-capi-helm");
        assert_eq!(unknown_driver(configured), None);
        let concluded = driver(of(Family::Heat, Evidence::ClusterId));
        assert!(concluded.contains("concluded"), "{concluded}");
    }

    #[test]
    fn a_state_of_another_release_is_shown_as_it_is() {
        let unknown = Status::parse("MIGRATE_IN_PROGRESS");
        assert_eq!(state(&unknown), "migrate in progress");
        assert!(is_busy(&unknown));
        assert_eq!(tone(&unknown, None, false), Health::Progressing);
    }
}
