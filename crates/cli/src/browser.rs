//! Sign-in with the browser of this machine: a loopback redirect (RFC 8252 section 7.3) with
//! PKCE (RFC 7636, S256).
use super::{
    CLIENT_ID, CommandError,
    api::{Gateway, Tokens},
    terminal::say,
};
use axum::{
    Router,
    extract::{Query, State},
    http::header,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::Rng as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{net::TcpListener, sync::oneshot};

/// How long an approval page is valid.
const SIGN_IN_TIMEOUT: Duration = Duration::from_mins(5);

const DONE_PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Portico</title>\
<body><h1>This machine is signed in</h1><p>You can close this tab and go back to the terminal.</p>";
const REFUSED_PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Portico</title>\
<body><h1>Not signed in</h1><p>The terminal shows the reason. You can close this tab.</p>";

#[derive(Deserialize)]
struct Callback {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

type Outcome = Result<String, CommandError>;

#[derive(Clone)]
struct Waiting {
    state: Arc<str>,
    outcome: Arc<Mutex<Option<oneshot::Sender<Outcome>>>>,
}

/// Opens the approval page and waits for the redirect.
pub async fn sign_in(
    gateway: &Gateway,
    client: &str,
    open_browser: bool,
) -> Result<Tokens, CommandError> {
    let listening = |source| CommandError::File {
        path: "127.0.0.1".into(),
        source,
    };
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(listening)?;
    let redirect = format!(
        "http://127.0.0.1:{}/callback",
        listener.local_addr().map_err(listening)?.port()
    );
    let (verifier, state) = (random(), random());
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));

    let mut address = gateway.endpoint("/oauth2/authorize");
    address
        .query_pairs_mut()
        .append_pair("response_type", "code")
        .append_pair("client_id", CLIENT_ID)
        .append_pair("client_name", client)
        .append_pair("redirect_uri", &redirect)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .append_pair("state", &state);

    let (sender, receiver) = oneshot::channel();
    let waiting = Waiting {
        state: state.into(),
        outcome: Arc::new(Mutex::new(Some(sender))),
    };
    let router = Router::new()
        .route("/callback", get(callback))
        .with_state(waiting);
    #[allow(clippy::disallowed_methods, reason = "it ends with the command")]
    let server = tokio::spawn(async move { axum::serve(listener, router).await });

    say(format!(
        "Approve this machine in your browser:\n  {address}"
    ));
    if open_browser && open::that_detached(address.as_str()).is_err() {
        say("(No browser could be opened; follow the address above, or use --device.)");
    }
    let outcome = tokio::time::timeout(SIGN_IN_TIMEOUT, receiver).await;
    // the page with the message is still being sent
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.abort();
    let code = outcome
        .map_err(|_| CommandError::TimedOut)?
        .map_err(|_| CommandError::TimedOut)??;

    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", CLIENT_ID),
        ("code", &code),
        ("redirect_uri", &redirect),
        ("code_verifier", &verifier),
    ];
    gateway
        .token(&form)
        .await?
        .map_err(|error| CommandError::SignInRefused(error.to_string()))
}

async fn callback(State(waiting): State<Waiting>, Query(callback): Query<Callback>) -> Response {
    // another program's redirect: ignored, and no reason to stop waiting
    if callback.state.as_deref() != Some(&*waiting.state) {
        return page(REFUSED_PAGE);
    }
    let outcome = match (callback.code, callback.error) {
        (Some(code), None) => Ok(code),
        (_, error) => Err(CommandError::SignInRefused(
            callback
                .error_description
                .or(error)
                .unwrap_or_else(|| "no code came back".to_owned()),
        )),
    };
    let text = if outcome.is_ok() {
        DONE_PAGE
    } else {
        REFUSED_PAGE
    };
    let sender = waiting
        .outcome
        .lock()
        .ok()
        .and_then(|mut sender| sender.take());
    if let Some(sender) = sender {
        // the receiver is dropped only when the time is over
        let _ = sender.send(outcome);
    }
    page(text)
}

fn page(text: &'static str) -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ];
    (headers, Html(text)).into_response()
}

fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}
