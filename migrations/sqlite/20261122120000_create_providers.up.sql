-- Sign-ins at OIDC providers, their tokens, and what a session knows of its provider. Times are
-- epoch seconds where nothing else is said.
ALTER TABLE sessions ADD COLUMN provider TEXT;
ALTER TABLE sessions ADD COLUMN provider_subject TEXT;
-- the provider's own session (sid)
ALTER TABLE sessions ADD COLUMN provider_sid TEXT;
-- e-mail, groups, roles, and whether the session has Keystone tokens
ALTER TABLE sessions ADD COLUMN provider_profile TEXT;
-- when the provider must have been asked again; NULL: it cannot be
ALTER TABLE sessions ADD COLUMN provider_expires_at INTEGER;

CREATE INDEX sessions_by_provider ON sessions (provider, provider_subject);

CREATE TABLE provider_flows (
    id TEXT PRIMARY KEY,
    state_hash TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    -- HMAC of the secret in the cookie of the browser that began it
    browser_hash TEXT NOT NULL,
    nonce_sealed BLOB NOT NULL,
    verifier_sealed BLOB NOT NULL,
    return_path TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

-- One row a session, under its root; it outlives the session until its tokens are revoked.
CREATE TABLE provider_tokens (
    session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    refresh_sealed BLOB,
    access_sealed BLOB NOT NULL,
    id_token_sealed BLOB,
    -- grows with every refresh: a token is replaced only by who has seen the last one
    version INTEGER NOT NULL,
    refreshed_at INTEGER NOT NULL,
    -- who refreshes at the moment, and until when nobody else does (milliseconds)
    lease_holder TEXT,
    lease_until_millis INTEGER,
    -- after the end of the session: the next try to revoke
    revoke_at INTEGER NOT NULL,
    revoke_attempts INTEGER NOT NULL
);

-- A logout token counts once.
CREATE TABLE logout_marks (
    provider TEXT NOT NULL,
    token_hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (provider, token_hash)
);
