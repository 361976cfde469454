-- A chain of hashes over the audit log: each entry has a sequence number and a hash over the hash before it and its own
-- content. An entry without a sequence number was written by a version that does not know the chain; it joins later.
ALTER TABLE audit_events ADD COLUMN cluster_id TEXT;
ALTER TABLE audit_events ADD COLUMN sequence INTEGER;
ALTER TABLE audit_events ADD COLUMN hash TEXT;
ALTER TABLE audit_events ADD COLUMN seal TEXT;
ALTER TABLE audit_events ADD COLUMN adopted_millis INTEGER;

CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (sequence);
CREATE INDEX audit_events_of_user ON audit_events (user_id, sequence);
CREATE INDEX audit_events_of_project ON audit_events (project_id, sequence);
CREATE INDEX audit_events_unchained ON audit_events (at_millis, id) WHERE sequence IS NULL;

-- The chain's ends: the newest entry, and the newest one that retention has removed. A writer holds this row locked.
CREATE TABLE audit_chain (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    hash TEXT NOT NULL,
    start_sequence INTEGER NOT NULL,
    start_hash TEXT NOT NULL,
    seal TEXT NOT NULL
);
INSERT INTO audit_chain (id, sequence, hash, start_sequence, start_hash, seal) VALUES (1, 0, '', 0, '', '');

-- only the place in the chain may be filled in, and once
DROP TRIGGER audit_events_unchangeable;
CREATE TRIGGER audit_events_unchangeable
BEFORE UPDATE ON audit_events
WHEN OLD.sequence IS NOT NULL
    OR NEW.id IS NOT OLD.id
    OR NEW.at_millis IS NOT OLD.at_millis
    OR NEW.request_id IS NOT OLD.request_id
    OR NEW.session_id IS NOT OLD.session_id
    OR NEW.user_id IS NOT OLD.user_id
    OR NEW.user_name IS NOT OLD.user_name
    OR NEW.project_id IS NOT OLD.project_id
    OR NEW.cluster_id IS NOT OLD.cluster_id
    OR NEW.action IS NOT OLD.action
    OR NEW.target IS NOT OLD.target
    OR NEW.outcome IS NOT OLD.outcome
    OR NEW.detail IS NOT OLD.detail
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be changed');
END;
