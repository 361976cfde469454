DROP TABLE keystone_tokens;
DROP TABLE user_last_projects;
DROP TABLE sessions;
