//! Watches that all viewers of a scope share: one watch per cluster, kind and place (a namespace, or
//! the whole cluster) serves everyone who may list and watch exactly that (ADR 0015).
//!
//! Nothing here has rights of its own. A watch runs with the token of one of its viewers, the
//! lender. Another user joins with a [`Confirmation`] only, which is made from that user's own access
//! reviews, and reads rows only while the last one is younger than [`MAX_CONFIRMATION_AGE`]. When the
//! lender leaves or loses its rights, the watch continues from the same position with another viewer's
//! token.
//!
//! Shared are the kinds that the API server itself serves: those of the built-in groups and custom
//! resources. An aggregated API server may answer each user differently, and a Secret is never
//! in memory for more than one user: their watches have a single viewer.
mod confirmation;
mod feed;
mod metrics;
mod rows;
mod viewer;
mod viewers;

pub use confirmation::{Confirmation, MAX_CONFIRMATION_AGE, confirm};
pub use metrics::describe_metrics;
pub use rows::Rows;
pub use viewer::{State, Viewer};

use crate::kube::{Api, KubeError, discovery};
use feed::Feed;
use parking_lot::Mutex;
use portico_clock::Clock;
use portico_domain::panel::ResourceRef;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::Notify;
use uuid::Uuid;

/// Maximum number of watches of one process. Further lists are read and polled with their users' own
/// requests.
const MAX_WATCHES: usize = 4_096;

/// What one watch covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchScope {
    cluster: Uuid,
    resource: ResourceRef,
    /// `None`: every namespace, or a kind whose objects are in none.
    namespace: Option<String>,
    /// Set for a watch that is not shared; no two viewers have the same number.
    exclusive: Option<u64>,
}

impl WatchScope {
    pub fn resource(&self) -> &ResourceRef {
        &self.resource
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub fn is_shared(&self) -> bool {
        self.exclusive.is_none()
    }
}

/// The watches of this process. `Clone` shares them.
#[derive(Clone)]
pub struct SharedWatches(Arc<Registry>);

struct Registry {
    feeds: Mutex<HashMap<WatchScope, Arc<Feed>>>,
    next_exclusive: AtomicU64,
    clock: Clock,
}

impl SharedWatches {
    pub fn new(clock: Clock) -> Self {
        Self(Arc::new(Registry {
            feeds: Mutex::default(),
            next_exclusive: AtomicU64::default(),
            clock,
        }))
    }

    /// Returns the scope of a watch, which is shared unless the kind's rows may differ by user.
    ///
    /// # Errors
    /// Those of the request that looks up whether the kind is a custom resource.
    pub async fn scope(
        &self,
        api: &Api,
        resource: &ResourceRef,
        namespace: Option<&str>,
    ) -> Result<WatchScope, KubeError> {
        let is_secret = resource.group.is_empty() && resource.plural == "secrets";
        let is_shared = !is_secret && discovery::is_served_by_api_server(api, resource).await?;
        let exclusive = (!is_shared).then(|| self.0.next_exclusive.fetch_add(1, Ordering::Relaxed));
        Ok(WatchScope {
            cluster: api.cluster(),
            resource: resource.clone(),
            namespace: namespace.map(str::to_owned),
            exclusive,
        })
    }

    /// Joins the watch of the scope that was confirmed, or starts it. `changed` is notified after
    /// every change of the rows or of the watch's state. `None` if the process has [`MAX_WATCHES`]
    /// open already.
    pub fn join(&self, confirmation: Confirmation, changed: Arc<Notify>) -> Option<Viewer> {
        let mut feeds = self.0.feeds.lock();
        let scope = confirmation.scope().clone();
        let (feed, is_new) = match feeds.get(&scope) {
            Some(feed) => (Arc::clone(feed), false),
            None if feeds.len() >= MAX_WATCHES => return None,
            None => {
                let clock = self.0.clock.clone();
                (Arc::new(Feed::new(scope.clone(), clock)), true)
            }
        };
        let viewer = Viewer::new(Arc::clone(&feed), confirmation, changed);
        if is_new {
            feeds.insert(scope, Arc::clone(&feed));
            let registry = Arc::clone(&self.0);
            #[allow(clippy::disallowed_methods, reason = "it ends with the last viewer")]
            tokio::spawn(async move {
                while feed.run().await == feed::Pause::NoViewers {
                    if registry.remove_unused(&feed) {
                        return;
                    }
                }
            });
        }
        Some(viewer)
    }
}

impl Registry {
    /// Removes a feed that has no viewers. Under the same lock as joining: a viewer either finds the
    /// feed running or starts another one.
    fn remove_unused(&self, feed: &Feed) -> bool {
        let mut feeds = self.feeds.lock();
        let is_unused = feed.viewers.is_empty();
        if is_unused {
            feeds.remove(feed.scope());
        }
        is_unused
    }
}
