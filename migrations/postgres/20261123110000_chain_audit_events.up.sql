-- A chain of hashes over the audit log: each entry has a sequence number and a hash over the hash before it and its own
-- content. An entry without a sequence number was written by a version that does not know the chain; it joins later.
ALTER TABLE audit_events
    ADD COLUMN cluster_id TEXT,
    ADD COLUMN sequence BIGINT,
    ADD COLUMN hash TEXT,
    ADD COLUMN seal TEXT,
    ADD COLUMN adopted_millis BIGINT;

CREATE UNIQUE INDEX audit_events_by_sequence ON audit_events (sequence);
CREATE INDEX audit_events_of_user ON audit_events (user_id, sequence);
CREATE INDEX audit_events_of_project ON audit_events (project_id, sequence);
CREATE INDEX audit_events_unchained ON audit_events (at_millis, id) WHERE sequence IS NULL;

-- The chain's ends: the newest entry, and the newest one that retention has removed. A writer holds this row locked.
CREATE TABLE audit_chain (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    sequence BIGINT NOT NULL,
    hash TEXT NOT NULL,
    start_sequence BIGINT NOT NULL,
    start_hash TEXT NOT NULL,
    seal TEXT NOT NULL
);
INSERT INTO audit_chain (id, sequence, hash, start_sequence, start_hash, seal) VALUES (1, 0, '', 0, '', '');

-- only the place in the chain may be filled in, and once
CREATE OR REPLACE FUNCTION audit_events_refuse_change() RETURNS trigger AS $$
BEGIN
    IF OLD.sequence IS NOT NULL
        OR ROW(NEW.id, NEW.at_millis, NEW.request_id, NEW.session_id, NEW.user_id, NEW.user_name, NEW.project_id,
               NEW.cluster_id, NEW.action, NEW.target, NEW.outcome, NEW.detail)
            IS DISTINCT FROM
           ROW(OLD.id, OLD.at_millis, OLD.request_id, OLD.session_id, OLD.user_id, OLD.user_name, OLD.project_id,
               OLD.cluster_id, OLD.action, OLD.target, OLD.outcome, OLD.detail)
    THEN
        RAISE EXCEPTION 'audit events cannot be changed';
    END IF;
    RETURN NEW;
END;
$$ LANGUAGE plpgsql;
