//! The webhook's service: clusters, keys, and the processing of one review.
mod weigh;

use crate::access::{
    self, AccessReview, PolicyFile, PolicyFileError, PolicySource, PushError, PushedPolicy,
};
use crate::audit::{self, Decision, Subject};
use crate::binding::{Binding, Certificates};
use crate::cache::Validations;
use crate::cluster::Cluster;
use crate::cluster_list::{ClusterListError, ClusterListFollower};
use crate::config::{ClusterListConfig, InvalidConfig, KubeAuthConfig};
use crate::listed::{ListedBinding, ListedClusters};
use crate::metrics;
use crate::opened::OpenedTokens;
use crate::policy::Policy;
use crate::review::{Answer, Review};
use crate::validator::Validator;
use portico_assertion::keys::{KeyError, PrivateKey, PublishedKeys};
use portico_clock::Clock;
use portico_domain::cluster::{ClusterRecord, RawTokens};
use portico_runtime::request_id::RequestId;
use portico_runtime::tls::ClientAuthorities;
use rustls_pki_types::CertificateDer;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use uuid::Uuid;
use weigh::Weighed;

/// The reason why the service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    #[error("kube_auth.key_files: {0}")]
    Key(#[from] KeyError),
    #[error("clusters: {0} appears twice")]
    DuplicateCluster(Uuid),
    #[error("cluster {cluster}: client_fingerprints: {text:?} is not a SHA-256 fingerprint")]
    Fingerprint { cluster: Uuid, text: String },
    #[error("cluster {0}: api_audiences must not be empty")]
    Audiences(Uuid),
    #[error("cluster {cluster}: authorization_policy_file: {source}")]
    Policy {
        cluster: Uuid,
        source: PolicyFileError,
    },
    #[error(
        "cluster {0}: authorization_policy_file and authorization_policy_config_map cannot both be \
         set: take one out"
    )]
    TwoPolicies(Uuid),
}

/// The reason why an access review cannot be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyUnavailable {
    /// The cluster has no policy.
    NoPolicy,
    /// It has a policy that has not been read yet.
    NotReadYet,
}

/// Number of sealed tokens opened at once. Opening is the slowest step: a flood of garbage queues
/// for it, while reviews of tokens that were opened before are not delayed.
const MAX_CONCURRENT_OPENINGS: usize = 1;

/// The webhook. Clones share their state.
#[derive(Clone)]
pub struct KubeAuth {
    shared: Arc<Shared>,
}

struct Shared {
    /// The clusters of the configuration file.
    clusters: HashMap<Uuid, Arc<Cluster>>,
    /// Those of the cluster list, if one is configured.
    listed: Option<(ClusterListConfig, Arc<ListedClusters>)>,
    certificates: Certificates,
    keys: Vec<PrivateKey>,
    keystone: Validator,
    validations: Validations,
    opened: OpenedTokens,
    /// A permit for each token that is being opened.
    opening: Semaphore,
    clock: Clock,
}

/// Makes the webhook for these clusters; reads the key files.
///
/// # Errors
/// If the configuration, a cluster's record or a key file cannot be used.
pub fn service(
    config: &KubeAuthConfig,
    clusters: impl IntoIterator<Item = ClusterRecord>,
    keystone: impl Into<Validator>,
    clock: Clock,
) -> Result<KubeAuth, StartError> {
    config.validate()?;
    let keys: Result<Vec<_>, _> = config
        .key_files
        .iter()
        .map(|path| PrivateKey::read(path))
        .collect();
    let mut known = HashMap::new();
    for record in clusters {
        let id = record.id;
        if record.api_audiences.is_empty() {
            return Err(StartError::Audiences(id));
        }
        let binding =
            Binding::of(&record).map_err(|text| StartError::Fingerprint { cluster: id, text })?;
        if record.raw_keystone_tokens != RawTokens::Off {
            tracing::warn!(
                cluster_id = %id,
                "this cluster accepts bare Keystone tokens: its administrators can use them \
                 everywhere"
            );
        }
        let policy = policy_source(&record)?;
        let limit = config.keystone_calls_per_second;
        let cluster = Arc::new(Cluster::new(record, binding, policy, limit));
        if known.insert(id, cluster).is_some() {
            return Err(StartError::DuplicateCluster(id));
        }
    }
    metrics::describe();
    access::describe();
    let listed = config.cluster_list.clone().map(|section| {
        let configured = known.keys().copied().collect();
        let listed = ListedClusters::new(configured, config.keystone_calls_per_second);
        (section, Arc::new(listed))
    });
    Ok(KubeAuth {
        shared: Arc::new(Shared {
            clusters: known,
            listed,
            certificates: Certificates::default(),
            keys: keys?,
            keystone: keystone.into(),
            validations: Validations::new(config.cache_ttl, clock.clone()),
            opened: OpenedTokens::new(),
            opening: Semaphore::new(MAX_CONCURRENT_OPENINGS),
            clock,
        }),
    })
}

