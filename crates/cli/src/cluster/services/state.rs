//! The state of each service, from the workloads of a cluster.
use super::known::{ManagedService, recognise};
use super::workload::Workload;
use crate::cluster::exit_code;
use crate::output::TableRow;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The workloads that the user may see.
#[derive(Debug, Default)]
pub struct Seen {
    pub workloads: Vec<Workload>,
    /// What could not be read; what is in it may exist.
    pub gaps: Vec<String>,
}

/// The state of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All pods of its workloads are ready.
    Running,
    Degraded,
    /// All its workloads are scaled to 0.
    Stopped,
    Absent,
    /// It was not found, in what could be read.
    NotChecked,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Degraded => "degraded",
            Self::Stopped => "stopped",
            Self::Absent => "absent",
            Self::NotChecked => "not checked",
        }
    }
}

/// A workload of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkloadView {
    pub service: &'static str,
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    pub ready: u64,
    pub wanted: u64,
    pub version: Option<String>,
}

impl TableRow for WorkloadView {
    const HEADINGS: &'static [&'static str] =
        &["SERVICE", "KIND", "NAMESPACE", "NAME", "READY", "VERSION"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.service.to_owned(),
            self.kind.to_owned(),
            self.namespace.clone(),
            self.name.clone(),
            format!("{}/{}", self.ready, self.wanted),
            self.version.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServiceView {
    pub name: &'static str,
    pub state: State,
    pub software: BTreeSet<&'static str>,
    pub namespaces: BTreeSet<String>,
    pub workloads: Vec<WorkloadView>,
}

impl TableRow for ServiceView {
    const HEADINGS: &'static [&'static str] =
        &["SERVICE", "STATE", "READY", "NAMESPACES", "SOFTWARE"];

    fn cells(&self) -> Vec<String> {
        let workloads = &self.workloads;
        let ready = workloads
            .iter()
            .filter(|one| one.ready >= one.wanted)
            .count();
        let or_dash = |text: String| {
            if text.is_empty() {
                "-".to_owned()
            } else {
                text
            }
        };
        let namespaces: Vec<_> = self.namespaces.iter().map(String::as_str).collect();
        let software: Vec<_> = self.software.iter().copied().collect();
        vec![
            self.name.to_owned(),
            self.state.word().to_owned(),
            format!("{ready}/{}", workloads.len()),
            or_dash(namespaces.join(", ")),
            or_dash(software.join(", ")),
        ]
    }
}

/// Returns all services, also absent ones.
pub fn services(seen: &Seen) -> Vec<ServiceView> {
    let mut found: BTreeMap<ManagedService, Vec<(&Workload, &'static str)>> = BTreeMap::new();
    for workload in &seen.workloads {
        if let Some((service, software)) = recognise(workload) {
            found.entry(service).or_default().push((workload, software));
        }
    }
    let of = |service: ManagedService| {
        let mut own = found.get(&service).cloned().unwrap_or_default();
        own.sort_by(|(a, _), (b, _)| {
            (&a.namespace, a.kind, &a.name).cmp(&(&b.namespace, b.kind, &b.name))
        });
        ServiceView {
            name: service.name(),
            state: state(&own, seen.gaps.is_empty()),
            software: own.iter().map(|(_, software)| *software).collect(),
            namespaces: own.iter().map(|(one, _)| one.namespace.clone()).collect(),
            workloads: own.iter().map(|(one, _)| view(service, one)).collect(),
        }
    };
    ManagedService::ALL.into_iter().map(of).collect()
}

fn state(own: &[(&Workload, &'static str)], is_complete: bool) -> State {
    if own.is_empty() {
        return if is_complete {
            State::Absent
        } else {
            State::NotChecked
        };
    }
    if own.iter().all(|(one, _)| one.wanted == 0) {
        State::Stopped
    } else if own.iter().all(|(one, _)| one.is_ready()) {
        State::Running
    } else {
        State::Degraded
    }
}

fn view(service: ManagedService, workload: &Workload) -> WorkloadView {
    WorkloadView {
        service: service.name(),
        kind: workload.kind.name(),
        namespace: workload.namespace.clone(),
        name: workload.name.clone(),
        ready: workload.ready,
        wanted: workload.wanted,
        version: workload.version.clone(),
    }
}

/// Returns the exit code of `status`: a service that was asked for by its name must run, the others must not
/// be degraded.
pub fn exit_code(services: &[ServiceView], is_named: bool) -> u8 {
    let is_acceptable = |service: &ServiceView| match service.state {
        State::Running => true,
        State::Degraded => false,
        State::Stopped | State::Absent | State::NotChecked => !is_named,
    };
    if services.iter().all(is_acceptable) {
        0
    } else {
        exit_code::NEGATIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::services::workload::Kind;

    fn workload(namespace: &str, name: &str, ready: u64, wanted: u64) -> Workload {
        Workload {
            kind: Kind::Deployment,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            called: Vec::new(),
            version: None,
            ready,
            wanted,
        }
    }

    fn seen() -> Seen {
        Seen {
            workloads: vec![
                workload("monitoring", "prometheus", 1, 1),
                workload("monitoring", "grafana", 0, 1),
                workload("ingress-nginx", "ingress-nginx-controller", 2, 2),
                workload("registry", "registry", 0, 0),
                workload("shop", "shop", 1, 1),
            ],
            gaps: Vec::new(),
        }
    }

    #[test]
    fn a_service_runs_when_all_its_workloads_are_ready() {
        let found = services(&seen());
        let states: Vec<_> = found.iter().map(|one| (one.name, one.state)).collect();
        assert_eq!(
            states,
            [
                ("monitoring", State::Degraded),
                ("logging", State::Absent),
                ("registry", State::Stopped),
                ("ingress", State::Running),
                ("backup", State::Absent),
            ]
        );
        assert_eq!(
            found[0].cells(),
            [
                "monitoring",
                "degraded",
                "1/2",
                "monitoring",
                "grafana, prometheus"
            ]
        );
        assert_eq!(found[1].cells(), ["logging", "absent", "0/0", "-", "-"]);
        assert_eq!(found[0].workloads[0].cells()[3], "grafana");
    }

    #[test]
    fn what_could_not_be_read_is_not_taken_for_absent() {
        let mut seen = seen();
        seen.gaps.push("Deployments".to_owned());
        let found = services(&seen);
        assert_eq!(found[1].state, State::NotChecked);
        assert_eq!(found[3].state, State::Running);
    }

    #[test]
    fn a_degraded_service_and_a_named_one_that_does_not_run_end_with_one() {
        let found = services(&seen());
        assert_eq!(exit_code(&found, false), 1);
        assert_eq!(exit_code(&found[1..], false), 0);
        for (service, code) in [(1, 1), (2, 1), (3, 0)] {
            let named = &found[service..=service];
            assert_eq!(exit_code(named, true), code, "{named:?}");
        }
    }
}
