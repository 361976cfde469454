-- When the user last proved who they are; null where nobody knows.
ALTER TABLE sessions ADD COLUMN authenticated_at INTEGER;
