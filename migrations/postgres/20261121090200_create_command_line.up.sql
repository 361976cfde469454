-- The command line's ways in: device codes (RFC 8628), authorization codes (PKCE), its tokens.
CREATE TABLE device_codes (
    device_code_hash TEXT PRIMARY KEY,
    user_code_hash TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    address TEXT NOT NULL,
    project TEXT,
    cluster TEXT,
    status TEXT NOT NULL,
    -- who approved
    session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    poll_interval BIGINT NOT NULL,
    last_polled_at BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE authorization_codes (
    code_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    project TEXT,
    expires_at BIGINT NOT NULL
);

CREATE TABLE access_tokens (
    token_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
);

-- The session is the family: reuse of a rotated token ends it.
CREATE TABLE refresh_tokens (
    token_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    rotated_at BIGINT,
    successor_hash TEXT
);

CREATE INDEX access_tokens_by_session ON access_tokens (session_id);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);
