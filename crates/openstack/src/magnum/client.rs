//! The client, and the negotiation of versions.
use super::version::{Feature, Features, OWN};
use crate::rest::{
    Answer, Call, Collection, Error, ErrorKind, Listing, RestClient, ScopedToken, Service,
    VersionRange,
};
use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The service's type in the header that asks for a microversion.
const VERSIONED_TYPE: &str = "container-infra";
/// For how long a cloud's versions are remembered: an upgrade is noticed after it.
const VERSIONS_TTL: Duration = Duration::from_secs(300);
/// Maximum number of endpoints whose versions are remembered.
const MAX_ENDPOINTS: usize = 64;

/// A client of Magnum; cheap to clone, holds no token. Every call takes the token of the user who
/// acts, and acts in its project.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
    versions: Arc<Mutex<HashMap<Url, KnownVersions>>>,
}

#[derive(Clone, Copy, Debug)]
struct KnownVersions {
    offered: VersionRange,
    read_at: Instant,
}

#[derive(Deserialize)]
struct VersionsAnswer {
    versions: Vec<VersionEntry>,
}

#[derive(Deserialize)]
struct VersionEntry {
    id: String,
    #[serde(default)]
    min_version: Option<String>,
    #[serde(default)]
    max_version: Option<String>,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self {
            rest,
            versions: Arc::default(),
        }
    }

    /// Returns what the cloud's Magnum offers; remembered for five minutes.
    ///
    /// # Errors
    /// [`ErrorKind::Endpoint`] if the cloud has no Magnum, [`ErrorKind::Incompatible`] if it has no
    /// version in common with this client.
    pub async fn features(&self, token: &ScopedToken) -> Result<Features, Error> {
        self.features_for("features", token).await
    }

    /// Sends a call with the highest version that both know. Should another server of the same
    /// cloud refuse that version, as during an upgrade, the call is sent once more with one that
    /// it offers: a refused version has no effect.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] if the cloud lacks one of `features`; nothing is sent then.
    pub(super) async fn run<T>(
        &self,
        token: &ScopedToken,
        features: &[Feature],
        call: Call,
        understand: impl Fn(&Answer) -> Result<T, ErrorKind>,
    ) -> Result<T, Error> {
        let prepared = self.prepare(token, features, &call).await?;
        let result = self
            .rest
            .run(Service::Magnum, token, prepared, &understand)
            .await;
        if !self.learn(token, &call, &result) {
            return result;
        }
        let prepared = self.prepare(token, features, &call).await?;
        self.rest
            .run(Service::Magnum, token, prepared, &understand)
            .await
    }

    /// Returns all pages of a collection, as [`Self::run`] sends a call.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        token: &ScopedToken,
        features: &[Feature],
        call: Call,
        collection: &Collection<T>,
    ) -> Result<Listing<T>, Error> {
        let prepared = self.prepare(token, features, &call).await?;
        let result = self
            .rest
            .list(Service::Magnum, token, prepared, collection)
            .await;
        if !self.learn(token, &call, &result) {
            return result;
        }
        let prepared = self.prepare(token, features, &call).await?;
        self.rest
            .list(Service::Magnum, token, prepared, collection)
            .await
    }

    async fn prepare(
        &self,
        token: &ScopedToken,
        features: &[Feature],
        call: &Call,
    ) -> Result<Call, Error> {
        let offered = self.features_for(call.operation, token).await?;
        for feature in features {
            offered
                .check(*feature)
                .map_err(|error| Error::new(Service::Magnum, call.operation, error))?;
        }
        Ok(Call {
            version: Some(format!("{VERSIONED_TYPE} {}", offered.version)),
            ..call.clone()
        })
    }

    /// Remembers the versions with which a version was refused; returns whether they are others
    /// than those known before.
    fn learn<T>(&self, token: &ScopedToken, call: &Call, result: &Result<T, Error>) -> bool {
        let Err(error) = result else { return false };
        let ErrorKind::Incompatible(offered) = error.kind else {
            return false;
        };
        let Ok(base) = self.rest.base(Service::Magnum, call.operation, token) else {
            return false;
        };
        let before = self.known(&base);
        self.remember(base, offered);
        before != Some(offered)
    }

    async fn features_for(
        &self,
        operation: &'static str,
        token: &ScopedToken,
    ) -> Result<Features, Error> {
        let base = self.rest.base(Service::Magnum, operation, token)?;
        let offered = match self.known(&base) {
            Some(offered) => offered,
            None => {
                let offered = self.discover(token, &base).await?;
                self.remember(base, offered);
                offered
            }
        };
        Features::of(offered).ok_or_else(|| {
            let kind = ErrorKind::Incompatible(offered);
            Error::new(Service::Magnum, operation, kind)
        })
    }

    /// Reads the version document, or, where a proxy hides it, the headers of the API itself.
    /// Magnum needs no token for either.
    async fn discover(&self, token: &ScopedToken, base: &Url) -> Result<VersionRange, Error> {
        let root = Service::versions(base);
        let token = self.rest.token_of_public_call(token);
        let call = Call::get("versions", "");
        let document = self
            .rest
            .run_at(Service::Magnum, root, token, call.clone(), document)
            .await;
        match document {
            Err(error) if !matches!(error.kind, ErrorKind::Unavailable(_)) => {
                let mut api = base.clone();
                api.set_path(&format!("{}/", base.path().trim_end_matches('/')));
                let headers = |answer: &Answer| {
                    let missing = ErrorKind::Malformed("no versions in the answer");
                    answer.versions.ok_or(missing)
                };
                self.rest
                    .run_at(Service::Magnum, api, token, call, headers)
                    .await
            }
            result => result,
        }
    }

    fn known(&self, base: &Url) -> Option<VersionRange> {
        let known = *self.lock().get(base)?;
        (known.read_at.elapsed() < VERSIONS_TTL).then_some(known.offered)
    }

    fn remember(&self, base: Url, offered: VersionRange) {
        let mut versions = self.lock();
        if versions.len() >= MAX_ENDPOINTS {
            versions.clear();
        }
        let read_at = Instant::now();
        versions.insert(base, KnownVersions { offered, read_at });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Url, KnownVersions>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the version document: `{"versions": [{"id": "v1", "min_version", "max_version"}]}`. A
/// Magnum without microversions has 1.1.
fn document(answer: &Answer) -> Result<VersionRange, ErrorKind> {
    let success = [StatusCode::OK, StatusCode::MULTIPLE_CHOICES];
    let document: VersionsAnswer = answer.json(&success)?;
    let entry = document.versions.into_iter().find(|one| one.id == "v1");
    let entry = entry.ok_or(ErrorKind::Malformed("no version v1 in the answer"))?;
    let read = |text: Option<String>| match text.as_deref() {
        None | Some("") => Ok(OWN.min),
        Some(text) => text
            .parse()
            .map_err(|_| ErrorKind::Malformed("a version that cannot be read")),
    };
    Ok(VersionRange {
        min: read(entry.min_version)?,
        max: read(entry.max_version)?,
    })
}
