//! The commands that people run on their own machine: sign in from a terminal, get a
//! kubeconfig, be kubectl's exec plugin, sign out. They read no configuration file of the
//! server's; where things are they know from the profile or pin that `portico login` wrote.
mod api;
mod browser;
mod clusters;
mod credential;
mod device;
mod direct;
mod error;
mod exec_info;
mod kubeconfig;
mod kubectl;
mod login;
mod logout;
mod private_file;
mod profile;
mod refresh_detection;
mod session;
mod status;
mod terminal;
mod token_cache;
mod whoami;

pub use clusters::{ClustersArgs, clusters};
pub use credential::{CredentialArgs, credential};
pub use direct::sign_in_at;
pub use error::PeopleError;
pub use kubeconfig::{KubeconfigArgs, kubeconfig};
pub use login::{LoginArgs, login};
pub use logout::{LogoutArgs, logout};
pub use status::{SignIn, State, StatusArgs, status};
pub use terminal::{one_line, printable, say};
pub use whoami::{WhoAmIArgs, whoami};

/// The gateway knows the command line by this public OAuth client (RFC 8252: no secret).
const CLIENT_ID: &str = "portico-cli";
