DROP TABLE cluster_protections;
