-- A database as the program wrote it before there was a feed of changes: one session, with its times
-- set so far ahead that it is always live, and without its Keystone tokens. Made for this test only:
-- cookie 7sBAQGXc9IjArVlaHwOHnJk0XHM67N1x1JmG0BgBTbE
-- key C73nmDEKVxgtyQt4a3u2dZ4okDT72zgRRvQmBFF87xI=
BEGIN TRANSACTION;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO "_sqlx_migrations" VALUES(20261121090000,'create sessions','2026-11-22 07:19:37',1,X'680F4A97266A723F6864EB56E9B2B30EBE128C674E68D9E2003230ECF57F8D12B915E6D8C4A80D92C7CF092F0980B271',1410924);
INSERT INTO "_sqlx_migrations" VALUES(20261121090100,'create sign in','2026-11-22 07:19:37',1,X'6A30D77F8B2FFB42D9F036F033AD4C985EE58DC4B095C60F656CFA9DE063E09228ED28D49982CD40B7F5E78AD917FBC2',2858223);
INSERT INTO "_sqlx_migrations" VALUES(20261121090200,'create command line','2026-11-22 07:19:37',1,X'265C41ACDA9F57F7DFF6330B4BFCE8B452EE655CC4A3C84214F08D3E372B92EFC5D89307BA24CA341232A28BBF9E127C',3472489);
INSERT INTO "_sqlx_migrations" VALUES(20261121090300,'create audit events','2026-11-22 07:19:37',1,X'A0CFE83CA6288539E31AB3469104C5D27E2D3A274265522C1E1291EBD9DAECC35E51FFEACAC80B1298B0C066F0CAE9F1',5061259);
INSERT INTO "_sqlx_migrations" VALUES(20261122110000,'create kept forms','2026-11-22 07:19:37',1,X'4F2FC4E750C0FA968C63FA3F3316BE2ACE231A75FBC615597B3452A1BF98E3DBD882FCADC441FD99EE5FD87FCA9248EA',2014785);
CREATE TABLE access_tokens (
    token_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL
);
CREATE TABLE audit_events (
    id TEXT PRIMARY KEY,
    at_millis INTEGER NOT NULL,
    request_id TEXT,
    session_id TEXT,
    user_id TEXT,
    user_name TEXT,
    project_id TEXT,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE TABLE authorization_codes (
    code_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    client TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    project TEXT,
    expires_at INTEGER NOT NULL
);
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
    poll_interval INTEGER NOT NULL,
    last_polled_at INTEGER,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE handover_codes (
    code_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    nonce_hash TEXT NOT NULL,
    return_path TEXT NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE kept_forms (
    -- HMAC of the secret in the browser's cookie
    secret_hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL,
    target TEXT NOT NULL,
    body_sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE keystone_tokens (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    -- empty for an unscoped token
    project_id TEXT NOT NULL,
    project TEXT,
    roles TEXT NOT NULL,
    token_sealed BLOB NOT NULL,
    audit_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- set when the token must be revoked: the next try
    revoke_at INTEGER,
    revoke_attempts INTEGER NOT NULL
);
CREATE TABLE refresh_tokens (
    token_hash TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    rotated_at INTEGER,
    successor_hash TEXT
);
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
    csrf_sealed BLOB NOT NULL,
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    idle_expires_at INTEGER NOT NULL,
    absolute_expires_at INTEGER NOT NULL,
    keystone_expires_at INTEGER NOT NULL,
    keystone_checked_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason TEXT
);
INSERT INTO "sessions" VALUES('074adbe2-e6d0-45ff-b2b2-d9ae236ff775','vc2fIbFSfbw2Dbb1_t2OUQWbyHDrQOSiv8b59hvMIk4',NULL,'browser',NULL,NULL,'3407f7b7621c486180d7371425cb48db','ada','default','Default','[]',NULL,'["password"]',X'9E784B2F263B402F2F81F92E6668A1BA9A994AE3361DBE4AA9749F6C7CD47B5CDC05782AA98AF2886F304A20567747998F16D108BF9CE28C4014831F73DDB9B6B0984B3035E74F361BED34','Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0','127.0.0.1',1795331980,1795331980,4102444800,4102444800,4102444800,4102444800,NULL,NULL);
CREATE TABLE sign_in_flows (
    secret_hash TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    return_path TEXT NOT NULL,
    user_name TEXT,
    domain TEXT,
    receipt_sealed BLOB,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE TABLE sign_in_throttles (
    subject_hash TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    window_started_at INTEGER NOT NULL
);
CREATE TABLE totp_marks (
    user_id TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);
CREATE TABLE user_last_projects (
    user_id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX sessions_by_parent ON sessions (parent);
CREATE INDEX sessions_by_user ON sessions (user_id, ended_at);
CREATE INDEX sessions_by_end ON sessions (ended_at);
CREATE INDEX keystone_tokens_by_session ON keystone_tokens (session_id, project_id);
CREATE INDEX keystone_tokens_by_revocation ON keystone_tokens (revoke_at);
CREATE INDEX access_tokens_by_session ON access_tokens (session_id);
CREATE INDEX refresh_tokens_by_session ON refresh_tokens (session_id);
CREATE INDEX audit_events_by_time ON audit_events (at_millis);
CREATE INDEX audit_events_by_user ON audit_events (user_id, at_millis);
CREATE INDEX audit_events_by_session ON audit_events (session_id);
CREATE TRIGGER audit_events_unchangeable
BEFORE UPDATE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be changed');
END;
CREATE INDEX kept_forms_by_user ON kept_forms (user_id, created_at);
COMMIT;
