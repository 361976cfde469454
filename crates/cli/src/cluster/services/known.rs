//! The managed services, and by what they are recognised.
use super::workload::Workload;
use clap::ValueEnum;

/// A managed service of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum ManagedService {
    /// Prometheus, Alertmanager, Grafana and their exporters
    Monitoring,
    /// Loki, Fluent Bit, Fluentd, OpenSearch and others
    Logging,
    /// Harbor, Distribution and Zot
    Registry,
    /// ingress-nginx, Traefik, HAProxy, Contour, and Octavia's controller
    Ingress,
    /// Velero and K8up
    Backup,
}

/// Namespaces in which a workload is recognised by its name too.
pub const NAMESPACES: [&str; 17] = [
    "kube-system",
    "monitoring",
    "monitoring-system",
    "prometheus",
    "logging",
    "logging-system",
    "loki",
    "registry",
    "harbor",
    "ingress",
    "ingress-nginx",
    "ingress-system",
    "traefik",
    "haproxy-controller",
    "projectcontour",
    "velero",
    "k8up",
];

impl ManagedService {
    pub const ALL: [Self; 5] = [
        Self::Monitoring,
        Self::Logging,
        Self::Registry,
        Self::Ingress,
        Self::Backup,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monitoring => "monitoring",
            Self::Logging => "logging",
            Self::Registry => "registry",
            Self::Ingress => "ingress",
            Self::Backup => "backup",
        }
    }

    /// Returns the names of its software, as labels and workloads have them.
    fn software(self) -> &'static [&'static str] {
        match self {
            Self::Monitoring => &[
                "prometheus",
                "kube-prometheus-stack",
                "kube-prometheus",
                "prometheus-operator",
                "prometheus-node-exporter",
                "alertmanager",
                "grafana",
                "kube-state-metrics",
                "node-exporter",
            ],
            Self::Logging => &[
                "loki",
                "promtail",
                "alloy",
                "fluent-bit",
                "fluentd",
                "logging-operator",
                "opensearch",
                "elasticsearch",
            ],
            Self::Registry => &["harbor", "docker-registry", "registry", "zot"],
            Self::Ingress => &[
                "ingress-nginx",
                "nginx-ingress",
                "nginx-ingress-controller",
                "traefik",
                "ingress-traefik",
                "haproxy-ingress",
                "kubernetes-ingress",
                "contour",
                "octavia-ingress-controller",
            ],
            Self::Backup => &["velero", "k8up"],
        }
    }
}

/// Returns the service that a workload belongs to, and its software. A label names it in every namespace; the
/// workload's own name counts in [`NAMESPACES`] only, because users choose names like these too.
pub fn recognise(workload: &Workload) -> Option<(ManagedService, &'static str)> {
    let by_label = |software: &str| workload.called.iter().any(|called| called == software);
    let is_known_place = NAMESPACES.contains(&workload.namespace.as_str());
    let by_name = |software: &str| {
        let rest = workload.name.strip_prefix(software);
        is_known_place && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    find(by_label).or_else(|| find(by_name))
}

fn find(is_it: impl Fn(&str) -> bool) -> Option<(ManagedService, &'static str)> {
    ManagedService::ALL.into_iter().find_map(|service| {
        let mut software = service.software().iter();
        let found = software.find(|software| is_it(software))?;
        Some((service, *found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::services::workload::Kind;

    fn workload(namespace: &str, name: &str, called: &[&str]) -> Workload {
        Workload {
            kind: Kind::Deployment,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            called: called.iter().map(|one| (*one).to_owned()).collect(),
            version: None,
            ready: 1,
            wanted: 1,
        }
    }

    #[test]
    fn a_service_is_recognised_by_label_everywhere_and_by_name_in_its_place() {
        use ManagedService::{Backup, Ingress, Logging, Monitoring, Registry};
        for (namespace, name, called, expected) in [
            ("shop", "mon-grafana", vec!["grafana"], Some(Monitoring)),
            ("monitoring", "prometheus-k8s", vec![], Some(Monitoring)),
            ("monitoring-system", "loki-stack", vec![], Some(Logging)),
            ("harbor", "harbor-core", vec!["harbor"], Some(Registry)),
            (
                "kube-system",
                "octavia-ingress-controller",
                vec![],
                Some(Ingress),
            ),
            (
                "ingress-nginx",
                "ingress-nginx-controller",
                vec![],
                Some(Ingress),
            ),
            ("velero", "velero", vec![], Some(Backup)),
            ("backups", "nightly", vec!["velero"], Some(Backup)),
            // a name of a user's own
            ("shop", "registry-frontend", vec![], None),
            ("shop", "grafana", vec!["shop"], None),
            ("kube-system", "lokis", vec![], None),
            ("kube-system", "coredns", vec!["kube-dns"], None),
        ] {
            let found = recognise(&workload(namespace, name, &called));
            assert_eq!(found.map(|(service, _)| service), expected, "{name}");
        }
    }

    #[test]
    fn the_names_are_those_of_the_command_line() {
        for service in ManagedService::value_variants() {
            let read = ManagedService::from_str(service.name(), false);
            assert_eq!(read, Ok(*service));
        }
        assert_eq!(
            ManagedService::value_variants().len(),
            ManagedService::ALL.len()
        );
    }
}
