-- Forms that arrived when their session had expired, saved for minutes until the same user has
-- signed in again. Times are epoch seconds. It replaces kept_forms, which stays for processes of the
-- previous version; the next version drops it.
CREATE TABLE saved_forms (
    -- HMAC of the secret in the browser's cookie
    secret_hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    target TEXT NOT NULL,
    body_sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX saved_forms_by_user ON saved_forms (user_id, created_at);
