ALTER TABLE saved_forms RENAME TO kept_forms;
DROP INDEX saved_forms_by_user;
CREATE INDEX kept_forms_by_user ON kept_forms (user_id, created_at);
