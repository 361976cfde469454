//! The commands that users run on their own machine: sign in from a terminal, get a kubeconfig, act
//! as kubectl's exec plugin, create and watch clusters, sign out. They read no configuration file of the server; the addresses
//! are in the profile or pin that `portico login` wrote.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, wait, and read the real time"
    )
)]
mod api;
mod browser;
mod cluster;
mod clusters;
mod credential;
mod device;
mod direct;
mod direct_error;
mod error;
mod exec_info;
pub mod exit_code;
mod kubeconfig;
mod kubectl;
mod login;
mod login_arguments;
mod logout;
pub mod output;
mod private_file;
mod profile;
mod refresh_detection;
mod session;
mod status;
mod terminal;
mod token_cache;
mod whoami;

pub use cluster::{ClusterArgs, cluster};
pub use clusters::{ClustersArgs, clusters};
pub use credential::{CredentialArgs, credential};
pub use direct::sign_in_at;
pub use error::CommandError;
pub use kubeconfig::{KubeconfigArgs, kubeconfig};
pub use login::login;
pub use login_arguments::LoginArgs;
pub use logout::{LogoutArgs, logout};
pub use status::{SignIn, State, StatusArgs, status};
pub use terminal::{one_line, printable, say};
pub use whoami::{WhoAmIArgs, whoami};

/// The client ID of the command line, a public OAuth client (RFC 8252: no secret).
const CLIENT_ID: &str = "portico-cli";
