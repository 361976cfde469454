DROP TABLE browser_sessions;
