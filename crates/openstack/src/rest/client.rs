//! The HTTP client for all services but Keystone.
use super::error::Error;
use super::metrics;
use super::options::{Authentication, ServiceOptions};
use super::service::Service;
use crate::http::{self, AuthoritiesError};
use crate::keystone::{self, Catalog};
use reqwest::{Certificate, ClientBuilder, Url};
use secrecy::SecretString;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Maximum number of concurrent calls to each service. More would wait inside the service, and each
/// would hold a connection while it hangs.
const MAX_CONCURRENT_CALLS: usize = 32;

/// A project-scoped token with its service catalogue: the argument of every call.
#[derive(Clone, Debug)]
pub struct ScopedToken {
    pub token: SecretString,
    /// The token's project.
    pub project_id: String,
    /// The catalogue for this token; valid for other tokens of the same project too.
    pub catalog: Arc<Catalog>,
}

impl ScopedToken {
    /// Reads the catalogue of a token of this project. The catalogue can be cached by project and
    /// shared with the project's other tokens.
    ///
    /// # Errors
    /// [`keystone::Error::InvalidToken`] if the token is invalid.
    pub async fn with_catalog(
        keystone: &keystone::Client,
        token: SecretString,
        project_id: impl Into<String>,
    ) -> Result<Self, keystone::Error> {
        let catalog = keystone.catalog(&token).await?;
        Ok(Self {
            token,
            project_id: project_id.into(),
            catalog: Arc::new(catalog),
        })
    }
}

/// The HTTP client of the services' clients; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct RestClient {
    pub(super) http: reqwest::Client,
    pub(super) options: Arc<ServiceOptions>,
    slots: Arc<[Semaphore; Service::ALL.len()]>,
}

/// The reason why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("the client for the cloud's services cannot be built: {0}")]
pub struct BuildError(AuthoritiesError);

impl RestClient {
    /// Makes a client with these options; sends no request yet.
    ///
    /// # Errors
    /// If the file with authorities cannot be used, or TLS not initialised.
    pub fn new(options: ServiceOptions) -> Result<Self, BuildError> {
        let authorities = match &options.ca_file {
            Some(path) => http::authorities_in(path).map_err(BuildError)?,
            None => Vec::new(),
        };
        Self::build(options, reqwest::Client::builder().no_proxy(), authorities)
    }

    /// Makes a client on a user's own machine: the proxies of its environment are used, and the
    /// authority is the pinned one (PEM) instead of [`ServiceOptions::ca_file`].
    ///
    /// # Errors
    /// If the authority cannot be used, or TLS not initialised.
    pub fn for_command_line(
        options: ServiceOptions,
        authority: Option<&str>,
    ) -> Result<Self, BuildError> {
        let authorities = match authority {
            Some(pem) => http::authorities_of(pem).map_err(BuildError)?,
            None => Vec::new(),
        };
        Self::build(options, reqwest::Client::builder(), authorities)
    }

    fn build(
        options: ServiceOptions,
        builder: ClientBuilder,
        authorities: Vec<Certificate>,
    ) -> Result<Self, BuildError> {
        metrics::describe_metrics();
        let timeout = options.timeout.max(options.change_timeout);
        let http = http::build(builder, authorities, timeout);
        Ok(Self {
            http: http.map_err(|error| BuildError(error.into()))?,
            options: Arc::new(options),
            slots: Arc::new(Service::ALL.map(|_| Semaphore::new(MAX_CONCURRENT_CALLS))),
        })
    }

    /// Returns the URL below which the calls of `service` are.
    ///
    /// # Errors
    /// If the cloud has no such service for this project.
    pub(crate) fn base(
        &self,
        service: Service,
        operation: &'static str,
        token: &ScopedToken,
    ) -> Result<Url, Error> {
        self.options
            .endpoint(service, &token.catalog, &token.project_id)
            .map_err(|error| Error::new(service, operation, error))
    }

    /// Returns the token of a call that a service answers without one. Portico's gateway answers none.
    pub(crate) fn token_of_public_call<'a>(
        &self,
        token: &'a ScopedToken,
    ) -> Option<&'a SecretString> {
        match self.options.authentication {
            Authentication::Keystone => None,
            Authentication::Gateway { .. } => Some(&token.token),
        }
    }

    /// Returns the limit on concurrent calls to a service.
    pub(super) fn slots(&self, service: Service) -> Option<&Semaphore> {
        let position = Service::ALL.iter().position(|one| *one == service)?;
        self.slots.get(position)
    }
}
