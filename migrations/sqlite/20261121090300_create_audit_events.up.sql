-- Who did what, append-only: rows may be deleted when they are old, never changed.
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

CREATE INDEX audit_events_by_time ON audit_events (at_millis);
CREATE INDEX audit_events_by_user ON audit_events (user_id, at_millis);
CREATE INDEX audit_events_by_session ON audit_events (session_id);

CREATE TRIGGER audit_events_unchangeable
BEFORE UPDATE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be changed');
END;
