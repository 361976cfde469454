//! Sign-in on another device (RFC 8628).
use super::{
    CLIENT_ID, CommandError,
    api::{Gateway, Tokens},
    terminal::say,
};
use secrecy::ExposeSecret as _;
use std::time::Duration;
use tokio::time::Instant;

/// Shows the code and polls until it was approved, denied or has expired.
pub async fn sign_in(gateway: &Gateway, client: &str) -> Result<Tokens, CommandError> {
    let started = gateway
        .device_authorization(&[("client_id", CLIENT_ID), ("client_name", client)])
        .await?;
    say(format!(
        "On any device, open\n  {}\nand approve the code\n  {}",
        started.verification_uri, started.user_code
    ));
    if let Some(complete) = &started.verification_uri_complete {
        say(format!("or follow\n  {complete}"));
    }
    let deadline = Instant::now() + Duration::from_secs(started.expires_in);
    let mut interval = Duration::from_secs(started.interval.clamp(1, 30));
    let form = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("client_id", CLIENT_ID),
        ("device_code", started.device_code.expose_secret()),
    ];
    while Instant::now() < deadline {
        tokio::time::sleep(interval).await;
        match gateway.token(&form).await? {
            Ok(tokens) => return Ok(tokens),
            Err(error) => match error.error.as_str() {
                "authorization_pending" => {}
                "slow_down" => interval += Duration::from_secs(5),
                "expired_token" => return Err(CommandError::TimedOut),
                _ => return Err(CommandError::SignInRefused(error.to_string())),
            },
        }
    }
    Err(CommandError::TimedOut)
}
