//! States and health of clusters in words.
use portico_cluster_operations::health;
use portico_domain::panel::{Health, lifecycle::HealthPart};
use portico_lifecycle::driver::{Driver, Evidence, Family};
use portico_lifecycle::status::{Activity, Phase, Status};
use portico_openstack::magnum::HealthStatus;
use std::collections::BTreeMap;

pub use health::{is_good, measured as measured_health, status as health_status};

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
    health::parts(reasons)
        .into_iter()
        .map(health_part_of)
        .collect()
}

/// Returns what Magnum reports about one part.
pub fn health_part(part: &str, text: &str) -> HealthPart {
    health_part_of(health::part(part, text))
}

fn health_part_of(part: health::Part) -> HealthPart {
    HealthPart {
        name: part.name,
        text: part.text,
        is_good: part.is_good,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_46_health_that_is_not_measured_is_not_a_failure() {
        assert_eq!(measured_health(None, &BTreeMap::new()), "Not measured");
        let complete = Status::parse("CREATE_COMPLETE");
        assert_eq!(tone(&complete, None, false), Health::Ok);
        let unhealthy = HealthStatus::Unhealthy;
        assert_eq!(tone(&complete, Some(&unhealthy), false), Health::Warning);
    }

    #[test]
    fn a_report_without_a_measure_has_no_bad_tone() {
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
