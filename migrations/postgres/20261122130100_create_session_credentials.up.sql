-- The application credential of a session that stays signed in. The secret goes with the session;
-- the row stays until the credential is deleted at Keystone.
CREATE TABLE session_credentials (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    project_name TEXT NOT NULL,
    -- Keystone's ID of the credential
    credential_id TEXT NOT NULL,
    name TEXT NOT NULL,
    secret_sealed BYTEA,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- one replica at a time fetches a token
    claimed_until BIGINT,
    ended_at BIGINT
);

CREATE INDEX session_credentials_by_session ON session_credentials (session_id);
CREATE INDEX session_credentials_by_user ON session_credentials (user_id, ended_at);
