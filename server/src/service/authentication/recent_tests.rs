//! The last tests of each session, for a page that was loaded by a form without scripts.
use crate::{caller::Caller, kube::credential::SubjectKey, service::Services};
use portico_cache::Cache;
use portico_domain::panel::{SelfTest, UserTest};
use std::time::Duration;
use uuid::Uuid;

const TEST_TTL: Duration = Duration::from_secs(600);
const MAX_ENTRIES: u64 = 10_000;

/// What one session tested at one cluster.
#[derive(Clone, Debug, Default)]
pub struct SessionTests {
    pub own: Option<SelfTest>,
    pub other: Option<UserTest>,
}

/// Results of tests, each found again by the session that made it only.
pub struct RecentTests(Cache<(Uuid, SubjectKey), SessionTests>);

impl Default for RecentTests {
    fn default() -> Self {
        Self(
            Cache::builder()
                .max_capacity(MAX_ENTRIES)
                .time_to_live(TEST_TTL)
                .build(),
        )
    }
}

impl RecentTests {
    /// What this session tested last.
    pub async fn of(&self, services: &Services, caller: &Caller, cluster: Uuid) -> SessionTests {
        match slot(services, caller, cluster) {
            Some(slot) => self.0.get(&slot).await.unwrap_or_default(),
            None => SessionTests::default(),
        }
    }

    /// Keeps what `change` puts in place.
    pub async fn keep(
        &self,
        services: &Services,
        caller: &Caller,
        cluster: Uuid,
        change: impl FnOnce(&mut SessionTests),
    ) {
        if let Some(slot) = slot(services, caller, cluster) {
            let mut kept = self.0.get(&slot).await.unwrap_or_default();
            change(&mut kept);
            self.0.insert(slot, kept).await;
        }
    }
}

fn slot(services: &Services, caller: &Caller, cluster: Uuid) -> Option<(Uuid, SubjectKey)> {
    let token = caller.token()?;
    Some((cluster, services.clusters.subject(token)))
}
