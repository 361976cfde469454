//! `portico login`: a session for this machine, approved by a click in the browser.
use super::{
    CommandError,
    api::Gateway,
    browser, device, direct,
    login_arguments::LoginArgs,
    profile::{self, Profile},
    session::{self, Session},
    terminal::say,
};
use portico_clock::Clock;

/// Runs `portico login`.
pub async fn login(args: LoginArgs, clock: &Clock) -> Result<(), CommandError> {
    if let Some(cloud) = &args.cloud {
        return direct::login(cloud, &args, clock).await;
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
    let profile = session::with_tokens(url, ca, tokens, clock.now());
    // those of the previous session, possibly of another user
    profile::forget_tokens()?;
    profile.save()?;
    say(format!("Signed in at {}.", gateway.name()));
    let names: Vec<String> = Session::new(profile, clock)?
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
