//! The authorities of a cluster: that of Kubernetes, and the other ones of its control plane.
use crate::certificate::Certificate;
use portico_openstack::{
    magnum::{Authority, Client},
    rest::{Error, ScopedToken},
};
use uuid::Uuid;

/// The certificates of a cluster's authorities, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities {
    pub kubernetes: String,
    /// `None`: Magnum did not give it.
    pub etcd: Option<String>,
    /// `None`: Magnum did not give it.
    pub front_proxy: Option<String>,
}

/// Reads all authorities of a cluster at once.
///
/// # Errors
/// Those of the authority of Kubernetes. Drivers and versions of Magnum without another one answer with
/// an error, or with that of Kubernetes: it is `None` then.
pub async fn authorities(
    magnum: &Client,
    token: &ScopedToken,
    cluster: Uuid,
) -> Result<Authorities, Error> {
    let (kubernetes, etcd, front_proxy) = tokio::join!(
        magnum.authority(token, cluster, Authority::Kubernetes),
        magnum.authority(token, cluster, Authority::Etcd),
        magnum.authority(token, cluster, Authority::FrontProxy),
    );
    let kubernetes = kubernetes?;
    Ok(Authorities {
        etcd: distinct(etcd.ok(), &kubernetes),
        front_proxy: distinct(front_proxy.ok(), &kubernetes),
        kubernetes,
    })
}

/// Returns a certificate that can be read and is not that of Kubernetes.
fn distinct(pem: Option<String>, kubernetes: &str) -> Option<String> {
    let pem = pem?;
    let found = Certificate::read(&pem).ok()?;
    let known = Certificate::read(kubernetes).ok();
    known
        .is_none_or(|known| known.fingerprint != found.fingerprint)
        .then_some(pem)
}
