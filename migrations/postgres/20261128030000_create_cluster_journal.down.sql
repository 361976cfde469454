DROP TABLE cluster_journal_entries;
DROP TABLE cluster_journal_heads;
