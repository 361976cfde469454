//! `portico cluster`, and what it is made of, against the real Magnum of a running stack.
//! `PORTICO_TEST_ENV` names the file that says where it is. `docs/clusters/cases.md` lists the cases.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod certificates;
mod client;
mod cluster_content;
mod colleague;
mod conductor;
mod creation;
mod day_two;
mod day_two_story;
mod deletion;
mod drain;
mod drivers;
mod failures;
mod faults;
mod files;
mod gateway;
mod heat;
mod imported_cluster;
mod local;
mod node_events;
mod node_groups;
mod nodes;
mod outages;
mod outside_changes;
mod panel;
mod preconfigure;
mod rights;
mod service_proxy;
mod stand_in;
mod story;
mod templates;
mod tenant;
mod tokens;
mod upgrade;
mod validate;
mod waiting;
