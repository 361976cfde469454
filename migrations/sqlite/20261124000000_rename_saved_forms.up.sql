-- The table is named after what it holds.
ALTER TABLE kept_forms RENAME TO saved_forms;
DROP INDEX kept_forms_by_user;
CREATE INDEX saved_forms_by_user ON saved_forms (user_id, created_at);
