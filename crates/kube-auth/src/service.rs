//! The service: what is known about clusters and keys, and the way of one review.
use crate::access::{self, AccessReview, PolicyFile, PolicyFileError};
use crate::audit::{self, Decision, Subject};
use crate::binding::{Binding, Fingerprint, named_cluster};
use crate::cache::Validations;
use crate::config::{InvalidConfig, KubeAuthConfig};
use crate::decision::{Refusal, audiences, decide};
use crate::review::{Answer, Review};
use crate::shape::is_keystone_token;
use crate::{http, metrics};
use axum::Router;
use jiff::Timestamp;
use portico_assertion::cluster_token;
use portico_assertion::keys::{KeyError, PrivateKey, PublishedKeys};
use portico_domain::cluster::{ClusterRecord, RawTokens};
use portico_openstack::keystone::{self, Error};
use portico_runtime::request_id::RequestId;
use secrecy::ExposeSecret as _;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use uuid::Uuid;

/// Why the service cannot start.
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
}

/// The webhook. Clones share their state.
#[derive(Clone)]
pub struct KubeAuth {
    shared: Arc<Shared>,
}

struct Shared {
    clusters: HashMap<Uuid, Cluster>,
    keys: Vec<PrivateKey>,
    keystone: keystone::Client,
    validations: Validations,
}

struct Cluster {
    record: ClusterRecord,
    binding: Binding,
    policy: Option<PolicyFile>,
    label: metrics::Label,
}

/// The webhook for these clusters; reads the key files.
///
/// # Errors
/// When the configuration, a cluster's record or a key file cannot be used.
pub fn service(
    config: &KubeAuthConfig,
    clusters: impl IntoIterator<Item = ClusterRecord>,
    keystone: keystone::Client,
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
                cluster.id = %id,
                "bare Keystone tokens count at this cluster: its administrators can use them everywhere"
            );
        }
        let policy = record
            .authorization_policy_file
            .as_deref()
            .map(PolicyFile::open)
            .transpose()
            .map_err(|source| StartError::Policy {
                cluster: id,
                source,
            })?;
        let cluster = Cluster {
            record,
            binding,
            policy,
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
            keys: keys?,
            keystone,
            validations: Validations::new(config.cache_ttl),
        }),
    })
}

/// How an API server stands to the cluster in its request's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Bound,
    /// Its certificate names this cluster, but no such cluster is configured.
    UnknownCluster,
    Stranger,
}

impl KubeAuth {
    /// The routes, for a listener that asks for client certificates
    /// ([`KubeAuthConfig::tls_files`]).
    pub fn router(&self) -> Router {
        http::router(self.clone())
    }

    pub(crate) fn published_keys(&self) -> PublishedKeys {
        PublishedKeys::new(self.shared.keys.iter().map(PrivateKey::public))
    }

    pub(crate) fn standing(
        &self,
        cluster: Uuid,
        certificate: &rustls_pki_types::CertificateDer<'_>,
    ) -> Standing {
        match self.shared.clusters.get(&cluster) {
            Some(known) if known.binding.allows(cluster, certificate) => Standing::Bound,
            None if Binding::Uri.allows(cluster, certificate) => Standing::UnknownCluster,
            _ => Standing::Stranger,
        }
    }

    /// The one cluster that a certificate is bound to, for requests that name none.
    pub(crate) fn cluster_of(
        &self,
        certificate: &rustls_pki_types::CertificateDer<'_>,
    ) -> Option<Uuid> {
        let clusters = &self.shared.clusters;
        let named = named_cluster(certificate).filter(|id| {
            clusters
                .get(id)
                .is_some_and(|known| known.binding == Binding::Uri)
        });
        let fingerprint = Fingerprint::of(certificate);
        let pinned = clusters
            .iter()
            .filter(|(_, known)| known.binding.pins(&fingerprint))
            .map(|(id, _)| *id);
        let mut bound = named.into_iter().chain(pinned);
        match (bound.next(), bound.next()) {
            (Some(id), None) => Some(id),
            _ => None,
        }
    }

