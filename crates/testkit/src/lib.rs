//! For tests only: the running stack of real services, and what a test may make in it.
//!
//! A test that needs services loads [`TestEnv`] (the stack's env file, `PORTICO_TEST_ENV`, else `.demo/env`) and makes a user
//! or project of its own through [`KeystoneAdmin`], so that tests never meet.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]
mod cluster;
mod counting_proxy;
mod env;
mod gate;
mod keystone;
mod kube_apiserver;
mod kubectl;

pub use cluster::{Bearer, Cluster};
pub use counting_proxy::CountingProxy;
pub use env::TestEnv;
pub use gate::Gate;
pub use keystone::{KeystoneAdmin, TestDomain, TestUser};
pub use kube_apiserver::KubeApiServer;
pub use kubectl::Kubectl;
