DROP TABLE audit_events;
DROP FUNCTION audit_events_refuse_change;
