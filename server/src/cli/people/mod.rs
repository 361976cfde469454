//! The commands that people run on their own machine: sign in from a terminal, get a
//! kubeconfig, be kubectl's exec plugin, sign out. They read no configuration file; everything
//! that they know is the profile that `portico login` wrote.
mod api;
mod browser;
mod credential;
mod device;
mod error;
mod kubeconfig;
mod kubectl;
mod login;
mod logout;
mod private_file;
mod profile;

pub use credential::{CredentialArgs, credential};
pub use error::PeopleError;
pub use kubeconfig::{KubeconfigArgs, kubeconfig};
pub use login::{LoginArgs, login};
pub use logout::{LogoutArgs, logout};

/// The gateway knows the command line by this public OAuth client (RFC 8252: no secret).
const CLIENT_ID: &str = "portico-cli";
