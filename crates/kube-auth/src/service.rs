//! The webhook's service: clusters, keys, and the processing of one review.
mod weigh;

use crate::access::{
    self, AccessReview, PolicyFile, PolicyFileError, PolicySource, PushError, PushedPolicy,
};
use crate::audit::{self, Decision, Subject};
use crate::binding::{Binding, Certificates};
use crate::cache::Validations;
use crate::config::{InvalidConfig, KubeAuthConfig};
use crate::metrics;
use crate::opened::OpenedTokens;
use crate::policy::Policy;
use crate::review::{Answer, Review};
use crate::validator::Validator;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use portico_assertion::keys::{KeyError, PrivateKey, PublishedKeys};
use portico_domain::cluster::{ClusterRecord, RawTokens};
use portico_runtime::request_id::RequestId;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
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
    clusters: HashMap<Uuid, Cluster>,
    certificates: Certificates,
    keys: Vec<PrivateKey>,
    keystone: Validator,
    validations: Validations,
    opened: OpenedTokens,
    /// A permit for each token that is being opened.
    opening: Semaphore,
}

struct Cluster {
    record: ClusterRecord,
    binding: Binding,
    policy: Option<PolicySource>,
    /// The rate limit of calls to Keystone.
    limit: DefaultDirectRateLimiter,
    label: metrics::Label,
}

/// Makes the webhook for these clusters; reads the key files.
///
/// # Errors
/// If the configuration, a cluster's record or a key file cannot be used.
pub fn service(
    config: &KubeAuthConfig,
    clusters: impl IntoIterator<Item = ClusterRecord>,
    keystone: impl Into<Validator>,
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
        let cluster = Cluster {
            record,
            binding,
            policy,
            limit: RateLimiter::direct(Quota::per_second(config.keystone_calls_per_second)),
            label: metrics::Label::of(id),
        };
        if known.insert(id, cluster).is_some() {
            return Err(StartError::DuplicateCluster(id));
        }
    }
    metrics::describe();
    access::describe();
    Ok(KubeAuth {
        shared: Arc::new(Shared {
            clusters: known,
            certificates: Certificates::default(),
            keys: keys?,
            keystone: keystone.into(),
            validations: Validations::new(config.cache_ttl),
            opened: OpenedTokens::new(),
            opening: Semaphore::new(MAX_CONCURRENT_OPENINGS),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerBinding {
    Bound,
    /// Its certificate names this cluster, but no such cluster is configured.
    UnknownCluster,
    Unbound,
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

    pub(crate) fn peer_binding(
        &self,
        cluster: Uuid,
        certificate: &rustls_pki_types::CertificateDer<'_>,
    ) -> PeerBinding {
        let shown = self.shared.certificates.shown(certificate);
        match self.shared.clusters.get(&cluster) {
            Some(known) if known.binding.allows(cluster, &shown) => PeerBinding::Bound,
            None if Binding::Uri.allows(cluster, &shown) => PeerBinding::UnknownCluster,
            _ => PeerBinding::Unbound,
        }
    }

    /// Returns the only cluster to which a certificate is bound, for requests that name none.
    pub(crate) fn cluster_of(
        &self,
        certificate: &rustls_pki_types::CertificateDer<'_>,
    ) -> Option<Uuid> {
        let clusters = &self.shared.clusters;
        let shown = self.shared.certificates.shown(certificate);
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
            (Some(id), None) => Some(id),
            _ => None,
        }
    }

    /// Counts a body from an API server of the cluster that was not a review.
    pub(crate) fn invalid_review(&self, cluster: Uuid) {
        let known = self.shared.clusters.get(&cluster);
        metrics::record_rejected(known.map(|known| &known.label), "invalid");
    }

    /// Answers a review of an API server that is bound to the cluster; returns `None` if no
    /// decision is possible.
    pub(crate) async fn review(
        &self,
        cluster: Uuid,
        review: &Review,
        request_id: RequestId,
    ) -> Option<Answer> {
        let started = Instant::now();
        let known = self.shared.clusters.get(&cluster)?;
        let Weighed {
            decision,
            audiences,
            fingerprint,
            cached,
        } = self.weigh(known, review).await;
        let subject = Subject {
            cluster,
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
        cluster: Uuid,
        review: &AccessReview,
        request_id: RequestId,
    ) -> Result<access::Answer, PolicyUnavailable> {
        let known = self.shared.clusters.get(&cluster);
        let (known, source) = known
            .and_then(|known| Some((known, known.policy.as_ref()?)))
            .ok_or(PolicyUnavailable::NoPolicy)?;
        let policy = source.current().ok_or(PolicyUnavailable::NotReadYet)?;
        let decision = policy.decide(&review.attributes);
        audit::record_access(cluster, request_id, &review.attributes, decision);
        metrics::record_access(&known.label, decision.allowed());
        Ok(if decision.allowed() {
            access::Answer::allowed(review.version)
        } else {
            access::Answer::no_opinion(review.version, "no rule of Portico's policy allows it")
        })
    }
}