    /// Counts a body from an API server of the cluster that was no review.
    pub(crate) fn invalid_review(&self, cluster: Uuid) {
        let known = self.shared.clusters.get(&cluster);
        metrics::record_rejected(known.map(|known| &known.label), "invalid");
    }

    /// Answers a review of an API server that is bound to the cluster; `None` when nobody can
    /// say.
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
        } = self.weigh(&known.record, review).await;
        let subject = Subject {
            cluster,
            request_id,
            fingerprint: &fingerprint,
            cached,
        };
        audit::record(&subject, &decision);
        metrics::record(&known.label, decision.as_str(), cached, started.elapsed());
        match decision {
            Decision::Authenticated(user) => {
                Some(Answer::authenticated(review.version, user, audiences))
            }
            Decision::Refused(..) => Some(Answer::refused(review.version)),
            Decision::CannotSay(_) => None,
        }
    }

    /// What the cluster's policy says; `None` when it has none.
    pub(crate) fn access(
        &self,
        cluster: Uuid,
        review: &AccessReview,
        request_id: RequestId,
    ) -> Option<access::Answer> {
        let known = self.shared.clusters.get(&cluster)?;
        let policy = known.policy.as_ref()?;
        let verdict = policy.current().decide(&review.attributes);
        audit::record_access(cluster, request_id, &review.attributes, verdict);
        metrics::record_access(&known.label, verdict.allowed());
        Some(if verdict.allowed() {
            access::Answer::allowed(review.version)
        } else {
            access::Answer::no_opinion(review.version, "no rule of Portico's policy allows it")
        })
    }

    async fn weigh(&self, cluster: &ClusterRecord, review: &Review) -> Weighed {
        let shared = &*self.shared;
        let now = Timestamp::now();
        let token = review.token.expose_secret();
        let unasked = |refusal| {
            let fingerprint = shared.validations.key_of(token).fingerprint();
            Weighed::refused(refusal, fingerprint)
        };
        let sealed = token.starts_with(cluster_token::PREFIX);
        if !sealed && !is_keystone_token(cluster.raw_keystone_tokens, token) {
            return unasked(Refusal::NotOurToken);
        }
        let audiences = match audiences(&review.audiences, cluster) {
            Ok(audiences) => audiences,
            Err(refusal) => return unasked(refusal),
        };
        let inner = if sealed {
            match cluster_token::open(&shared.keys, cluster.id, token, now) {
                Ok(opened) => opened.keystone_token,
                Err(error) => return unasked(Refusal::ClusterToken(error)),
            }
        } else {
            review.token.clone()
        };
        let key = shared.validations.key(&inner);
        let keystone = shared.keystone.clone();
        let ask = || async move {
            let answer = keystone.validate(&inner).await;
            metrics::record_keystone(&answer);
            answer
        };
        let known = shared.validations.get(key, ask).await;
        let decision = match known.answer {
            Ok(details) => decide(&details, cluster, Timestamp::now()).map_or_else(
                |refusal| Decision::Refused(refusal, Some(details.identity.user.id.clone())),
                Decision::Authenticated,
            ),
            Err(Error::InvalidToken) => Decision::Refused(Refusal::DeadToken, None),
            Err(error) => Decision::CannotSay(error),
        };
        Weighed {
            decision,
            audiences,
            fingerprint: key.fingerprint(),
            cached: known.cached,
        }
    }
}

struct Weighed {
    decision: Decision,
    audiences: Vec<String>,
    fingerprint: String,
    cached: bool,
}

impl Weighed {
    fn refused(refusal: Refusal, fingerprint: String) -> Self {
        Self {
            decision: Decision::Refused(refusal, None),
            audiences: Vec::new(),
            fingerprint,
            cached: false,
        }
    }
}
