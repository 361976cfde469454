-- Who did what, append-only: rows may be deleted when they are old, never changed.
CREATE TABLE audit_events (
    id TEXT PRIMARY KEY,
    at_millis BIGINT NOT NULL,
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

CREATE FUNCTION audit_events_refuse_change() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'audit events cannot be changed';
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER audit_events_unchangeable
BEFORE UPDATE ON audit_events
FOR EACH ROW EXECUTE FUNCTION audit_events_refuse_change();
