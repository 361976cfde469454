//! The parts of a validation, what was found of each, and what that means for the exit code.
use crate::cluster::exit_code;
use crate::output::TableRow;
use clap::ValueEnum;
use serde::Serialize;

/// A part of a cluster that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Part {
    /// The API server answers this machine, with a certificate of the cluster's authority
    Api,
    /// Magnum has finished, and does not report the cluster as unhealthy
    Magnum,
    /// As many nodes are Ready as Magnum has
    Nodes,
    /// A DNS pod is Ready
    Dns,
    /// The cluster knows you as the user of the cloud (kube-auth)
    Authentication,
    /// The certificates of API server and authority are valid for a month or longer
    Certificates,
    /// A PersistentVolumeClaim is bound (--full)
    Volume,
    /// A pod answers through a Service of type LoadBalancer (--full)
    LoadBalancer,
    /// What the checks have made is deleted
    #[value(skip)]
    Cleanup,
}

impl Part {
    /// The parts for which objects are made, with `--full` only.
    pub const FULL: [Self; 2] = [Self::Volume, Self::LoadBalancer];

    /// Returns the name, as `--waive` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Magnum => "magnum",
            Self::Nodes => "nodes",
            Self::Dns => "dns",
            Self::Authentication => "authentication",
            Self::Certificates => "certificates",
            Self::Volume => "volume",
            Self::LoadBalancer => "load-balancer",
            Self::Cleanup => "cleanup",
        }
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    Failed,
    /// The part is absent, or could not be looked at.
    NotChecked,
    /// Left out by its name.
    Waived,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::NotChecked => "not checked",
            Self::Waived => "waived",
        }
    }

    /// Returns whether the cluster can still be valid.
    fn is_acceptable(self) -> bool {
        matches!(self, Self::Ok | Self::Waived)
    }
}

/// What was found of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub outcome: Outcome,
    pub text: String,
}

impl Finding {
    /// Returns that the part is as it should be.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(Outcome::Ok, text)
    }

    /// Returns what is wrong, with the next step.
    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(Outcome::Failed, text)
    }

    /// Returns why the part was not checked.
    pub fn not_checked(text: impl Into<String>) -> Self {
        Self::new(Outcome::NotChecked, text)
    }

    /// Returns that the user left the part out.
    pub fn waived() -> Self {
        Self::new(Outcome::Waived, "left out with --waive")
    }

    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
        }
    }
}

/// One part, as it is printed.
#[derive(Debug, Serialize)]
pub struct PartView {
    pub part: &'static str,
    pub result: Outcome,
    pub detail: String,
}

impl TableRow for PartView {
    const HEADINGS: &'static [&'static str] = &["PART", "RESULT", "DETAIL"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.part.to_owned(),
            self.result.word().to_owned(),
            self.detail.clone(),
        ]
    }
}

/// The result of a validation.
#[derive(Debug, Serialize)]
pub struct Report {
    pub uuid: String,
    pub name: String,
    pub is_valid: bool,
    /// Whether a volume and a load balancer were requested too.
    pub full: bool,
    pub parts: Vec<PartView>,
}

impl Report {
    /// Returns the report of findings, in the order of the parts.
    pub fn new(uuid: String, name: String, full: bool, mut found: Vec<(Part, Finding)>) -> Self {
        found.sort_by_key(|(part, _)| *part);
        Self {
            uuid,
            name,
            is_valid: found.iter().all(|(_, one)| one.outcome.is_acceptable()),
            full,
            parts: found
                .into_iter()
                .map(|(part, finding)| PartView {
                    part: part.name(),
                    result: finding.outcome,
                    detail: finding.text,
                })
                .collect(),
        }
    }

    /// Returns the exit code of the program.
    pub fn exit_code(&self) -> u8 {
        if self.is_valid {
            0
        } else {
            exit_code::NEGATIVE
        }
    }

    /// Returns the result in one or two sentences, with the next step.
    pub fn summary(&self) -> String {
        let of = |outcome: Outcome| {
            let parts = self.parts.iter().filter(|part| part.result == outcome);
            parts.map(|part| part.part).collect::<Vec<_>>()
        };
        let (failed, absent) = (of(Outcome::Failed), of(Outcome::NotChecked));
        let mut text = match (failed.is_empty(), absent.is_empty()) {
            (true, true) => format!("The cluster {} is valid.", self.name),
            (false, true) => format!("Failed: {}.", failed.join(", ")),
            (true, false) => format!("Not checked: {}.", absent.join(", ")),
            (false, false) => format!(
                "Failed: {}. Not checked: {}.",
                failed.join(", "),
                absent.join(", ")
            ),
        };
        if !absent.is_empty() {
            text.push_str(&format!(
                " If the cluster is meant to be without them, leave them out with --waive {}.",
                absent.join(",")
            ));
        }
        let needs_full = |part: &Part| absent.contains(&part.name());
        if !self.full && Part::FULL.iter().any(needs_full) {
            text.push_str(" Volumes and load balancers are checked with --full.");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(found: Vec<(Part, Finding)>) -> Report {
        Report::new("1".to_owned(), "shop".to_owned(), true, found)
    }

    #[test]
    fn a_part_that_failed_or_was_not_checked_makes_the_exit_code_one() {
        let ok = || (Part::Api, Finding::ok("answers"));
        for (second, code) in [
            (Finding::ok("2 of 2"), 0),
            (Finding::waived(), 0),
            (Finding::failed("1 of 2"), 1),
            (Finding::not_checked("there is none"), 1),
        ] {
            let report = report(vec![ok(), (Part::Dns, second.clone())]);
            assert_eq!(report.exit_code(), code, "{second:?}");
            assert_eq!(report.is_valid, code == 0);
        }
    }

    #[test]
    fn the_summary_names_the_parts_and_the_way_to_leave_them_out() {
        let found = vec![
            (Part::LoadBalancer, Finding::not_checked("none")),
            (Part::Nodes, Finding::failed("1 of 2")),
            (Part::Dns, Finding::not_checked("none")),
        ];
        let report = report(found);
        assert_eq!(
            report.summary(),
            "Failed: nodes. Not checked: dns, load-balancer. If the cluster is meant to be without them, \
             leave them out with --waive dns,load-balancer."
        );
        let names: Vec<_> = report.parts.iter().map(|part| part.part).collect();
        assert_eq!(names, ["nodes", "dns", "load-balancer"]);
    }

    #[test]
    fn a_report_without_full_names_what_full_checks_unless_it_is_waived() {
        let report_of = |volume: Finding| {
            let found = vec![(Part::Api, Finding::ok("answers")), (Part::Volume, volume)];
            Report::new("1".to_owned(), "shop".to_owned(), false, found)
        };
        assert_eq!(
            report_of(Finding::not_checked("needs --full")).summary(),
            "Not checked: volume. If the cluster is meant to be without them, leave them out with --waive \
             volume. Volumes and load balancers are checked with --full."
        );
        let waived = report_of(Finding::waived()).summary();
        assert_eq!(waived, "The cluster shop is valid.");
    }

    #[test]
    fn every_part_but_the_removal_can_be_left_out_by_its_name() {
        for part in Part::value_variants() {
            assert_eq!(Part::from_str(part.name(), false), Ok(*part));
        }
        assert!(Part::from_str(Part::Cleanup.name(), false).is_err());
    }

    #[test]
    fn programs_get_the_words_of_the_results() {
        let report = report(vec![(Part::Volume, Finding::not_checked("none"))]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["parts"][0]["result"], "not_checked");
        assert_eq!(json["parts"][0]["part"], "volume");
        assert_eq!(json["is_valid"], false);
    }
}
