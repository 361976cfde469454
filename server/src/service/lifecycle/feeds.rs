//! The clusters that are followed in this process: one poller for all viewers of a cluster.
mod feed;
mod nodes;
mod state;
#[cfg(test)]
mod tests;

pub use state::View;

use super::{
    attempts::Attempts,
    durations::Durations,
    inspector::Lender,
    journal::{Journal, NodeEvents, StackEvents},
    viewer::Viewer,
};
use feed::Feed;
use portico_cache::Cache;
use portico_clock::Clock;
use portico_cluster_operations::Clients;
use portico_lifecycle::{driver::Family, progress::Followed, version::VersionChange};
use portico_openstack::rest::Error;
use state::{MAX_AGE, MAX_AGE_OPENED};
use std::{sync::Arc, time::Duration};
use uuid::Uuid;

const POLLERS: &str = "portico_managed_cluster_pollers";
const POLLS: &str = "portico_managed_cluster_polls_total";

/// Maximum number of clusters about which anything is remembered.
const MAX_FEEDS: u64 = 2_000;
/// How long it is remembered after the last viewer, so that a page that is opened again has the times of
/// the steps.
const MEMORY: Duration = Duration::from_secs(1_800);
/// The second of the pollers; tests have a shorter one.
const SECOND: Duration = Duration::from_secs(1);

/// What all feeds use.
struct Shared {
    clients: Clients,
    attempts: Arc<dyn Attempts>,
    durations: Durations,
    journal: Journal,
    stack_events: StackEvents,
    node_events: NodeEvents,
    second: Duration,
    clock: Clock,
}

/// A request of the panel that Magnum has accepted.
#[derive(Clone, Debug)]
pub enum Accepted {
    Creation {
        /// Of the cluster.
        name: String,
    },
    Deletion,
    /// Another change of a cluster.
    Change {
        followed: Followed,
        /// The driver's.
        family: Family,
        /// Of an upgrade, if they are known.
        versions: Option<VersionChange>,
    },
}

/// The followed clusters.
pub struct Feeds {
    shared: Arc<Shared>,
    /// By project and cluster: users of different projects share nothing.
    feeds: Cache<(String, Uuid), Arc<Feed>>,
}

impl Feeds {
    pub fn new(clients: Clients, attempts: Arc<dyn Attempts>, clock: Clock) -> Self {
        Self::with_second(clients, attempts, clock, SECOND)
    }

    fn with_second(
        clients: Clients,
        attempts: Arc<dyn Attempts>,
        clock: Clock,
        second: Duration,
    ) -> Self {
        let journal = Journal::new(attempts.store());
        Self {
            shared: Arc::new(Shared {
                stack_events: StackEvents::new(
                    clients.heat.clone(),
                    journal.clone(),
                    clock.clone(),
                ),
                node_events: NodeEvents::new(journal.clone(), clock.clone()),
                clients,
                journal,
                attempts,
                durations: Durations::default(),
                second,
                clock,
            }),
            feeds: Cache::builder()
                .max_capacity(MAX_FEEDS)
                .time_to_idle(MEMORY)
                .build(),
        }
    }

    /// Returns what is known about a cluster of the viewer's project. Magnum is asked with the viewer's
    /// token if it has not recently confirmed that this user may see the cluster; else the answer is the
    /// one of the poller.
    ///
    /// # Errors
    /// Not found if the project has no such cluster; Magnum's refusal; that Magnum cannot be asked, if
    /// nothing is known that the viewer may see.
    pub async fn look(&self, viewer: &Viewer, cluster: Uuid) -> Result<View, Error> {
        self.look_within(viewer, cluster, MAX_AGE).await
    }

    /// Does the same for a page that is opened: an answer older than a few seconds is read again, so that
    /// the page has what another client has begun meanwhile. A younger one is returned with the time after which
    /// the page should ask again.
    ///
    /// # Errors
    /// As [`Self::look`].
    pub async fn look_anew(&self, viewer: &Viewer, cluster: Uuid) -> Result<View, Error> {
        self.look_within(viewer, cluster, MAX_AGE_OPENED).await
    }

    async fn look_within(
        &self,
        viewer: &Viewer,
        cluster: Uuid,
        max_age: u32,
    ) -> Result<View, Error> {
        let feed = self.feed(viewer, cluster).await;
        let has_read = feed.join(viewer, max_age).await?;
        feed.follow();
        let mut view = feed.view().ok_or_else(feed::not_found)?;
        let is_older = max_age == MAX_AGE_OPENED && !has_read;
        view.refresh_millis = view.refresh_millis.filter(|_| is_older);
        Ok(view)
    }

    /// Follows a request that the viewer has sent just now, so that its page has the time at which it was
    /// accepted, and reports if Magnum does not act on it.
    pub async fn accepted(&self, viewer: &Viewer, cluster: Uuid, request: &Accepted) {
        let feed = self.feed(viewer, cluster).await;
        feed.accept(viewer, request, self.shared.clock.now());
        feed.follow();
    }

    /// Has the poller of a cluster read the cluster's own API with what a viewer lends, while an operation
    /// runs and viewers ask.
    pub async fn lend(&self, viewer: &Viewer, cluster: Uuid, lender: Lender) {
        let feed = self.feed(viewer, cluster).await;
        feed.lend(lender);
    }

    /// Returns the durations of steps that were observed.
    pub fn durations(&self) -> &Durations {
        &self.shared.durations
    }

    /// Returns the journals, to which the pollers write.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Returns the events of stacks, which are read into the journals.
    pub fn stack_events(&self) -> &StackEvents {
        &self.shared.stack_events
    }

    /// Returns what happens to nodes, which is read into the journals.
    pub fn node_events(&self) -> &NodeEvents {
        &self.shared.node_events
    }

    async fn feed(&self, viewer: &Viewer, cluster: Uuid) -> Arc<Feed> {
        let project = viewer.project_id().to_owned();
        let new = async {
            let shared = Arc::clone(&self.shared);
            Arc::new(Feed::new(shared, project.clone(), cluster))
        };
        self.feeds.get_with((project.clone(), cluster), new).await
    }
}

/// Describes the metrics of the pollers.
pub fn describe_metrics() {
    metrics::describe_gauge!(POLLERS, "Clusters of Magnum that are being followed.");
    metrics::describe_counter!(
        POLLS,
        "Reads of followed clusters from Magnum, by result: ok, missing, refused or outage."
    );
}
