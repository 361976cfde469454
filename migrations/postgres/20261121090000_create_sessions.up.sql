-- Sessions of browsers, and their children on app hosts and command lines. Times are epoch seconds.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    -- HMAC of the cookie's secret; NULL for command-line sessions, which have access tokens
    secret_hash TEXT UNIQUE,
    parent TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    app TEXT,
    client TEXT,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    domain_name TEXT NOT NULL,
    projects TEXT NOT NULL,
    last_project TEXT,
    auth_methods TEXT NOT NULL,
    csrf_sealed BYTEA NOT NULL,
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    idle_expires_at BIGINT NOT NULL,
    absolute_expires_at BIGINT NOT NULL,
    keystone_expires_at BIGINT NOT NULL,
    keystone_checked_at BIGINT NOT NULL,
    ended_at BIGINT,
    end_reason TEXT
);

CREATE INDEX sessions_by_parent ON sessions (parent);
CREATE INDEX sessions_by_user ON sessions (user_id, ended_at);
CREATE INDEX sessions_by_end ON sessions (ended_at);

CREATE TABLE user_last_projects (
    user_id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- Every Keystone token of a session, stored before its first use; the row goes when the token is
-- revoked or has expired.
CREATE TABLE keystone_tokens (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- empty for an unscoped token
    project_id TEXT NOT NULL,
    project TEXT,
    roles TEXT NOT NULL,
    token_sealed BYTEA NOT NULL,
    audit_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- set when the token must be revoked: the next try
    revoke_at BIGINT,
    revoke_attempts BIGINT NOT NULL
);

CREATE INDEX keystone_tokens_by_session ON keystone_tokens (session_id, project_id);
CREATE INDEX keystone_tokens_by_revocation ON keystone_tokens (revoke_at);
