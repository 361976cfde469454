DROP TABLE enrolled_clusters;
DROP TABLE enrolled_cluster_feed;
