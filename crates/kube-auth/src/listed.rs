//! The clusters of the signed list: a snapshot that is replaced as a whole.
//!
//! Their API servers authenticate with certificates of their own clusters' authorities, which
//! tenants control: such a certificate may name any cluster, also one of the configuration file. So
//! nothing that is written in it counts, only which authority issued it. That is verified twice:
//! when a client connects, against every authority with the issuer's name, and for each request
//! against the one authority of the cluster in the path. The second check is the binding; the first
//! one keeps strangers out of the HTTP server.
use crate::binding::Binding;
use crate::cluster::Cluster;
use crate::metrics;
use jiff::Timestamp;
use portico_assertion::cluster_list::ClusterList;
use portico_domain::enrolled_cluster::ListedCluster;
use portico_runtime::tls::{ClientAuthorities, ClientAuthority};
use rustls_pki_types::CertificateDer;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use uuid::Uuid;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// How long the result of a verification is used for further requests with the same certificate.
const VERIFIED_TTL: Duration = Duration::from_secs(10);
/// Maximum number of certificates of one cluster whose verification is remembered.
const MAX_VERIFIED: usize = 16;
/// Maximum number of authorities that one handshake tries. Clusters of different tenants often have
/// the same name, and Magnum gives it to their authorities. Beyond this number the request decides.
const MAX_TRIED: usize = 32;
/// Maximum number of removed clusters that are remembered.
const MAX_REMOVED: usize = 10_000;

/// The clusters of the list, beside those of the configuration file.
pub(crate) struct ListedClusters {
    /// The clusters of the configuration file, which have precedence.
    configured: HashSet<Uuid>,
    keystone_calls_per_second: NonZeroU32,
    current: RwLock<Option<Arc<Snapshot>>>,
    /// Notified if a client or a request names what the current list does not have.
    wanted: Notify,
}

/// One list.
struct Snapshot {
    sequence: u64,
    issued_at: i64,
    expires_at: Timestamp,
    clusters: HashMap<Uuid, Arc<Listed>>,
    /// By the name (DER) of the authority.
    authorities: HashMap<Vec<u8>, Vec<Arc<Listed>>>,
    /// Clusters of earlier lists.
    removed: HashMap<Uuid, Arc<Listed>>,
}

struct Listed {
    entry: ListedCluster,
    cluster: Arc<Cluster>,
    authority: ClientAuthority,
    verified: Mutex<HashMap<CertificateDer<'static>, Instant>>,
}

/// The relation of a client to a cluster of the list.
pub(crate) enum ListedBinding {
    /// The cluster's authority issued its certificate.
    Bound(Arc<Cluster>),
    /// The same, but the list has expired.
    Expired,
    /// The same, but a newer list no longer has the cluster.
    Removed,
    /// Another authority issued its certificate.
    Unbound,
    /// No list has the cluster.
    Unknown,
}

/// What became of a list that is authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// It is in use now.
    Taken,
    /// It is the one in use, or an earlier signature of it.
    Known,
    /// Its sequence is below the one in use: an attempt to bring removed clusters back, or a
    /// publisher whose database was restored.
    Older { current: u64 },
}

impl ListedClusters {
    /// Returns an empty list; without a document it is unknown whether a cluster exists.
    pub fn new(configured: HashSet<Uuid>, keystone_calls_per_second: NonZeroU32) -> Self {
        Self {
            configured,
            keystone_calls_per_second,
            current: RwLock::default(),
            wanted: Notify::new(),
        }
    }

    /// Puts a list that is authentic and valid in use, unless it is older than the one in use. Costs
    /// milliseconds for a thousand clusters: not for a worker.
    pub fn apply(&self, list: ClusterList) -> Applied {
        let before = self.current();
        if let Some(before) = &before {
            if list.sequence < before.sequence {
                let current = before.sequence;
                return Applied::Older { current };
            }
            if list.sequence == before.sequence && list.iat <= before.issued_at {
                return Applied::Known;
            }
        }
        let next = Arc::new(self.snapshot(list, before.as_deref()));
        metrics::record_list(next.sequence, next.clusters.len(), next.expires_at);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Applied::Taken
    }

    fn snapshot(&self, list: ClusterList, before: Option<&Snapshot>) -> Snapshot {
        let mut clusters = HashMap::with_capacity(list.clusters.len());
        let mut authorities: HashMap<_, Vec<_>> = HashMap::new();
        for entry in list.clusters {
            let id = entry.id;
            if self.configured.contains(&id) {
                tracing::warn!(
                    cluster_id = %id,
                    "the configuration file has this cluster too: its entry in the cluster list is \
                     not used"
                );
                continue;
            }
            let known = before.and_then(|before| before.clusters.get(&id));
            let listed = match known.filter(|known| known.entry == entry) {
                Some(known) => Arc::clone(known),
                None => match self.open(entry) {
                    Ok(listed) => Arc::new(listed),
                    Err(error) => {
                        // one tenant's authority must not stop all others
                        tracing::error!(cluster_id = %id, %error, "cluster not served");
                        continue;
                    }
                },
            };
            for name in listed.names() {
                authorities
                    .entry(name)
                    .or_default()
                    .push(Arc::clone(&listed));
            }
            clusters.insert(id, listed);
        }
        let removed = removed(before, &clusters);
        Snapshot {
            sequence: list.sequence,
            issued_at: list.iat,
            expires_at: Timestamp::from_second(list.exp).unwrap_or(Timestamp::MIN),
            clusters,
            authorities,
            removed,
        }
    }

