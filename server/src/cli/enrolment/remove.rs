//! `portico enrolment remove`.
use super::checks::{ImportError, imported};
use super::{all, record};
use crate::cli::migrate::with_next_step;
use jiff::Timestamp;
use portico_store::{Outcome, Store};
use uuid::Uuid;

const ACTION: &str = "cluster.remove";

/// Removes the record of an imported cluster.
pub(super) async fn remove(store: &Store, id: Uuid, now: Timestamp) -> anyhow::Result<String> {
    let clusters = all(store).await?;
    let cluster = imported(&clusters, id)?;
    // an action that cannot be recorded is not carried out
    record(store, ACTION, cluster, Outcome::Intended, now).await?;
    let removed = store.enrolled_clusters().remove(id).await;
    let outcome = match removed {
        Ok(true) => Outcome::Succeeded,
        Ok(false) | Err(_) => Outcome::Failed,
    };
    record(store, ACTION, cluster, outcome, now).await?;
    if !removed.map_err(|error| with_next_step("remove the record", &error))? {
        return Err(ImportError::Unknown(id).into());
    }
    Ok(format!(
        "{} ({id}) is removed. The gateway, the panel and kube-auth stop serving it within seconds; \
         its API server still has the flags of the webhook, and the role bindings are still there.\n",
        cluster.name
    ))
}
