-- The state of browsers before and beside their identity sessions, sealed. Nothing in it is single-use or
-- counted. Times are epoch seconds.
CREATE TABLE browser_sessions (
    -- HMAC of the ID in the browser's cookie
    id_hash TEXT PRIMARY KEY,
    data_sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE INDEX browser_sessions_by_end ON browser_sessions (expires_at);
