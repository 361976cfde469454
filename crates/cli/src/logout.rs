//! `portico logout`: ends this machine's session and deletes its local files.
use super::{
    CommandError,
    api::Gateway,
    direct, private_file,
    profile::{self, Profile},
    terminal::say,
};
use clap::Args;
use portico_clock::Clock;

/// End this machine's session
///
/// The gateway revokes the session and every token that it issued; the kubeconfig stays and
/// works again after the next `portico login`.
#[derive(Args, Debug)]
pub struct LogoutArgs {
    /// The gateway's URL; may be left out when you have signed in at one gateway
    pub url: Option<String>,
    /// Revoke the Keystone token of this cloud instead (`portico login --cloud`)
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub cloud: Option<String>,
    /// Also remove the pinned addresses of the cloud's Keystone and gateway
    #[arg(long, requires = "cloud")]
    pub forget: bool,
}

/// Runs `portico logout`.
pub async fn logout(args: LogoutArgs, clock: &Clock) -> Result<(), CommandError> {
    if let Some(cloud) = &args.cloud {
        return direct::logout(cloud, args.forget, clock).await;
    }
    let profile = Profile::choose(args.url.as_deref())?;
    let gateway = Gateway::of(&profile)?;
    // local files first: a gateway that is down must not keep a token usable on this machine
    private_file::remove(&profile::path(&profile.gateway)?)?;
    profile::forget_tokens()?;
    gateway.revoke(&profile.refresh_token).await?;
    say(format!("Signed out at {}.", gateway.name()));
    Ok(())
}
