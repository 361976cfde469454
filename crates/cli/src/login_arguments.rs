//! The arguments of `portico login`.
use clap::Args;
use std::path::PathBuf;

/// Sign in from this terminal
///
/// Opens the gateway in a browser, where you sign in (or are signed in already) and approve this
/// machine. Without a browser, use --device: it shows a code to type in on another device.
/// The session ends with `portico logout`, or with the browser session that approved it.
///
/// With --cloud (CI, scripts, no browser anywhere) it signs in at Keystone with the credentials of
/// clouds.yaml or OS_* instead, and pins that Keystone, this gateway and the clusters' sealing keys for the
/// cloud. From then on only these are used, whatever a kubeconfig, clouds.yaml or OS_AUTH_URL names.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  portico login https://portico.example.org\n  portico login --device https://portico.example.org\n  portico login --cloud acme https://portico.example.org      # acme is in clouds.yaml\n  portico login --cloud envvars https://portico.example.org   # OS_AUTH_URL and the others"
)]
pub struct LoginArgs {
    /// The gateway's URL; may be left out when you have signed in at one gateway before
    pub url: Option<String>,
    /// Show a code to approve on another device, instead of opening a browser here
    #[arg(long)]
    pub device: bool,
    /// Print the address instead of opening a browser
    #[arg(long, conflicts_with = "device")]
    pub no_browser: bool,
    /// PEM file of the authority that signed the gateway's certificate, if it is a private one
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Sign in at Keystone as this cloud of clouds.yaml, or `envvars` for the OS_* variables
    #[arg(long, value_name = "NAME", conflicts_with_all = ["device", "no_browser"])]
    pub cloud: Option<String>,
    /// Pin another Keystone or gateway than the one that the cloud is pinned to
    #[arg(long, requires = "cloud")]
    pub repin: bool,
}
