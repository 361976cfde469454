-- Namespaces in which a subject was given rights through Portico, or which a user added. They are
-- hints, not rights: the API server decides. Times are epoch seconds.
CREATE TABLE namespace_candidates (
    -- a group, as the role binding names it
    subject TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (subject, cluster_id, namespace)
);

CREATE INDEX namespace_candidates_by_expiry ON namespace_candidates (expires_at);
