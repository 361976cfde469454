//! The command line: its ways in (loopback redirect with PKCE, device code), its tokens, and
//! what it fetches with them.
pub(crate) mod authorize;
pub(crate) mod bearer;
pub(crate) mod clusters;
pub(crate) mod device;
pub(crate) mod direct;
pub(crate) mod pkce;
pub(crate) mod revoke;
pub(crate) mod token;
pub(crate) mod whoami;

use crate::session::live::Live;

/// The one client that there is.
const CLIENT_ID: &str = "portico-cli";
const LONGEST_CLIENT: usize = 80;

/// A client's name for itself, fit to be shown.
fn shown_client(given: &str) -> String {
    let name: String = given
        .chars()
        .filter(|c| !c.is_control())
        .take(LONGEST_CLIENT)
        .collect();
    if name.trim().is_empty() {
        "portico on an unnamed machine".to_owned()
    } else {
        name
    }
}

/// The names of the projects that a command line can act in.
fn project_names(live: &Live) -> Vec<String> {
    live.root()
        .projects
        .iter()
        .map(|project| project.name.clone())
        .collect()
}
