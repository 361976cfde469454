//! The states of the project's clusters, as far as this tab knows them.
use crate::{api::clusters::cluster_states, context::Session, routes};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::{ClusterCard, ClusterState, Health};
use std::time::Duration;
use uuid::Uuid;

/// How long a page may take to bring the state of its cluster itself.
const GRACE: Duration = Duration::from_millis(1_500);
/// How often the state of the current cluster is read.
const CURRENT_INTERVAL: Duration = Duration::from_secs(60);

/// The known states. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct ClusterStates {
    known: RwSignal<Vec<ClusterState>>,
    /// Whether the last request failed.
    pub failed: RwSignal<bool>,
}

impl ClusterStates {
    /// Returns the state of a cluster; `None` if it was not read yet.
    pub fn of(self, cluster: Uuid) -> Option<ClusterState> {
        self.known
            .with(|known| known.iter().find(|state| state.id == cluster).cloned())
    }

    /// Takes over the state that a page has loaded. Call it while the page is built.
    pub fn note(self, card: &ClusterCard) {
        let state = ClusterState {
            id: card.id,
            health: card.health,
            status: card.status.clone(),
        };
        // after hydration: until then, the bar is as the server rendered it
        Effect::new(move |_| self.put(vec![state.clone()]));
    }

    /// Reads the states of some clusters, of all if none is named.
    pub fn refresh(self, clusters: Vec<Uuid>) {
        leptos::task::spawn_local(async move {
            let answer = cluster_states(clusters).await;
            let _ = self.failed.try_set(answer.is_err());
            if let Ok(states) = answer {
                self.put(states);
            }
        });
    }

    fn put(self, states: Vec<ClusterState>) {
        self.known.try_update(|known| {
            known.retain(|old| states.iter().all(|new| new.id != old.id));
            known.extend(states);
        });
    }
}

/// Returns the word for a cluster's state.
pub fn word(health: Health) -> &'static str {
    match health {
        Health::Ok => "Ready",
        Health::Progressing => "Updating",
        Health::Warning => "Degraded",
        Health::Failed => "Unreachable",
        Health::Unknown => "Unknown",
    }
}

/// Creates the states' context; inside the router, after the session. The state of the current
/// cluster is kept up to date.
pub fn provide_cluster_states(session: Session) {
    let states = ClusterStates {
        known: RwSignal::new(Vec::new()),
        failed: RwSignal::new(false),
    };
    provide_context(states);
    let path = use_location().pathname;
    let current = Memo::new(move |_| path.with(|path| routes::cluster_of(path)));
    Effect::new(move |_| {
        session.project.track();
        let Some(cluster) = current.get() else {
            return;
        };
        let first = set_timeout_with_handle(
            move || {
                if states
                    .known
                    .with_untracked(|known| known.iter().all(|state| state.id != cluster))
                {
                    states.refresh(vec![cluster]);
                }
            },
            GRACE,
        );
        let again = set_interval_with_handle(
            move || {
                if !document().hidden() {
                    states.refresh(vec![cluster]);
                }
            },
            CURRENT_INTERVAL,
        );
        on_cleanup(move || {
            if let Ok(first) = first {
                first.clear();
            }
            if let Ok(again) = again {
                again.clear();
            }
        });
    });
}

pub fn use_cluster_states() -> ClusterStates {
    expect_context()
}
