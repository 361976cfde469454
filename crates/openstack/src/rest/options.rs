//! Settings of the clients, and the choice of an endpoint.
use super::service::Service;
use crate::http::is_private;
use crate::keystone::{Catalog, CatalogEndpoint};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How services are found and called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceOptions {
    /// The region whose endpoints are used; not needed where the catalogue has one region.
    pub region: Option<String>,
    /// `public` or `internal`.
    pub interface: String,
    /// Endpoints that replace those of the catalogue.
    pub endpoints: BTreeMap<Service, Url>,
    /// Whether plain HTTP to other machines is allowed: every observer of that network can read
    /// the tokens.
    pub allow_plain_http: bool,
    /// Certificate authorities (PEM) to trust instead of the public ones.
    pub ca_file: Option<PathBuf>,
    /// Time limit for a call that reads.
    pub timeout: Duration,
    /// Time limit for a call that changes something, or that waits for Magnum's conductor. The
    /// conductor answers within 60 s, or Magnum's API reports that it did not.
    pub change_timeout: Duration,
    pub authentication: Authentication,
}

/// How calls are authenticated, and thereby what is behind the endpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Authentication {
    /// The services themselves, with a Keystone token (`X-Auth-Token`).
    #[default]
    Keystone,
    /// Portico's gateway, with an access token of Portico (`Authorization: Bearer`). The panel calls
    /// the services with the user's own Keystone token (ADR 0026).
    Gateway {
        /// Why the user changes something, for the journal; `None`: not stated.
        reason: Option<String>,
    },
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            region: None,
            interface: "public".to_owned(),
            endpoints: BTreeMap::new(),
            allow_plain_http: false,
            ca_file: None,
            timeout: Duration::from_secs(10),
            change_timeout: Duration::from_secs(65),
            authentication: Authentication::Keystone,
        }
    }
}

/// The reason why a service cannot be called in a cloud at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The cloud does not have the service, or not for this project.
    #[error("this cloud does not offer it")]
    NotInCatalog,
    /// The service exists, but not in the configured region or under the configured interface.
    #[error("the catalogue has no {interface} endpoint for it{}", in_region(.region))]
    NotHere {
        interface: String,
        region: Option<String>,
    },
    #[error("it is in several regions ({}); configure one", .0.join(", "))]
    SeveralRegions(Vec<String>),
    #[error(
        "its endpoint is plain HTTP, and the token would cross the network in the clear; use https, or allow plain HTTP"
    )]
    PlainHttp,
}

fn in_region(region: &Option<String>) -> String {
    match region {
        Some(region) => format!(" in region {region}"),
        None => String::new(),
    }
}

impl ServiceOptions {
    /// Returns the URL below which the calls of `service` are, for a project's token.
    ///
    /// # Errors
    /// If the catalogue has no such endpoint or several, or it may not be used.
    pub fn endpoint(
        &self,
        service: Service,
        catalog: &Catalog,
        project_id: &str,
    ) -> Result<Url, EndpointError> {
        let endpoint = match self.endpoints.get(&service) {
            Some(url) => url,
            None => self.choose(service, catalog)?,
        };
        if !self.allow_plain_http && !is_private(endpoint) {
            return Err(EndpointError::PlainHttp);
        }
        Ok(service.base(endpoint, project_id))
    }

    fn choose<'a>(&self, service: Service, catalog: &'a Catalog) -> Result<&'a Url, EndpointError> {
        let mut listed = false;
        for service_type in service.types() {
            let of_type = |endpoint: &&CatalogEndpoint| endpoint.service_type == *service_type;
            listed |= catalog.endpoints.iter().any(|endpoint| of_type(&endpoint));
            let matching: Vec<_> = catalog
                .endpoints
                .iter()
                .filter(of_type)
                .filter(|endpoint| endpoint.interface == self.interface)
                .filter(|endpoint| self.region.is_none() || endpoint.region == self.region)
                .collect();
            let regions: BTreeSet<_> = matching.iter().map(|endpoint| &endpoint.region).collect();
            if regions.len() > 1 {
                let names = regions.into_iter().flatten().cloned();
                return Err(EndpointError::SeveralRegions(names.collect()));
            }
            if let Some(endpoint) = matching.first() {
                return Ok(&endpoint.url);
            }
        }
        Err(if listed {
            EndpointError::NotHere {
                interface: self.interface.clone(),
                region: self.region.clone(),
            }
        } else {
            EndpointError::NotInCatalog
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(endpoints: &[(&str, &str, &str, &str)]) -> Catalog {
        let endpoint =
            |&(service_type, interface, region, url): &(&str, &str, &str, &str)| CatalogEndpoint {
                service_type: service_type.to_owned(),
                interface: interface.to_owned(),
                region: Some(region.to_owned()),
                url: url.parse().unwrap(),
            };
        Catalog {
            endpoints: endpoints.iter().map(endpoint).collect(),
        }
    }

    fn endpoint(options: &ServiceOptions, catalog: &Catalog) -> Result<String, EndpointError> {
        let url = options.endpoint(Service::Magnum, catalog, "p")?;
        Ok(url.to_string())
    }

    #[test]
    fn the_endpoint_of_the_configured_region_and_interface_is_used() {
        let catalog = catalog(&[
            ("compute", "public", "one", "https://nova.example.org"),
            (
                "container-infra",
                "internal",
                "one",
                "https://m.internal/v1",
            ),
            (
                "container-infra",
                "public",
                "one",
                "https://one.example.org/v1",
            ),
            (
                "container-infra",
                "public",
                "two",
                "https://two.example.org/v1",
            ),
        ]);
        let mut options = ServiceOptions::default();
        let several = vec!["one".to_owned(), "two".to_owned()];
        assert_eq!(
            endpoint(&options, &catalog),
            Err(EndpointError::SeveralRegions(several))
        );
        options.region = Some("two".to_owned());
        assert_eq!(
            endpoint(&options, &catalog).unwrap(),
            "https://two.example.org/v1"
        );
        options.interface = "internal".to_owned();
        let error = endpoint(&options, &catalog).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the catalogue has no internal endpoint for it in region two"
        );
        let own = "https://own.example.org".parse().unwrap();
        options.endpoints.insert(Service::Magnum, own);
        assert_eq!(
            endpoint(&options, &catalog).unwrap(),
            "https://own.example.org/v1"
        );
    }

    #[test]
    fn a_cloud_without_the_service_is_not_a_wrong_region() {
        let catalog = catalog(&[("compute", "public", "one", "https://nova.example.org")]);
        let result = endpoint(&ServiceOptions::default(), &catalog);
        assert_eq!(result, Err(EndpointError::NotInCatalog));
    }

    #[test]
    fn a_token_is_not_sent_in_the_clear_unless_that_is_allowed() {
        let catalog = catalog(&[("container-infra", "public", "one", "http://m.example.org")]);
        let mut options = ServiceOptions::default();
        assert_eq!(endpoint(&options, &catalog), Err(EndpointError::PlainHttp));
        options.allow_plain_http = true;
        assert_eq!(
            endpoint(&options, &catalog).unwrap(),
            "http://m.example.org/v1"
        );
    }
}
