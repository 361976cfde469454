DROP TABLE namespace_candidates;
