DROP TABLE session_changes;
DROP TABLE session_feed;
