//! Reads the journal of a cluster.
use super::agreement::agreement;
use super::reader::Reader;
use super::sending::{INTERRUPTED, Outcomes};
use super::{node_events, stack_events};
use crate::{
    caller::Caller,
    kube::ClusterSnapshot,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{access::MagnumAccess, viewer::Viewer},
    },
};
use app::error::UiErrorKind;
use portico_domain::panel::lifecycle::{ClusterJournal, JournalFilter};
use portico_lifecycle::rights::Call;
use portico_store::{JournalEntry, JournalKey, Store};
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

/// Maximum number of entries that are read at once for a file.
const BATCH: u32 = 500;

/// Returns the entries before a sequence number, the newest first, on the first page with new events
/// of the cluster's nodes and its stack.
///
/// # Errors
/// `NotPermitted` if Magnum's policy does not show the project's clusters to the caller; `Unavailable` if
/// there is no journal, or it cannot be read.
pub async fn journal(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
    before: Option<i64>,
    filter: &JournalFilter,
) -> Result<ClusterJournal, ServiceError> {
    let (access, store, key, viewer) = open(services, caller, cluster).await?;
    let mut gaps = Vec::new();
    if before.is_none() {
        let (of_heat, of_nodes) = tokio::join!(
            stack_events::refresh(access, &viewer, &key),
            node_events::refresh(services, clusters, caller, &viewer, cluster),
        );
        gaps.extend(of_heat.into_iter().chain(of_nodes));
    }
    let compared = match before {
        None => agreement(&access.agreements, &store, &key, services.clock.now()).await,
        Some(_) => None,
    };
    let reader = Reader {
        clients: &access.clients,
        names: &access.template_names,
        journal: store.cluster_journal(),
        key: &key,
        viewer: &viewer,
        now: services.clock.now(),
    };
    let page = if filter.is_empty() {
        reader.page(before).await
    } else {
        reader.filtered(before, filter).await
    };
    let mut page = page.map_err(|error| unreadable(&error))?;
    // an event is recorded after it has happened
    page.rows.sort_by_key(|row| std::cmp::Reverse(row.at));
    Ok(ClusterJournal {
        rows: page.rows,
        older: page.older,
        changed: page.changed,
        agreement: compared,
        gaps,
    })
}

/// Returns the journal as JSON lines, the oldest entry first: the whole, the entries after a sequence
/// number, or those that match a filter. Their contents are as they were written, so that the hashes can be
/// computed again: templates have their UUIDs. What is known of a request that was interrupted is beside its content.
///
/// # Errors
/// Those of [`journal`].
pub async fn export(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    after: Option<i64>,
    filter: &JournalFilter,
) -> Result<String, ServiceError> {
    let (access, store, key, viewer) = open(services, caller, cluster).await?;
    // what is missing is read the next time
    let snapshot = services.clusters.snapshot();
    tokio::join!(
        stack_events::refresh(access, &viewer, &key),
        node_events::refresh(services, &snapshot, caller, &viewer, cluster),
    );
    let reader = Reader {
        clients: &access.clients,
        names: &access.template_names,
        journal: store.cluster_journal(),
        key: &key,
        viewer: &viewer,
        now: services.clock.now(),
    };
    let mut lines = Vec::new();
    let mut outcomes = Outcomes::default();
    let mut before = None;
    loop {
        let list = reader.journal.list(&key, before, BATCH).await;
        let entries = list.map_err(|error| unreadable(&error))?;
        let is_wanted = |entry: &&JournalEntry| after.is_none_or(|after| entry.sequence > after);
        let wanted: Vec<&JournalEntry> = entries.iter().take_while(is_wanted).collect();
        let is_last = entries.len() < usize::try_from(BATCH).unwrap_or(usize::MAX)
            || wanted.len() < entries.len();
        let matching = match filter.is_empty() {
            true => None,
            false => {
                let matching = reader.matching(&entries, before, filter).await;
                Some(matching.map_err(|error| unreadable(&error))?)
            }
        };
        for entry in wanted {
            // also of those that do not match: a request can match by its beginning only
            let is_interrupted = outcomes.is_interrupted(entry, reader.now);
            let is_match = |matching: &HashSet<i64>| matching.contains(&entry.sequence);
            if matching.as_ref().is_none_or(is_match) {
                lines.push(line(entry, is_interrupted));
            }
        }
        match entries.last() {
            Some(oldest) if !is_last => before = Some(oldest.sequence),
            _ => break,
        }
    }
    lines.reverse();
    Ok(lines.concat())
}

/// Returns an entry as a line of JSON.
fn line(entry: &JournalEntry, is_interrupted: bool) -> String {
    let content: Value = serde_json::from_str(&entry.content).unwrap_or(Value::Null);
    let mut line = json!({
        "sequence": entry.sequence,
        "time": entry.at.to_string(),
        "source": entry.source.as_str(),
        "content": content,
        "hash": entry.hash,
    });
    if is_interrupted {
        line["interrupted"] = INTERRUPTED.into();
    }
    format!("{line}\n")
}

/// Returns the access, the store, the journal's key, and the viewer who may read it. It is that of the cluster in the
/// caller's project, so a cluster of another project has none.
async fn open<'a>(
    services: &'a Services,
    caller: &Caller,
    cluster: Uuid,
) -> Result<(&'a MagnumAccess, Store, JournalKey, Viewer), ServiceError> {
    let access: &MagnumAccess = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    if let Some(refusal) = viewer.refusal(Call::ShowCluster, None) {
        return Err(ServiceError::not_permitted(refusal));
    }
    let Some(store) = access.feeds.journal().store() else {
        return Err(no_journals());
    };
    let key = JournalKey {
        project_id: viewer.project_id().to_owned(),
        cluster,
    };
    Ok((access, store.clone(), key, viewer))
}

/// Returns that there are no journals.
pub fn no_journals() -> ServiceError {
    ServiceError::new(
        UiErrorKind::Unavailable,
        "Portico writes no journals here: its store is Redis.",
    )
    .next("Ask the operator to use SQLite or PostgreSQL in store.url.")
}

/// Returns that a journal cannot be read.
pub fn unreadable(error: &portico_store::StoreError) -> ServiceError {
    tracing::error!(%error, "a journal cannot be read");
    ServiceError::new(
        UiErrorKind::Unavailable,
        "The journal cannot be read now: Portico's store does not answer.",
    )
    .next("Try again in a minute.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use portico_store::JournalSource;

    #[test]
    fn a_line_of_an_interrupted_request_has_what_is_known_beside_what_was_written() {
        let content = json!({"action": "delete_cluster", "outcome": "sending"});
        let entry = JournalEntry {
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            source: JournalSource::Request,
            content: content.to_string(),
            hash: "h".to_owned(),
        };
        let read = |is_interrupted| -> Value {
            serde_json::from_str(&line(&entry, is_interrupted)).unwrap()
        };
        let plain = json!({"sequence": 1, "time": "1970-01-01T00:00:00Z", "source": "request",
                           "content": content, "hash": "h"});
        assert_eq!(read(false), plain);
        let mut interrupted = plain;
        interrupted["interrupted"] = INTERRUPTED.into();
        assert_eq!(read(true), interrupted);
    }
}
