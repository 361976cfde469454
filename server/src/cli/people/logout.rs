//! `portico logout`: ends this machine's session and forgets what it left here.
use super::{
    PeopleError,
    api::Gateway,
    private_file,
    profile::{self, Profile},
};
use clap::Args;

/// Ends this machine's session
///
/// The gateway revokes the session and every token that it gave out; the kubeconfig stays and
/// works again after the next `portico login`.
#[derive(Args, Debug)]
pub struct LogoutArgs {
    /// The gateway's URL; may be left out when you have signed in at one gateway
    pub url: Option<String>,
}

/// Runs `portico logout`.
pub async fn logout(args: LogoutArgs) -> Result<(), PeopleError> {
    let profile = Profile::choose(args.url.as_deref())?;
    let gateway = Gateway::of(&profile)?;
    // what lies here goes first: a gateway that is down must not keep a token usable on this machine
    private_file::remove(&profile::path(&profile.gateway)?)?;
    profile::forget_tokens()?;
    gateway.revoke(&profile.refresh_token).await?;
    eprintln!("Signed out at {}.", gateway.name());
    Ok(())
}
