//! Certificates and credentials of clusters.
//!
//! Private keys have no place here: a certificate request is made where its key is, and only the
//! request is sent.
use super::client::Client;
use super::version::Feature;
use crate::rest::{Call, Error, ErrorKind, ScopedToken, Service};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

/// The beginning of a certificate in PEM.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// Which of a cluster's authorities. It is typed, because Magnum takes any other word for
/// `kubernetes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Authority {
    Kubernetes,
    Etcd,
    FrontProxy,
}

impl Authority {
    /// Returns Magnum's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::Etcd => "etcd",
            Self::FrontProxy => "front-proxy",
        }
    }
}

#[derive(Deserialize)]
struct CertificateAnswer {
    pem: String,
}

impl CertificateAnswer {
    fn pem(self) -> Result<String, ErrorKind> {
        match self.pem.contains(CERTIFICATE) {
            true => Ok(self.pem),
            false => Err(ErrorKind::Malformed("no certificate in PEM")),
        }
    }
}

impl Client {
    /// Returns the certificate of a cluster's authority, in PEM. By Magnum's default policy only
    /// the cluster's creator may read it.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`] for other users, [`ErrorKind::NotFound`] without such a cluster.
    pub async fn authority(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        authority: Authority,
    ) -> Result<String, Error> {
        let mut call = Call::get("authority", format!("certificates/{cluster}"));
        call.is_slow = true;
        if authority != Authority::Kubernetes {
            call = call.with_query("ca_cert_type", authority.as_str());
        }
        self.run(token, &[], call, |answer| {
            let answer: CertificateAnswer = answer.json(&[StatusCode::OK])?;
            answer.pem()
        })
        .await
    }

    /// Has a certificate request (PEM) signed by a cluster's authority, and returns the certificate
    /// in PEM. It is valid for five years, and cannot be revoked but by a rotation of the
    /// authority. Magnum takes the subject as it is. By its default policy only the cluster's
    /// creator may do this.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a request that Magnum cannot read, and also, from Magnum, for a
    /// cluster that does not exist; [`ErrorKind::Forbidden`] for other users.
    pub async fn sign_certificate(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
        request: &str,
        authority: Authority,
    ) -> Result<String, Error> {
        if request.contains("PRIVATE KEY-----") {
            let kind = ErrorKind::Invalid("a private key is never sent".to_owned());
            return Err(Error::new(Service::Magnum, "sign_certificate", kind));
        }
        let mut body = json!({ "cluster_uuid": cluster, "csr": request });
        if authority != Authority::Kubernetes {
            body["ca_cert_type"] = json!(authority.as_str());
        }
        let call = Call::new("sign_certificate", Method::POST, "certificates").with_body(body);
        self.run(token, &[], call, |answer| {
            let answer: CertificateAnswer = answer.json(&[StatusCode::CREATED, StatusCode::OK])?;
            answer.pem()
        })
        .await
    }

    /// Requests new authorities for a cluster. **Never call it for a driver of Cluster API**:
    /// Magnum records the new authorities before it asks the driver, which refuses, and the
    /// cluster does not know them.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] before 1.5, [`ErrorKind::Invalid`] in other states and with
    /// drivers that cannot.
    pub async fn rotate_authorities(
        &self,
        token: &ScopedToken,
        cluster: Uuid,
    ) -> Result<(), Error> {
        let path = format!("certificates/{cluster}");
        let call = Call::new("rotate_authorities", Method::PATCH, path);
        self.command(token, &[Feature::CaRotation], call).await
    }

    /// Requests a new credential for the cluster's access to the cloud; some drivers make the
    /// token's user the cluster's owner by it.
    ///
    /// # Errors
    /// [`ErrorKind::NotAvailable`] before 1.12, [`ErrorKind::Invalid`] with drivers that cannot.
    pub async fn rotate_credential(&self, token: &ScopedToken, cluster: Uuid) -> Result<(), Error> {
        let path = format!("credentials/{cluster}");
        let call = Call::new("rotate_credential", Method::PATCH, path);
        self.command(token, &[Feature::CredentialRotation], call)
            .await
    }
}
