//! One cluster: its record and its connection pool.
use crate::kube::KubeError;
use portico_assertion::PublicKey;
use portico_domain::{
    cluster::ClusterRecord,
    enrolled_cluster::{ClusterSource, EnrolledCluster},
};
use rustls_pki_types::{
    CertificateDer,
    pem::{self, PemObject},
};
use std::{path::Path, sync::OnceLock, time::Duration};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// A cluster with the connection pool that all users' calls share.
pub struct Cluster {
    record: ClusterRecord,
    origin: Origin,
    /// Faults are reported when the cluster is used: one invalid record must not affect the others.
    connection: OnceLock<Result<Connection, String>>,
}

/// Where a cluster's key and authority come from.
enum Origin {
    /// Files that the record names.
    Configuration,
    Enrolment(Box<Enrolled>),
}

struct Enrolled {
    cluster: EnrolledCluster,
    sealing_key: PublicKey,
}

/// The authority of an API server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority<'a> {
    /// One of the public authorities.
    Public,
    /// A file in PEM.
    File(&'a Path),
    Pem(&'a str),
}

/// What a call needs.
pub(super) struct Connection {
    pub client: kube::Client,
    pub sealing_key: PublicKey,
}

impl Cluster {
    /// Prepares a cluster of the configuration and reads its files. Must run inside the async
    /// runtime.
    pub(super) fn configured(record: ClusterRecord) -> Self {
        let cluster = Self {
            record,
            origin: Origin::Configuration,
            connection: OnceLock::new(),
        };
        // so that a fault in its files is reported at the start
        let _ = cluster.prepare();
        cluster
    }

    /// Prepares an enrolled cluster. There may be thousands, of which few are used here: its pool
    /// is made with the first call.
    pub(super) fn enrolled(cluster: EnrolledCluster, sealing_key: PublicKey) -> Self {
        let record = cluster.record();
        let connection = match certificates(CertificateDer::pem_slice_iter(cluster.ca.as_bytes())) {
            Ok(_) => OnceLock::new(),
            Err(reason) => {
                let reason = format!("ca: {reason}");
                report(&record, &reason);
                OnceLock::from(Err(reason))
            }
        };
        let enrolled = Enrolled {
            cluster,
            sealing_key,
        };
        Self {
            record,
            origin: Origin::Enrolment(Box::new(enrolled)),
            connection,
        }
    }

    pub fn record(&self) -> &ClusterRecord {
        &self.record
    }

    /// Returns the authority of the API server's certificate.
    pub fn authority(&self) -> Authority<'_> {
        match (&self.origin, &self.record.ca_file) {
            (Origin::Enrolment(enrolled), _) => Authority::Pem(&enrolled.cluster.ca),
            (Origin::Configuration, Some(path)) => Authority::File(path),
            (Origin::Configuration, None) => Authority::Public,
        }
    }

    /// Returns whether users enrolled the cluster, so that its name is not the operator's choice. An
    /// imported cluster counts as one: its API server is a tenant's too.
    pub fn is_enrolled(&self) -> bool {
        matches!(self.origin, Origin::Enrolment(_))
    }

    /// Returns whether a user enrolled the cluster from Magnum, which knows whether it still exists.
    pub fn is_of_magnum(&self) -> bool {
        match &self.origin {
            Origin::Enrolment(enrolled) => enrolled.cluster.source == ClusterSource::Magnum,
            Origin::Configuration => false,
        }
    }

    /// Returns whether the cluster was made from exactly this record and key.
    pub(super) fn is_made_from(&self, cluster: &EnrolledCluster, sealing_key: &PublicKey) -> bool {
        match &self.origin {
            Origin::Enrolment(known) => {
                known.cluster == *cluster && known.sealing_key == *sealing_key
            }
            Origin::Configuration => false,
        }
    }

    /// Returns the connection pool; makes it at the first call, inside the async runtime.
    ///
    /// # Errors
    /// [`KubeError::Unconfigured`] if a file or certificate of the record cannot be used.
    pub(super) fn connection(&self) -> Result<&Connection, KubeError> {
        self.prepare()
            .as_ref()
            .map_err(|reason| KubeError::Unconfigured(reason.clone()))
    }

    fn prepare(&self) -> &Result<Connection, String> {
        self.connection.get_or_init(|| {
            let made = self.connect();
            if let Err(reason) = &made {
                report(&self.record, reason);
            }
            made
        })
    }

    fn connect(&self) -> Result<Connection, String> {
        let sealing_key = match &self.origin {
            Origin::Enrolment(enrolled) => enrolled.sealing_key.clone(),
            Origin::Configuration => {
                PublicKey::read(&self.record.sealing_key_file).map_err(|error| error.to_string())?
            }
        };
        let url: http::Uri = self
            .record
            .api_url
            .parse()
            .map_err(|error| format!("api_url: {error}"))?;
        if url.scheme_str() != Some("https") {
            // a bearer token is never sent unencrypted
            return Err("api_url must start with https://".to_owned());
        }
        let mut config = kube::Config::new(url);
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config.default_retry = false;
        config.root_cert = self.authorities()?;
        let client = kube::Client::try_from(config).map_err(|error| error.to_string())?;
        Ok(Connection {
            client,
            sealing_key,
        })
    }

    /// Returns the certificates of the authority, as DER; `None` for the public ones.
    fn authorities(&self) -> Result<Option<Vec<Vec<u8>>>, String> {
        match self.authority() {
            Authority::Public => Ok(None),
            Authority::File(path) => {
                let named = |reason: String| format!("{}: {reason}", path.display());
                let file = CertificateDer::pem_file_iter(path)
                    .map_err(|error| named(error.to_string()))?;
                certificates(file).map(Some).map_err(named)
            }
            Authority::Pem(pem) => {
                certificates(CertificateDer::pem_slice_iter(pem.as_bytes())).map(Some)
            }
        }
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cluster").field(&self.record.id).finish()
    }
}

fn report(record: &ClusterRecord, reason: &str) {
    tracing::error!(cluster_id = %record.id, cluster_name = record.name, reason, "cluster record cannot be used");
}

/// Returns the certificates, as DER.
fn certificates(
    found: impl Iterator<Item = Result<CertificateDer<'static>, pem::Error>>,
) -> Result<Vec<Vec<u8>>, String> {
    let found = found
        .collect::<Result<Vec<_>, pem::Error>>()
        .map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Err("no certificate in it".to_owned());
    }
    Ok(found.into_iter().map(|der| der.to_vec()).collect())
}
