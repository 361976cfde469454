-- The journals of managed clusters: what was requested through Portico, and what was observed. Each
-- cluster of a project has a chain of its own. Times are epoch seconds, except where the name says so.
CREATE TABLE cluster_journal_heads (
    project_id TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    -- of the newest entry; 0 and empty before the first
    sequence BIGINT NOT NULL,
    hash TEXT NOT NULL,
    -- the last observation as JSON; no secret
    observation TEXT,
    observed_at BIGINT,
    -- increases with each observation that differs
    revision BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, cluster_id)
);

CREATE INDEX cluster_journal_heads_by_expiry ON cluster_journal_heads (expires_at);

CREATE TABLE cluster_journal_entries (
    project_id TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    at_millis BIGINT NOT NULL,
    -- request or observation
    source TEXT NOT NULL,
    -- JSON, byte for byte as the hash covers it
    content TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (project_id, cluster_id, sequence)
);
