//! Namespaces in which users may have rights, for the panel, which has no store.
//!
//! The panel reports grants and the namespaces that users add with its audit reports; it gets the
//! candidates of a user with the assertion, and shows those that the API server confirms.
use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use portico_assertion::{
    audit_report::Candidate,
    claims::{Namespaces, fitting_namespaces},
};
use portico_clock::Clock;
use portico_domain::identity::{project_group, project_role_group, user_group};
use portico_store::{NamespaceCandidate, Store, StoreError};
use uuid::Uuid;

use crate::sessions::live::ProjectToken;

/// How long the candidates of a user are cached: a grant takes effect after this time, or at once at
/// the replica that recorded it.
const CACHE_TTL: Duration = Duration::from_secs(30);
const MAX_CACHED_USERS: u64 = 10_000;

/// The candidates of users, by user and project.
#[derive(Debug)]
pub(crate) struct NamespaceCandidateCache {
    store: Store,
    clock: Clock,
    cache: Cache<(String, String), Arc<Namespaces>>,
}

impl NamespaceCandidateCache {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            cache: Cache::builder()
                .max_capacity(MAX_CACHED_USERS)
                .time_to_live(CACHE_TTL)
                .build(),
        }
    }

    /// Returns the candidates of a user with the roles of a token; none without a token. If the
    /// store does not respond there are none, and the panel shows fewer namespaces.
    pub async fn of(&self, user_id: &str, token: Option<&ProjectToken>) -> Arc<Namespaces> {
        let Some(token) = token else {
            return Arc::default();
        };
        let project = &token.project.id;
        let key = (user_id.to_owned(), project.clone());
        let found = self.cache.try_get_with(key, async {
            let mut subjects = vec![user_group(user_id), project_group(project)];
            for role in &token.roles {
                subjects.push(role.id.clone());
                subjects.push(project_role_group(project, &role.id));
            }
            let candidates = self.store.namespace_candidates();
            let all = candidates.of(&subjects, self.clock.now()).await?;
            let all = all.into_iter().map(|one| (one.cluster, one.namespace));
            Ok::<_, StoreError>(Arc::new(fitting_namespaces(all)))
        });
        found.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the namespace candidates of a user cannot be read");
            Arc::default()
        })
    }

    /// Stores a candidate that the panel reported.
    pub async fn add(&self, cluster: Uuid, candidate: &Candidate) {
        if !candidate.fits() {
            tracing::error!("the panel reported a namespace candidate that is too long");
            return;
        }
        let one = NamespaceCandidate {
            cluster,
            namespace: candidate.namespace.clone(),
        };
        let candidates = self.store.namespace_candidates();
        let added = candidates.add(&candidate.subject, &one, self.clock.now());
        match added.await {
            Ok(()) => self.cache.invalidate_all(),
            Err(error) => tracing::error!(
                %error,
                cluster_id = %cluster,
                "a namespace candidate cannot be stored: its users must open the namespace by name"
            ),
        }
    }
}
