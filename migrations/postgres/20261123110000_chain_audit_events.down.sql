CREATE OR REPLACE FUNCTION audit_events_refuse_change() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'audit events cannot be changed';
END;
$$ LANGUAGE plpgsql;

DROP TABLE audit_chain;
DROP INDEX audit_events_unchained;
DROP INDEX audit_events_of_project;
DROP INDEX audit_events_of_user;
DROP INDEX audit_events_by_sequence;
ALTER TABLE audit_events
    DROP COLUMN adopted_millis,
    DROP COLUMN seal,
    DROP COLUMN hash,
    DROP COLUMN sequence,
    DROP COLUMN cluster_id;
