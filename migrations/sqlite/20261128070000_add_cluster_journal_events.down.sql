DROP INDEX cluster_journal_entries_by_event;
ALTER TABLE cluster_journal_entries DROP COLUMN event_id;