fn policy_source(record: &ClusterRecord) -> Result<Option<PolicySource>, StartError> {
    let file = record.authorization_policy_file.as_deref();
    match (file, &record.authorization_policy_config_map) {
        (None, None) => Ok(None),
        (None, Some(_)) => Ok(Some(PolicySource::Pushed(PushedPolicy::default()))),
        (Some(path), None) => match PolicyFile::open(path) {
            Ok(file) => Ok(Some(PolicySource::File(file))),
            Err(source) => Err(StartError::Policy {
                cluster: record.id,
                source,
            }),
        },
        (Some(_), Some(_)) => Err(StartError::TwoPolicies(record.id)),
    }
}

/// Whether the client certificate of an API server belongs to the cluster in the path of its
/// request.
pub(crate) enum PeerBinding {
    Bound(Arc<Cluster>),
    /// Its certificate is for this cluster, but there is no such cluster, or no longer.
    UnknownCluster,
    /// Its certificate is for this cluster, but the cluster list has expired.
    Expired,
    Unbound,
}

/// The certificate chain of a client, its own first, by the authority that issued it.
#[derive(Clone, Copy)]
pub(crate) struct Peer<'r> {
    pub chain: &'r [CertificateDer<'static>],
    /// Whether the authority of the configuration file issued it: only such a certificate names
    /// its cluster.
    pub of_configured_authority: bool,
}

impl<'r> Peer<'r> {
    /// Returns the certificate, if it may name its cluster.
    fn named(self) -> Option<&'r CertificateDer<'static>> {
        self.chain.first().filter(|_| self.of_configured_authority)
    }
}

impl KubeAuth {
    /// Puts a policy in force for a cluster that takes it from a ConfigMap. A text that is refused
    /// is logged and counted, and the last valid policy stays in force. Other clusters are not
    /// affected.
    ///
    /// # Errors
    /// Returns [`PushError`] if the text is not in force now.
    pub async fn set_policy(&self, cluster: Uuid, text: &str) -> Result<Arc<Policy>, PushError> {
        self.pushed(cluster)?.push(cluster, text).await
    }

    /// Records that a cluster's ConfigMap, or its key, is missing. The last valid policy stays in
    /// force.
    ///
    /// # Errors
    /// If the cluster takes its policy from another source.
    pub fn policy_is_missing(&self, cluster: Uuid, reason: &str) -> Result<(), PushError> {
        self.pushed(cluster)?.missing(cluster, reason);
        Ok(())
    }

    /// Returns the policy in force at a cluster.
    pub fn policy(&self, cluster: Uuid) -> Option<Arc<Policy>> {
        let known = self.shared.clusters.get(&cluster)?;
        known.policy.as_ref()?.current()
    }

    fn pushed(&self, cluster: Uuid) -> Result<&PushedPolicy, PushError> {
        match self.shared.clusters.get(&cluster).map(|one| &one.policy) {
            Some(Some(PolicySource::Pushed(pushed))) => Ok(pushed),
            _ => Err(PushError::NotTaken(cluster)),
        }
    }

    pub(crate) fn published_keys(&self) -> PublishedKeys {
        PublishedKeys::new(self.shared.keys.iter().map(PrivateKey::public))
    }

    /// Returns the authorities of the listed clusters, for the listener; `None` without a cluster
    /// list.
    pub fn client_authorities(&self) -> Option<Arc<dyn ClientAuthorities>> {
        let (_, listed) = self.shared.listed.as_ref()?;
        Some(Arc::clone(listed) as Arc<dyn ClientAuthorities>)
    }

