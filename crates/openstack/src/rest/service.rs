//! The services, and what differs between their addresses.
use std::fmt;
use url::Url;

/// An OpenStack service with a client here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    Magnum,
    Nova,
    Neutron,
    Cinder,
    Octavia,
    Glance,
    Heat,
}

impl Service {
    /// Every service, for tables and tests.
    pub const ALL: [Self; 7] = [
        Self::Magnum,
        Self::Nova,
        Self::Neutron,
        Self::Cinder,
        Self::Octavia,
        Self::Glance,
        Self::Heat,
    ];

    /// Returns the project's name of the service, in lower case, for metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Magnum => "magnum",
            Self::Nova => "nova",
            Self::Neutron => "neutron",
            Self::Cinder => "cinder",
            Self::Octavia => "octavia",
            Self::Glance => "glance",
            Self::Heat => "heat",
        }
    }

    /// Returns the types under which a catalogue can list the service, in the order in which they
    /// are looked for: the official one and its aliases (OpenStack's service-types-authority).
    pub fn types(self) -> &'static [&'static str] {
        match self {
            Self::Magnum => &[
                "container-infrastructure-management",
                "container-infra",
                "container-infrastructure",
            ],
            Self::Nova => &["compute"],
            Self::Neutron => &["network"],
            // `volumev2` is another API, and `volume` was once the first version
            Self::Cinder => &["block-storage", "volumev3", "block-store"],
            Self::Octavia => &["load-balancer"],
            Self::Glance => &["image"],
            Self::Heat => &["orchestration"],
        }
    }

    /// Returns the URL below which the service's calls are, from the endpoint in a catalogue. An
    /// endpoint with or without the API's version is accepted.
    pub(crate) fn base(self, endpoint: &Url, project_id: &str) -> Url {
        let mut base = endpoint.clone();
        base.set_query(None);
        base.set_fragment(None);
        let mut path = base.path().trim_end_matches('/').to_owned();
        let (versions, missing): (&[&str], String) = match self {
            Self::Magnum => (&["v1"], "v1".to_owned()),
            Self::Nova => (&["v2.1", "v2"], "v2.1".to_owned()),
            Self::Neutron => (&["v2.0"], "v2.0".to_owned()),
            Self::Cinder => (&["v3"], format!("v3/{project_id}")),
            Self::Octavia => (&["v2", "v2.0"], "v2".to_owned()),
            Self::Glance => (&["v2"], "v2".to_owned()),
            Self::Heat => (&["v1"], format!("v1/{project_id}")),
        };
        if !path.split('/').any(|segment| versions.contains(&segment)) {
            path = format!("{path}/{missing}");
        }
        base.set_path(&path);
        base
    }

    /// Returns the path of the service below the cloud API of Portico's gateway (ADR 0026): a type of the
    /// service, and the version of its API.
    pub fn gateway_path(self) -> &'static str {
        match self {
            Self::Magnum => "container-infra/v1",
            Self::Nova => "compute/v2.1",
            Self::Neutron => "network/v2.0",
            Self::Cinder => "block-storage/v3",
            Self::Octavia => "load-balancer/v2",
            Self::Glance => "image/v2",
            Self::Heat => "orchestration/v1",
        }
    }

    /// Returns the URL of the document with the versions of an API, from [`Self::base`].
    pub(crate) fn versions(base: &Url) -> Url {
        let mut root = base.clone();
        let path = base.path().trim_end_matches('/');
        root.set_path(&format!("{}/", path.strip_suffix("/v1").unwrap_or(path)));
        root
    }
}

impl fmt::Display for Service {
    /// Writes the service's name, as users and operators know it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magnum => "Magnum",
            Self::Nova => "Nova",
            Self::Neutron => "Neutron",
            Self::Cinder => "Cinder",
            Self::Octavia => "Octavia",
            Self::Glance => "Glance",
            Self::Heat => "Heat",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_with_or_without_a_version_leads_to_the_same_place() {
        for (service, endpoint, base) in [
            (Service::Magnum, "http://m:9511", "http://m:9511/v1"),
            (Service::Magnum, "http://m:9511/v1/", "http://m:9511/v1"),
            (
                Service::Magnum,
                "https://c/magnum/v1",
                "https://c/magnum/v1",
            ),
            (Service::Nova, "https://c/compute", "https://c/compute/v2.1"),
            (Service::Nova, "https://c/v2.1/p", "https://c/v2.1/p"),
            (Service::Neutron, "http://n:9696/", "http://n:9696/v2.0"),
            (
                Service::Cinder,
                "https://c/volume/v3",
                "https://c/volume/v3",
            ),
            (Service::Cinder, "https://c:8776", "https://c:8776/v3/p"),
            (Service::Octavia, "http://o:9876", "http://o:9876/v2"),
            (
                Service::Octavia,
                "http://o/load-balancer/v2.0",
                "http://o/load-balancer/v2.0",
            ),
            (Service::Glance, "http://g:9292?x=1", "http://g:9292/v2"),
            (Service::Heat, "http://h:8004", "http://h:8004/v1/p"),
            (Service::Heat, "http://h:8004/v1/p", "http://h:8004/v1/p"),
        ] {
            let found = service.base(&endpoint.parse().unwrap(), "p");
            assert_eq!(found.as_str(), base, "{endpoint}");
        }
    }

    #[test]
    fn a_path_at_the_gateway_is_a_base() {
        for service in Service::ALL {
            let path = service.gateway_path();
            let url = format!("https://portico.example.org/projects/p/cloud/{path}");
            assert_eq!(service.base(&url.parse().unwrap(), "p").as_str(), url);
            let (service_type, _) = path.split_once('/').unwrap();
            assert!(
                service.types().contains(&service_type),
                "{service_type} is in no catalogue"
            );
        }
    }
}
