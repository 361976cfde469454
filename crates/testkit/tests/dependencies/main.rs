//! The dependencies of the workspace, as `cargo metadata` and `Cargo.lock` have them: their licences,
//! banned and duplicate packages, and entries that nothing names.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod banned;
mod duplicates;
mod graph;
mod licences;
mod named;
mod unused;
