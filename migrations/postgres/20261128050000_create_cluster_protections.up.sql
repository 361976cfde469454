-- Managed clusters that Portico does not delete. The protection is Portico's own: Magnum knows nothing of
-- it. Times are epoch seconds.
CREATE TABLE cluster_protections (
    project_id TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    -- who has set it
    user_id TEXT NOT NULL,
    protected_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, cluster_id)
);
