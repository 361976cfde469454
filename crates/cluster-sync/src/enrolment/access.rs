//! Access to the API server of a cluster, for one run.
use super::EnrolmentError;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Response, Uri};
use http_body_util::Limited;
use kube::{
    Client, Config,
    client::{ClientBuilder, DynBody},
};
use portico_domain::enrolled_cluster::EnrolledCluster;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use rustls_pki_types::{
    CertificateDer,
    pem::{self, PemObject as _},
};
use secrecy::SecretString;
use std::time::Duration;
use tower::util::MapResponseLayer;

/// The group that has all rights in a cluster.
const GROUP: &str = "system:masters";
const USER_PREFIX: &str = "portico:enrolment:";
/// Maximum length of a common name, in characters (X.520, `ub-common-name`).
const MAX_NAME_CHARS: usize = 64;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READ_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum size of a response, in bytes. The API server belongs to a tenant, and a list of all
/// bindings of a large cluster has a few MiB.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// A key pair that exists for one run. It has no `Debug` output.
pub(super) struct RunKey(KeyPair);

/// A certificate with its key, as a client takes them.
pub(super) struct Identity {
    certificate: String,
    key: SecretString,
}

impl RunKey {
    pub fn generate() -> Result<Self, EnrolmentError> {
        Ok(Self(KeyPair::generate()?))
    }

    /// Returns a certificate request in PEM. The cluster's audit log shows the user's ID in the name.
    /// There are no extensions: Magnum's configuration limits which ones it signs.
    pub fn request(&self, user_id: &str) -> Result<String, EnrolmentError> {
        let id = user_id.chars().take(MAX_NAME_CHARS - USER_PREFIX.len());
        let mut name = DistinguishedName::new();
        name.push(
            DnType::CommonName,
            format!("{USER_PREFIX}{}", id.collect::<String>()),
        );
        name.push(DnType::OrganizationName, GROUP);
        let mut params = CertificateParams::default();
        params.distinguished_name = name;
        Ok(params.serialize_request(&self.0)?.pem()?)
    }

    /// Returns the identity with the certificate (PEM) that was signed for it.
    pub fn identity(&self, certificate: &str) -> Identity {
        Identity {
            certificate: STANDARD.encode(certificate),
            key: SecretString::from(STANDARD.encode(self.0.serialize_pem())),
        }
    }
}

/// Checks that the API server answers at all, before Magnum signs anything for it.
///
/// # Errors
/// [`EnrolmentError::NoAnswer`] without a response.
pub(super) async fn ensure_answers(record: &EnrolledCluster) -> Result<(), EnrolmentError> {
    match client(record, None)?.apiserver_version().await {
        // a refusal is an answer: users without a credential may not read the version everywhere
        Ok(_) | Err(kube::Error::Api(_)) => Ok(()),
        Err(error) => Err(EnrolmentError::NoAnswer(Box::new(error))),
    }
}

/// Makes a client that trusts the cluster's authority only. Must run inside the async runtime.
///
/// # Errors
/// [`EnrolmentError::Client`] if the authority or the identity cannot be used.
pub(super) fn client(
    record: &EnrolledCluster,
    identity: Option<Identity>,
) -> Result<Client, EnrolmentError> {
    let config = config(record, identity)?;
    let builder = ClientBuilder::try_from(config)
        .map_err(|error| EnrolmentError::Client(error.to_string()))?;
    let limit = MapResponseLayer::new(|response: Response<Box<DynBody>>| {
        response.map(|body| Limited::new(body, MAX_RESPONSE_BYTES))
    });
    Ok(builder.with_layer(&limit).build())
}

fn config(record: &EnrolledCluster, identity: Option<Identity>) -> Result<Config, EnrolmentError> {
    let unusable = EnrolmentError::Client;
    let url: Uri = record
        .api_url
        .parse()
        .map_err(|error| unusable(format!("{}: {error}", record.api_url)))?;
    let authorities = CertificateDer::pem_slice_iter(record.ca.as_bytes())
        .map(|found| found.map(|der| der.to_vec()))
        .collect::<Result<Vec<_>, pem::Error>>()
        .map_err(|error| unusable(format!("the authority: {error}")))?;
    if authorities.is_empty() {
        return Err(unusable("the authority has no certificate".to_owned()));
    }
    let mut config = Config::new(url);
    config.root_cert = Some(authorities);
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.read_timeout = Some(READ_TIMEOUT);
    config.write_timeout = Some(READ_TIMEOUT);
    // a run is repeated as a whole
    config.default_retry = false;
    config.proxy_url = None;
    if let Some(identity) = identity {
        config.auth_info.client_certificate_data = Some(identity.certificate);
        config.auth_info.client_key_data = Some(identity.key);
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::enrolled_cluster::ClusterSource;
    use rcgen::{CertificateSigningRequestParams, DnValue};
    use secrecy::ExposeSecret as _;
    use uuid::Uuid;

    fn record(ca: &str) -> EnrolledCluster {
        EnrolledCluster {
            id: Uuid::from_u128(1),
            name: "shop".to_owned(),
            owner_project: "p1".to_owned(),
            accepted_projects: Vec::new(),
            accepted_roles: Vec::new(),
            api_url: "https://192.0.2.10:6443".to_owned(),
            ca: ca.to_owned(),
            client_ca: ca.to_owned(),
            api_audiences: vec!["https://kubernetes.default.svc".to_owned()],
            source: ClusterSource::Magnum,
        }
    }

    fn authority() -> String {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["ca".to_owned()]).unwrap();
        params.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn a_request_names_the_user_and_the_group_and_has_no_key() {
        let key = RunKey::generate().unwrap();
        // an ID of LDAP has 64 characters
        let long = "a".repeat(64);
        let cut = format!("portico:enrolment:{}", "a".repeat(46));
        for (user, expected) in [
            ("u1", "portico:enrolment:u1"),
            (long.as_str(), cut.as_str()),
        ] {
            let request = key.request(user).unwrap();
            assert!(!request.contains("PRIVATE KEY"));
            let read = CertificateSigningRequestParams::from_pem(&request).unwrap();
            let name = &read.params.distinguished_name;
            let has = |kind: DnType, text: &str| matches!(name.get(&kind), Some(DnValue::Utf8String(found)) if found == text);
            assert!(has(DnType::CommonName, expected));
            assert!(has(DnType::OrganizationName, "system:masters"));
        }
    }

    #[test]
    fn only_the_clusters_authority_is_trusted_and_nothing_is_read_from_files() {
        let ca = authority();
        let key = RunKey::generate().unwrap();
        let made = config(&record(&ca), Some(key.identity(&ca))).unwrap();
        assert_eq!(made.root_cert.as_ref().map(Vec::len), Some(1));
        assert!(!made.accept_invalid_certs && !made.default_retry);
        assert!(made.proxy_url.is_none());
        let auth = &made.auth_info;
        assert!(auth.client_key.is_none() && auth.client_certificate.is_none());
        let pem = auth.client_key_data.as_ref().unwrap().expose_secret();
        let pem = String::from_utf8(STANDARD.decode(pem).unwrap()).unwrap();
        assert!(pem.contains("PRIVATE KEY"));
        let without = config(&record(&ca), None).unwrap();
        assert!(without.auth_info.client_key_data.is_none());
    }

    #[test]
    fn an_authority_that_cannot_be_used_is_an_error() {
        for ca in ["", "-----BEGIN CERTIFICATE-----\nAAAA"] {
            let found = config(&record(ca), None);
            assert!(matches!(found, Err(EnrolmentError::Client(_))), "{ca}");
        }
    }
}
