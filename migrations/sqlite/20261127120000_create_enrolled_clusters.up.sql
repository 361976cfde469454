-- Clusters that users enrolled (ADR 0022), for the panel and for the signed list of kube-auth (ADR 0023).
-- The sequence increases with every change, in its transaction. It is counted in a row, as the
-- position of session_feed is: the row stays locked until the commit.
CREATE TABLE enrolled_cluster_feed (
    id INTEGER PRIMARY KEY,
    sequence INTEGER NOT NULL
);

INSERT INTO enrolled_cluster_feed (id, sequence) VALUES (1, 0);

CREATE TABLE enrolled_clusters (
    cluster_id TEXT PRIMARY KEY,
    -- JSON; no secret
    record TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
