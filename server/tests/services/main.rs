//! The panel's services against real clusters. `PORTICO_TEST_ENV` names the env file of a running
//! stack (Keystone, clusters, kube-auth); without it there is nothing to test against.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod access;
mod account;
mod attention;
mod authentication;
mod bootstrap;
mod bulk_changes;
mod cluster_states;
mod creation;
mod deletion;
mod drain;
mod exec_plugin;
mod flaws;
mod health;
mod kubectl_edits;
mod kubectl_rows;
mod list_views;
mod lists;
mod logs;
mod manifests;
mod namespaces;
mod node_journal;
mod objects;
mod own_cloud;
mod own_namespace;
mod pages;
mod policy_config_map;
mod programs;
mod queries;
mod relations;
mod search;
mod shared_watches;
mod stack;
mod streams;
mod sync;
mod tab;
mod terminal;
mod usage;
mod usage_rows;
mod what_can;
mod workload_statuses;
mod workloads;
