-- The table is named after what it holds.
ALTER TABLE kept_forms RENAME TO saved_forms;
ALTER INDEX kept_forms_by_user RENAME TO saved_forms_by_user;
