//! What was printed of a journal that is followed.
use super::{Entry, EventSource, ended};
use std::collections::BTreeSet;

/// Up to where a journal was read.
#[derive(Debug, Default)]
pub(super) struct Followed {
    last: Option<i64>,
    /// The requests that had no outcome yet: nothing is appended for one that is interrupted, so it is read again.
    open: BTreeSet<i64>,
}

impl Followed {
    /// Returns the sequence number after which the journal is read; `None`: from its beginning.
    pub(super) fn after(&self) -> Option<i64> {
        let before_open = self.open.first().map(|first| first - 1);
        before_open.or(self.last)
    }

    /// Takes what was read, the oldest entry first; returns which of the entries are to be printed: new ones, and
    /// requests that were printed without an outcome and are interrupted.
    pub(super) fn take(&mut self, read: &[Entry]) -> impl FnMut(&Entry) -> bool + use<> {
        let (last, open) = (self.last, self.open.clone());
        if let Some(newest) = read.last() {
            let ended = ended(read);
            let begun = read.iter().filter(|entry| {
                entry.is_begin() && entry.interrupted.is_none() && !ended.contains(&entry.key())
            });
            self.open = begun.map(|entry| entry.sequence).collect();
            self.last = Some(newest.sequence);
        }
        move |entry| {
            let is_new = last.is_none_or(|last| entry.sequence > last);
            let is_open = entry.source == EventSource::Request && open.contains(&entry.sequence);
            is_new || (is_open && entry.interrupted.is_some())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, request};
    use super::*;
    use serde_json::json;

    /// Returns the sequence numbers of the entries that are printed.
    fn printed(followed: &mut Followed, entries: Vec<Entry>) -> Vec<i64> {
        let is_new = followed.take(&entries);
        let mut rows = super::super::chosen(entries, None, None);
        rows.retain(is_new);
        rows.iter().map(|entry| entry.sequence).collect()
    }

    #[test]
    fn a_request_that_is_interrupted_while_it_is_followed_is_printed_again() {
        let mut followed = Followed::default();
        let [first, second] = [("r1", 4), ("r2", 5)].map(|(id, at)| request(at, "sending", id));
        assert_eq!(followed.after(), None);
        let both = [first.clone(), second.clone()];
        assert_eq!(printed(&mut followed, read(&both)), [4, 5]);
        assert_eq!(followed.after(), Some(3));
        assert!(printed(&mut followed, read(&both)).is_empty());
        // an outage
        assert!(printed(&mut followed, Vec::new()).is_empty());
        assert_eq!(followed.after(), Some(3));
        let accepted = request(6, "accepted", "r2");
        let all = read(&[first.clone(), second.clone(), accepted.clone()]);
        assert_eq!(printed(&mut followed, all), [6]);
        let mut interrupted = first;
        interrupted["interrupted"] = json!("Portico stopped.");
        let all = read(&[interrupted, second, accepted]);
        assert_eq!(printed(&mut followed, all), [4]);
        assert_eq!(followed.after(), Some(6));
    }
}
