//! For tests only: the running stack of real services, and what a test may create in it.
//!
//! A test that needs services loads [`TestEnv`] (the stack's env file, `PORTICO_TEST_ENV`, else
//! `.demo/env`) and creates a user or project of its own through [`KeystoneAdmin`], so that tests
//! do not affect each other.
#![allow(
    clippy::disallowed_methods,
    reason = "tests start servers and clients beside them, wait, and read the real time"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod cluster;
mod counting_proxy;
mod env;
mod front_proxy;
pub mod fuzz;
mod gate;
mod gateway;
mod keystone;
mod kube_apiserver;
mod kubectl;
mod loopback;
mod oidc;
mod person;
mod postgres_server;
mod redis_server;
mod snapshot;

pub use cluster::{Bearer, Cluster};
pub use counting_proxy::CountingProxy;
pub use env::{TestEnv, project_root};
pub use front_proxy::{FrontProgram, FrontProxy, shipped};
pub use gate::Gate;
pub use gateway::{Cloud, OwnGateway};
pub use keystone::{
    FederatedPerson, KeystoneAdmin, TestDomain, TestIdentityProvider, TestUser, single_sign_on,
};
pub use kube_apiserver::KubeApiServer;
pub use kubectl::Kubectl;
pub use loopback::KeystoneProxy;
pub use oidc::{CLIENT_ID, CLIENT_SECRET, OidcEvent, OidcPerson, OidcProvider};
pub use person::{CommandOutput, Person, exec_info};
pub use postgres_server::PostgresServer;
pub use redis_server::RedisServer;
pub use snapshot::{html_lines, snapshot_settings};

/// Returns a program that was built with the running test: it is above the test's own `deps`.
///
/// # Errors
/// If it was not built.
pub fn program(name: &str) -> anyhow::Result<std::path::PathBuf> {
    let test = std::env::current_exe()?;
    let found = test
        .ancestors()
        .skip(1)
        .take(3)
        .map(|directory| directory.join(name))
        .find(|path| path.is_file());
    found.ok_or_else(|| anyhow::anyhow!("{name} is not built: run `cargo build -p server`"))
}
