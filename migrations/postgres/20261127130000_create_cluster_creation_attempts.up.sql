-- Requests for new clusters: what is known about each, so that a lost response, a reload and a second
-- replica never make a second cluster. Times are epoch seconds.
CREATE TABLE cluster_creation_attempts (
    project_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    -- chosen by the page
    attempt_id TEXT NOT NULL,
    cluster_name TEXT NOT NULL,
    -- JSON; no secret
    specification TEXT NOT NULL,
    -- not_sent, unknown, accepted, created or complete
    state TEXT NOT NULL,
    cluster_id TEXT,
    sent_at BIGINT,
    lease_holder TEXT,
    lease_until_millis BIGINT,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id, attempt_id)
);

CREATE INDEX cluster_creation_attempts_by_cluster ON cluster_creation_attempts (cluster_id);
CREATE INDEX cluster_creation_attempts_by_expiry ON cluster_creation_attempts (expires_at);
