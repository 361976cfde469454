DROP TABLE logout_marks;
DROP TABLE provider_tokens;
DROP TABLE provider_flows;
DROP INDEX sessions_by_provider;
ALTER TABLE sessions DROP COLUMN provider_expires_at;
ALTER TABLE sessions DROP COLUMN provider_profile;
ALTER TABLE sessions DROP COLUMN provider_sid;
ALTER TABLE sessions DROP COLUMN provider_subject;
ALTER TABLE sessions DROP COLUMN provider;
