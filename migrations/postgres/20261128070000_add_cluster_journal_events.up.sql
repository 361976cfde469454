-- Events of a cluster's stack in Heat: each is in the journal once, whichever replica reads it. NULL for the
-- other entries, of which there may be any number.
ALTER TABLE cluster_journal_entries ADD COLUMN event_id TEXT;

CREATE UNIQUE INDEX cluster_journal_entries_by_event
    ON cluster_journal_entries (project_id, cluster_id, event_id);
