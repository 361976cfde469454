//! Whether a conductor of Magnum answers, for users who may ask.
use super::viewer::Viewer;
use portico_cluster_operations::{Clients, conductor};
use portico_lifecycle::rights::Call;

/// Returns whether a conductor of Magnum is up; `None`: not known, as only administrators may ask.
pub async fn has_conductor(clients: &Clients, viewer: &Viewer) -> Option<bool> {
    if viewer.refusal(Call::ListConductors, None).is_some() {
        return None;
    }
    conductor::has_conductor(clients, &viewer.token).await
}
