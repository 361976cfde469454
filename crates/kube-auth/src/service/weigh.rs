//! The decision about the token of one review, and how it was reached.
use super::KubeAuth;
use crate::audit::Decision;
use crate::cache::{Known, TokenKey};
use crate::cluster::Cluster;
use crate::decision::{Refusal, audiences, decide};
use crate::metrics;
use crate::review::Review;
use crate::shape::is_keystone_token;
use jiff::Timestamp;
use portico_assertion::cluster_token::{self, OpenError};
use portico_openstack::keystone::Error;
use portico_openstack::keystone::error::Unavailable;
use secrecy::{ExposeSecret as _, SecretString};

pub(super) struct Weighed {
    pub decision: Decision,
    pub audiences: Vec<String>,
    pub fingerprint: String,
    pub cached: bool,
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

impl KubeAuth {
    pub(super) async fn weigh(&self, known: &Cluster, review: &Review) -> Weighed {
        let shared = &*self.shared;
        let cluster = &known.record;
        let now = shared.clock.now();
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
        let (key, known) = if sealed {
            match self.opened(known, token, now).await {
                Ok(known) => known,
                Err(error) => return unasked(Refusal::ClusterToken(error)),
            }
        } else {
            self.validated(known, review.token.clone()).await
        };
        let decision = match known.answer {
            Ok(details) => decide(&details, cluster, shared.keystone.client().latest_clock())
                .map_or_else(
                    |refusal| Decision::Refused(refusal, Some(details.identity.user.id.clone())),
                    Decision::Authenticated,
                ),
            Err(Error::InvalidToken) => Decision::Refused(Refusal::DeadToken, None),
            Err(error) => Decision::Undecided(error),
        };
        Weighed {
            decision,
            audiences,
            fingerprint: key.fingerprint(),
            cached: known.cached,
        }
    }

    /// Returns the result for the Keystone token in a cluster token.
    async fn opened(
        &self,
        cluster: &Cluster,
        token: &str,
        now: Timestamp,
    ) -> Result<(TokenKey, Known), OpenError> {
        let id = cluster.record.id;
        if token.len() > cluster_token::MAX_TOKEN_BYTES {
            return Err(OpenError::Shape);
        }
        let shared = &*self.shared;
        let sealed = shared.validations.key_at(id, token);
        if let Some(key) = shared.opened.get(&sealed, now)
            && let Some(details) = shared.validations.fresh(key).await
        {
            let answer = Ok(details);
            let cached = true;
            return Ok((key, Known { answer, cached }));
        }
        let opened = {
            // never closed, so there is always a permit to wait for
            let _permit = shared.opening.acquire().await;
            cluster_token::open(&shared.keys, id, token, now)?
        };
        let (key, known) = self.validated(cluster, opened.keystone_token).await;
        if known.answer.is_ok() {
            shared.opened.insert(sealed, key, opened.validity);
        }
        Ok((key, known))
    }

    /// Returns the result for a Keystone token.
    async fn validated(&self, cluster: &Cluster, token: SecretString) -> (TokenKey, Known) {
        let validations = &self.shared.validations;
        let key = validations.key(&token);
        let keystone = self.shared.keystone.clone();
        let clock = self.shared.clock.clone();
        let ask = || {
            let may_ask = cluster.limit.check().is_ok();
            async move {
                if !may_ask {
                    return Err(Error::Unavailable(Unavailable::Limited));
                }
                let answer = keystone.validate(&token).await;
                metrics::record_keystone(&answer, clock.now());
                answer
            }
        };
        (key, validations.get(key, ask).await)
    }
}
