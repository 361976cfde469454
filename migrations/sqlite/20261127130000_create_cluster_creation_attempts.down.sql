DROP TABLE cluster_creation_attempts;