    /// Returns the task that keeps the cluster list up to date, to be run once; `None` without a
    /// cluster list. Reads the files of `[kube_auth.cluster_list]`, so that the list of the state
    /// file is in use afterwards. Blocks.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub fn cluster_list(&self) -> Option<Result<ClusterListFollower, ClusterListError>> {
        let (section, listed) = self.shared.listed.as_ref()?;
        Some(ClusterListFollower::open(
            section,
            Arc::clone(listed),
            self.shared.clock.clone(),
        ))
    }

    pub(crate) fn peer_binding(&self, cluster: Uuid, peer: Peer<'_>) -> PeerBinding {
        let shown = peer
            .named()
            .map(|certificate| self.shared.certificates.shown(certificate));
        // before the list: a cluster of the configuration file cannot be in it
        if let Some(known) = self.shared.clusters.get(&cluster) {
            return match shown {
                Some(shown) if known.binding.allows(cluster, &shown) => {
                    PeerBinding::Bound(Arc::clone(known))
                }
                _ => PeerBinding::Unbound,
            };
        }
        let listed = self.shared.listed.as_ref().map(|(_, listed)| listed);
        let now = self.shared.clock.now();
        match listed.map(|listed| listed.binding(cluster, peer.chain, now)) {
            Some(ListedBinding::Bound(known)) => PeerBinding::Bound(known),
            Some(ListedBinding::Expired) => PeerBinding::Expired,
            Some(ListedBinding::Removed) => PeerBinding::UnknownCluster,
            Some(ListedBinding::Unbound) => PeerBinding::Unbound,
            Some(ListedBinding::Unknown) | None => match shown {
                Some(shown) if Binding::Uri.allows(cluster, &shown) => PeerBinding::UnknownCluster,
                _ => PeerBinding::Unbound,
            },
        }
    }

    /// Asks for the newest cluster list, for a cluster that the current one does not have.
    pub(crate) fn want_newest_list(&self) {
        if let Some((_, listed)) = &self.shared.listed {
            listed.want_newest();
        }
    }

    /// Returns the only cluster to which a certificate is bound, for requests that name none: one of
    /// the configuration file. Listed clusters have an address of their own.
    pub(crate) fn cluster_of(&self, peer: Peer<'_>) -> Option<Arc<Cluster>> {
        let clusters = &self.shared.clusters;
        let shown = self.shared.certificates.shown(peer.named()?);
        let named = shown.named.filter(|id| {
            clusters
                .get(id)
                .is_some_and(|known| known.binding == Binding::Uri)
        });
        let pinned = clusters
            .iter()
            .filter(|(_, known)| known.binding.pins(&shown.fingerprint))
            .map(|(id, _)| *id);
        let mut bound = named.into_iter().chain(pinned);
        match (bound.next(), bound.next()) {
            (Some(id), None) => clusters.get(&id).cloned(),
            _ => None,
        }
    }

    /// Answers a review of an API server that is bound to the cluster; returns `None` if no
    /// decision is possible.
    pub(crate) async fn review(
        &self,
        known: &Cluster,
        review: &Review,
        request_id: RequestId,
    ) -> Option<Answer> {
        let started = Instant::now();
        let Weighed {
            decision,
            audiences,
            fingerprint,
            cached,
        } = self.weigh(known, review).await;
        let subject = Subject {
            cluster: known.record.id,
            request_id,
            fingerprint: &fingerprint,
            cached,
        };
        audit::record(&subject, &decision);
        metrics::record(&known.label, &decision, cached, started.elapsed());
        match decision {
            Decision::Authenticated(user) => {
                Some(Answer::authenticated(review.version, user, audiences))
            }
            Decision::Refused(..) => Some(Answer::refused(review.version)),
            Decision::Undecided(_) => None,
        }
    }

    /// Returns the decision of the cluster's policy.
    pub(crate) fn access(
        &self,
        known: &Cluster,
        review: &AccessReview,
        request_id: RequestId,
    ) -> Result<access::Answer, PolicyUnavailable> {
        let source = known.policy.as_ref().ok_or(PolicyUnavailable::NoPolicy)?;
        let policy = source.current().ok_or(PolicyUnavailable::NotReadYet)?;
        let decision = policy.decide(&review.attributes);
        audit::record_access(known.record.id, request_id, &review.attributes, decision);
        metrics::record_access(&known.label, decision.allowed());
        Ok(if decision.allowed() {
            access::Answer::allowed(review.version)
        } else {
            access::Answer::no_opinion(review.version, "no rule of Portico's policy allows it")
        })
    }
}
