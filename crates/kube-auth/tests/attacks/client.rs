//! 52 to 56: kubectl's exec plugin and kubeconfigs.
