-- The nodes that Kubernetes had at the last look, as JSON, with which the next look is compared. NULL: there was
-- none. Times are epoch seconds.
ALTER TABLE cluster_journal_heads ADD COLUMN nodes TEXT;
ALTER TABLE cluster_journal_heads ADD COLUMN nodes_at BIGINT;
ALTER TABLE cluster_journal_heads ADD COLUMN nodes_revision BIGINT NOT NULL DEFAULT 0;