    fn open(&self, entry: ListedCluster) -> Result<Listed, String> {
        let authority = ClientAuthority::from_pem(entry.client_ca.as_bytes())
            .map_err(|error| format!("client_ca: {error}"))?;
        let cluster = Cluster::new(
            entry.clone().into_record(),
            Binding::Authority,
            None,
            self.keystone_calls_per_second,
        );
        let listed = Listed {
            entry,
            cluster: Arc::new(cluster),
            authority,
            verified: Mutex::default(),
        };
        if listed.names().next().is_none() {
            return Err("client_ca: the certificate cannot be read".to_owned());
        }
        Ok(listed)
    }

    /// Returns the relation of a client with this chain to a cluster.
    pub fn binding(
        &self,
        cluster: Uuid,
        chain: &[CertificateDer<'_>],
        now: Timestamp,
    ) -> ListedBinding {
        let Some(current) = self.current() else {
            return ListedBinding::Unknown;
        };
        match (
            current.clusters.get(&cluster),
            current.removed.get(&cluster),
        ) {
            (Some(listed), _) if !listed.issued(chain) => ListedBinding::Unbound,
            (Some(_), _) if current.expires_at <= now => ListedBinding::Expired,
            (Some(listed), _) => ListedBinding::Bound(Arc::clone(&listed.cluster)),
            (None, Some(listed)) if listed.issued(chain) => ListedBinding::Removed,
            (None, Some(_)) => ListedBinding::Unbound,
            (None, None) => ListedBinding::Unknown,
        }
    }

    /// Asks for the newest list at once.
    pub fn want_newest(&self) {
        self.wanted.notify_one();
    }

    /// Waits until the newest list is asked for.
    pub async fn newest_wanted(&self) {
        self.wanted.notified().await;
    }

    /// Returns whether the list in use has expired, or there is none.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.current()
            .is_none_or(|current| current.expires_at <= now)
    }

    fn current(&self) -> Option<Arc<Snapshot>> {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the clusters of earlier lists that the new one does not have.
fn removed(
    before: Option<&Snapshot>,
    clusters: &HashMap<Uuid, Arc<Listed>>,
) -> HashMap<Uuid, Arc<Listed>> {
    let Some(before) = before else {
        return HashMap::new();
    };
    let mut removed: HashMap<_, _> = before
        .clusters
        .iter()
        .chain(&before.removed)
        .filter(|(id, _)| !clusters.contains_key(*id))
        .map(|(id, listed)| (*id, Arc::clone(listed)))
        .collect();
    if removed.len() > MAX_REMOVED {
        // their API servers are refused as strangers from then on
        removed.retain(|id, _| before.clusters.contains_key(id));
    }
    removed
}

impl Listed {
    /// Returns whether the cluster's authority issued the first certificate of a chain.
    fn issued(&self, chain: &[CertificateDer<'_>]) -> bool {
        let Some(own) = chain.first() else {
            return false;
        };
        let now = Instant::now();
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if verified().get(own).is_some_and(|until| now < *until) {
            return true;
        }
        if !self.authority.issued(chain) {
            return false;
        }
        let mut verified = verified();
        if verified.len() >= MAX_VERIFIED {
            verified.clear();
        }
        verified.insert(own.clone().into_owned(), now + VERIFIED_TTL);
        true
    }

    /// Returns the names (DER) of the authority's certificates.
    fn names(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut names: Vec<_> = self
            .authority
            .certificates()
            .iter()
            .filter_map(|certificate| X509Certificate::from_der(certificate).ok())
            .map(|(_, certificate)| certificate.subject().as_raw().to_vec())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}

impl ClientAuthorities for ListedClusters {
    fn admit(&self, chain: &[CertificateDer<'_>]) -> bool {
        let admitted = self.current().is_some_and(|current| current.admits(chain));
        if !admitted {
            // perhaps of a cluster that was enrolled a moment ago
            self.want_newest();
        }
        admitted
    }
}

impl Snapshot {
    fn admits(&self, chain: &[CertificateDer<'_>]) -> bool {
        let candidates = chain.iter().filter_map(|certificate| {
            let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
            self.authorities.get(certificate.issuer().as_raw())
        });
        let mut left = MAX_TRIED;
        for listed in candidates.flatten() {
            if left == 0 {
                return true;
            }
            left -= 1;
            if listed.authority.issued(chain) {
                return true;
            }
        }
        false
    }
}

impl fmt::Debug for ListedClusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListedClusters")
    }
}

#[cfg(test)]
pub(crate) mod tests;
