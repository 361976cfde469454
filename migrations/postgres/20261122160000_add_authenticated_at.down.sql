ALTER TABLE sessions DROP COLUMN authenticated_at;
