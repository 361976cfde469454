ALTER TABLE cluster_journal_heads DROP COLUMN nodes_revision;
ALTER TABLE cluster_journal_heads DROP COLUMN nodes_at;
ALTER TABLE cluster_journal_heads DROP COLUMN nodes;
