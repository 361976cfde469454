-- What exists before and between sessions: sign-ins under way, hand-overs to app hosts, limits.
CREATE TABLE sign_in_flows (
    secret_hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    return_path TEXT NOT NULL,
    user_name TEXT,
    domain TEXT,
    receipt_sealed BYTEA,
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE handover_codes (
    code_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    nonce_hash TEXT NOT NULL,
    return_path TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- A TOTP code counts once, even within its validity.
CREATE TABLE totp_marks (
    user_id TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE sign_in_throttles (
    subject_hash TEXT PRIMARY KEY,
    failures BIGINT NOT NULL,
    window_started_at BIGINT NOT NULL
);
