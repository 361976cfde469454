ALTER INDEX saved_forms_by_user RENAME TO kept_forms_by_user;
ALTER TABLE saved_forms RENAME TO kept_forms;
