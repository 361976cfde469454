DROP TRIGGER audit_events_unchangeable;
DROP TABLE audit_chain;
DROP INDEX audit_events_unchained;
DROP INDEX audit_events_of_project;
DROP INDEX audit_events_of_user;
DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events DROP COLUMN adopted_millis;
ALTER TABLE audit_events DROP COLUMN seal;
ALTER TABLE audit_events DROP COLUMN hash;
ALTER TABLE audit_events DROP COLUMN sequence;
ALTER TABLE audit_events DROP COLUMN cluster_id;

CREATE TRIGGER audit_events_unchangeable
BEFORE UPDATE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events cannot be changed');
END;
