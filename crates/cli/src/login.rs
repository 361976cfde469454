//! `portico login`: a session for this machine, approved by a click in the browser.
use super::{
    CommandError,
    api::Gateway,
    browser, device, direct,
    profile::{self, Profile},
    session::{self, Session},
    terminal::say,
};
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

/// Runs `portico login`.
pub async fn login(args: LoginArgs) -> Result<(), CommandError> {
    if let Some(cloud) = &args.cloud {
        return direct::login(cloud, &args).await;
    }
    let known = match &args.url {
        Some(url) => Profile::load(&profile::gateway_url(url)?)?,
        None => Some(Profile::choose(None)?),
    };
    let url = match (&args.url, &known) {
        (Some(url), _) => profile::gateway_url(url)?,
        (None, Some(known)) => known.gateway.clone(),
        (None, None) => return Err(CommandError::NoProfile),
    };
    let ca = match &args.ca_file {
        Some(path) => Some(
            std::fs::read_to_string(path).map_err(|source| CommandError::File {
                path: path.clone(),
                source,
            })?,
        ),
        None => known.and_then(|known| known.ca),
    };
    let gateway = Gateway::new(url.clone(), ca.as_deref())?;
    gateway.ping().await?;
    let client = this_machine();
    let tokens = if args.device {
        device::sign_in(&gateway, &client).await?
    } else {
        browser::sign_in(&gateway, &client, !args.no_browser).await?
    };
    let profile = session::with_tokens(url, ca, tokens);
    // those of the previous session, possibly of another user
    profile::forget_tokens()?;
    profile.save()?;
    say(format!("Signed in at {}.", gateway.name()));
    let names: Vec<String> = Session::new(profile)?
        .clusters()
        .await?
        .into_iter()
        .map(|cluster| cluster.name)
        .collect();
    if names.is_empty() {
        say("No cluster is open to your project yet; ask your cloud's administrators for a role.");
    } else {
        say(format!(
            "Clusters: {}. Next: `portico kubeconfig --cluster {}`",
            names.join(", "),
            names[0]
        ));
    }
    Ok(())
}

/// Returns the client name that is shown to the user who approves, and later in the list of
/// sessions.
fn this_machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "portico".to_owned(),
        name => format!("portico on {name}"),
    }
}
