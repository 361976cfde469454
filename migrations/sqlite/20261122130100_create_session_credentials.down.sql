DROP TABLE session_credentials;
