//! Requests of one kind, from which a change of several steps is resumed.
use super::{
    content::RequestContent,
    page::{no_journals, unreadable},
};
use crate::service::{
    error::ServiceError,
    lifecycle::{access::MagnumAccess, viewer::Viewer},
};
use jiff::Timestamp;
use portico_store::{JournalEntry, JournalKey, JournalSource};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Maximum number of entries that are looked through.
const MAX_ENTRIES: u32 = 500;

/// Returns the requests as [`timed_requests`] does, without their times.
///
/// # Errors
/// As [`timed_requests`].
pub async fn requests(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    action: &str,
    except: Option<&str>,
) -> Result<Vec<RequestContent>, ServiceError> {
    let timed = timed_requests(access, viewer, cluster, action, except).await?;
    Ok(timed.into_iter().map(|(_, request)| request).collect())
}

/// Returns the requests with an action among the newest entries of a cluster's journal, the newest first,
/// each with its last outcome and the time of that. The request with the ID `except` is left out.
///
/// # Errors
/// `Unavailable` if there are no journals, or they cannot be read.
pub async fn timed_requests(
    access: &MagnumAccess,
    viewer: &Viewer,
    cluster: Uuid,
    action: &str,
    except: Option<&str>,
) -> Result<Vec<(Timestamp, RequestContent)>, ServiceError> {
    let Some(store) = access.feeds.journal().store() else {
        return Err(no_journals());
    };
    let key = JournalKey {
        project_id: viewer.project_id().to_owned(),
        cluster,
    };
    let journal = store.cluster_journal();
    let list = journal.list_without_events(&key, None, MAX_ENTRIES).await;
    let entries = list.map_err(|error| unreadable(&error))?;
    Ok(of(&entries, action, except))
}

/// Returns the requests of entries, of which the newest are first.
pub fn of(
    entries: &[JournalEntry],
    action: &str,
    except: Option<&str>,
) -> Vec<(Timestamp, RequestContent)> {
    // a request has an entry before it is sent and one with its outcome
    let mut seen: BTreeSet<String> = except.map(str::to_owned).into_iter().collect();
    entries
        .iter()
        .filter(|entry| entry.source == JournalSource::Request)
        .filter_map(|entry| {
            let request = serde_json::from_str::<RequestContent>(&entry.content);
            Some((entry.at, request.ok()?))
        })
        .filter(|(_, request)| request.action == action)
        .filter(|(_, request)| match &request.request_id {
            Some(id) => seen.insert(id.clone()),
            None => true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(action: &str, id: &str, outcome: &str) -> JournalEntry {
        let content = json!({"action": action, "target": id, "user_id": "ada", "user_name": "ada",
                             "request_id": id, "outcome": outcome});
        JournalEntry {
            sequence: 1,
            at: Timestamp::UNIX_EPOCH,
            source: JournalSource::Request,
            content: content.to_string(),
            hash: String::new(),
        }
    }

    #[test]
    fn a_request_has_its_last_outcome_and_the_own_one_is_left_out() {
        let entries = [
            entry("replace_node", "own", "sending"),
            entry("replace_node", "req-2", "refused"),
            entry("resize_node_group", "req-3", "accepted"),
            entry("replace_node", "req-2", "sending"),
            entry("replace_node", "req-1", "accepted"),
        ];
        let found = of(&entries, "replace_node", Some("own"));
        let found: Vec<_> = found
            .iter()
            .map(|(_, request)| (request.target.as_str(), request.outcome.may_have_effect()))
            .collect();
        assert_eq!(found, [("req-2", false), ("req-1", true)]);
    }
}
