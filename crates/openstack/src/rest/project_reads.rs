//! What several services answer in the same format about a project: limits, quotas and zones.
use super::call::Call;
use super::client::{RestClient, ScopedToken};
use super::error::{Error, ErrorKind};
use super::is_id;
use super::paging::{Collection, Listing};
use super::service::Service;
use super::zone::{AvailabilityZone, ZonesAnswer};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The answer of Nova and Cinder to `GET limits`.
#[derive(Deserialize)]
struct LimitsAnswer<T> {
    limits: Limits<T>,
}

#[derive(Deserialize)]
struct Limits<T> {
    absolute: T,
}

/// The answer of Neutron and Octavia to a `GET` of a project's quota.
#[derive(Deserialize)]
struct QuotaAnswer<T> {
    quota: T,
}

impl RestClient {
    /// Returns the absolute limits of the token's project.
    ///
    /// # Errors
    /// If the service cannot be asked or refuses.
    pub(crate) async fn limits<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
    ) -> Result<T, Error> {
        let call = Call::get("limits", "limits");
        let answer: LimitsAnswer<T> = self.read(service, token, call).await?;
        Ok(answer.limits.absolute)
    }

    /// Returns the quota of the token's project; `path` makes the path from the project's ID.
    ///
    /// # Errors
    /// If the service cannot be asked or refuses.
    pub(crate) async fn quota<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
        path: fn(&str) -> String,
    ) -> Result<T, Error> {
        if !is_id(&token.project_id) {
            let kind = ErrorKind::Invalid("this is not the ID of a project".to_owned());
            return Err(Error::new(service, "quota", kind));
        }
        let call = Call::get("quota", path(&token.project_id));
        let answer: QuotaAnswer<T> = self.read(service, token, call).await?;
        Ok(answer.quota)
    }

    /// Returns the zones of the service.
    ///
    /// # Errors
    /// If the service cannot be asked or refuses.
    pub(crate) async fn availability_zones(
        &self,
        service: Service,
        token: &ScopedToken,
    ) -> Result<Vec<AvailabilityZone>, Error> {
        let call = Call::get("availability_zones", "os-availability-zone");
        let answer: ZonesAnswer = self.read(service, token, call).await?;
        Ok(answer.into())
    }

    /// Returns all entries below `key`, which `id` tells apart.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub(crate) async fn entries<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
        call: Call,
        key: &'static str,
        id: fn(&T) -> String,
    ) -> Result<Listing<T>, Error> {
        self.list(service, token, call, &Collection { key, id })
            .await
    }
}
