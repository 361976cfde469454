-- What replicas must learn of each other: sessions that have ended or changed. Positions are counted
-- in a row and not by a sequence: the row stays locked until the commit, so that they appear in
-- their order and without gaps.
CREATE TABLE session_feed (
    id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);

INSERT INTO session_feed (id, position) VALUES (1, 0);

CREATE TABLE session_changes (
    position INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    end_reason TEXT,
    -- the process that wrote it
    origin TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX session_changes_by_time ON session_changes (created_at);
