//! The request that Magnum carries out now, as the journal has it.
use super::{
    content::{ObservationContent, RequestContent},
    rows::{changes_magnum, title, user},
};
use portico_lifecycle::journal::TemplateNames;
use portico_store::{JournalEntry, JournalSource};
use std::collections::BTreeSet;

/// Returns the last request that may be running, in words with its user, of entries of which the newest are
/// first. `None`: the cluster was settled since the last one, or there is none.
pub fn last_request(entries: &[JournalEntry], viewer_id: &str) -> Option<String> {
    // a request has an entry before it is sent and one with its outcome
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for entry in entries {
        if entry.source == JournalSource::Observation {
            let observed = serde_json::from_str::<ObservationContent>(&entry.content);
            if observed.is_ok_and(|observed| !observed.is_busy) {
                return None;
            }
            continue;
        }
        let Ok(request) = serde_json::from_str::<RequestContent>(&entry.content) else {
            continue;
        };
        let id = request.request_id.as_ref();
        let is_last = id.is_none_or(|id| seen.insert(format!("{id} {}", request.action)));
        if is_last && request.outcome.may_have_effect() && changes_magnum(&request) {
            let by = user(&request, viewer_id);
            let title = title(&request, &TemplateNames::default());
            return Some(format!("{title}, requested by {by}"));
        }
    }
    None
}
