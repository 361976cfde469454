//! `GET /projects/{p}/clusters/{c}/namespaces/{ns}/pods/{pod}/exec`: a shell in a container.
//!
//! Binary frames carry input and output. Text frames are JSON: from the browser
//! `{"type":"resize","columns":80,"rows":24}`; to it `{"type":"started"}` and, at the end,
//! `{"type":"ended","reason":"…","exit_code":0,"missing":null,"who_can":null}`; `missing` is the
//! permission that was refused ([`RightQuestion`]), if one was, and `who_can` the address of the page
//! that shows who has it.
use super::{PING_INTERVAL, REVIEW_INTERVAL, TOKEN_EXPIRED, check, token_over};
use crate::session_budgets::{LimitReached, Resource, Share};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{exec, reviews},
    service::{Services, error::ServiceError},
};
use axum::{
    extract::{
        Path, Query, State, WebSocketUpgrade,
        ws::{self, WebSocket},
    },
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use futures::{SinkExt, StreamExt};
use portico_domain::panel::RightQuestion;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::{Instant, interval_at};
use tokio_tungstenite::tungstenite;
use uuid::Uuid;

const MAX_FRAME_BYTES: usize = 256 * 1024;
const BROWSER_GONE: &str = "The browser disconnected.";

/// Channels of `v4.channel.k8s.io`: the first byte of each frame to and from the API server.
const STDIN: u8 = 0;
const STATUS: u8 = 3;
const RESIZE: u8 = 4;

/// The pod.
#[derive(Clone, Deserialize)]
pub struct Target {
    project: String,
    cluster: Uuid,
    namespace: String,
    pod: String,
}

/// The container; the pod's first if empty.
#[derive(Deserialize)]
pub struct Container {
    #[serde(default)]
    container: String,
}

/// Opens the terminal.
pub async fn open(
    State(services): State<Arc<Services>>,
    caller: Caller,
    Path(target): Path<Target>,
    Query(Container { container }): Query<Container>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(refusal) = check(&services, &caller, &target.project, &headers) {
        return refusal.into_response();
    }
    // before the upgrade, so that the response's head can report it
    let shell = connect(&services, &caller, &target, &container).await;
    upgrade
        .max_message_size(MAX_FRAME_BYTES)
        .on_upgrade(move |socket| run(socket, services, caller, target, container, shell))
}

/// An open shell, and its share of the session's budget.
type Shell = (kube::client::Connection, Share);

/// Opens the shell, and records the outcome.
async fn connect(
    services: &Services,
    caller: &Caller,
    target: &Target,
    container: &str,
) -> Result<Shell, End> {
    let shell = within_budget(services, caller, target, container).await;
    let outcome = shell
        .as_ref()
        .map_or_else(|end| end.outcome, |_| Outcome::Started);
    audit::record(
        caller,
        "exec",
        target.cluster,
        &name(target, container),
        outcome,
    );
    shell
}

/// Opens the shell, if the session may have another one.
async fn within_budget(
    services: &Services,
    caller: &Caller,
    target: &Target,
    container: &str,
) -> Result<Shell, End> {
    let share = services
        .budgets
        .take(caller.session_id(), Resource::Terminals, 1)
        .map_err(End::no_room)?;
    let opened = async {
        let (api, _) = services.api(caller, target.cluster).await?;
        let connection = exec::open(&api, &target.namespace, &target.pod, container).await;
        connection.map_err(ServiceError::from)
    };
    let connection = opened.await.map_err(|error| End::failed(&error))?;
    Ok((connection, share))
}

fn name(target: &Target, container: &str) -> String {
    format!("{}/pods/{}/{container}", target.namespace, target.pod)
}

/// How a terminal ended.
#[derive(Debug)]
struct End {
    message: String,
    /// The permission that is missing, if that is the reason.
    missing: Option<Box<RightQuestion>>,
    exit_code: Option<i64>,
    outcome: Outcome,
}

impl End {
    fn failed(error: &ServiceError) -> Self {
        Self {
            message: error.message.clone(),
            missing: error.missing.clone(),
            exit_code: None,
            outcome: if error.kind == app::error::UiErrorKind::NotPermitted {
                Outcome::Refused
            } else {
                Outcome::Failed
            },
        }
    }

    fn no_room(reached: LimitReached) -> Self {
        Self {
            message: reached.to_string(),
            missing: None,
            exit_code: None,
            outcome: Outcome::Refused,
        }
    }

    fn done(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            missing: None,
            exit_code: None,
            outcome: Outcome::Done,
        }
    }
}

async fn run(
    mut socket: WebSocket,
    services: Arc<Services>,
    caller: Caller,
    target: Target,
    container: String,
    shell: Result<Shell, End>,
) {
    let end = match shell {
        // the share is released when the shell has ended
        Ok((connection, _share)) => {
            let end = session(&mut socket, &services, &caller, &target, connection).await;
            let name = name(&target, &container);
            audit::record(&caller, "exec", target.cluster, &name, end.outcome);
            end
        }
        Err(end) => end,
    };
    // the browser may have disconnected already
    let last = last(&end, &target);
    let _ = socket.send(ws::Message::Text(last.into())).await;
    let _ = socket.send(ws::Message::Close(None)).await;
}

/// Returns the text of the last frame.
fn last(end: &End, target: &Target) -> String {
    let missing = end.missing.as_deref();
    let who_can =
        missing.map(|missing| app::routes::who_can(&target.project, target.cluster, missing));
    let ended = json!({
        "type": "ended",
        "reason": end.message,
        "exit_code": end.exit_code,
        "missing": end.missing,
        "who_can": who_can,
    });
    ended.to_string()
}

async fn session(
    socket: &mut WebSocket,
    services: &Services,
    caller: &Caller,
    target: &Target,
    connection: kube::client::Connection,
) -> End {
    let mut shell = connection.into_stream();
    let started = json!({ "type": "started" }).to_string();
    if socket
        .send(ws::Message::Text(started.into()))
        .await
        .is_err()
    {
        return End::done(BROWSER_GONE);
    }
    let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    let mut recheck = interval_at(Instant::now() + REVIEW_INTERVAL, REVIEW_INTERVAL);
    let over = token_over(caller, &services.clock);
    tokio::pin!(over);
    let end = loop {
        tokio::select! {
            from_shell = shell.next() => match from_shell {
                Some(Ok(tungstenite::Message::Binary(frame))) => match frame.first() {
                    Some(&STATUS) => break ended(&frame[1..]),
                    Some(1 | 2) if frame.len() > 1 => {
                        let sent = socket.send(ws::Message::Binary(frame.slice(1..))).await;
                        if sent.is_err() {
                            break End::done(BROWSER_GONE);
                        }
                    }
                    _ => {}
                },
                Some(Ok(tungstenite::Message::Close(_))) | None => {
                    break End::done("The container closed the terminal.");
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    tracing::debug!(%error, "terminal connection lost");
                    break End {
                        message: "The connection to the container was lost.".to_owned(),
                        missing: None,
                        exit_code: None,
                        outcome: Outcome::Failed,
                    };
                }
            },
            from_browser = socket.recv() => match from_browser {
                Some(Ok(message @ (ws::Message::Binary(_) | ws::Message::Text(_)))) => {
                    let Some(frame) = frame(&message) else { continue };
                    if shell.send(tungstenite::Message::Binary(frame)).await.is_err() {
                        break End::done("The container closed the terminal.");
                    }
                }
                Some(Ok(ws::Message::Close(_)) | Err(_)) | None => {
                    break End::done(BROWSER_GONE);
                }
                Some(Ok(_)) => {}
            },
            _ = ping.tick() => {
                let to_browser = socket.send(ws::Message::Ping(Vec::new().into())).await;
                let to_shell = shell.send(tungstenite::Message::Ping(Vec::new().into())).await;
                if to_browser.is_err() || to_shell.is_err() {
                    break End::done("The connection was closed.");
                }
            }
            _ = recheck.tick() => {
                if let Err(error) = allowed(services, caller, target).await {
                    break End::failed(&error);
                }
            }
            () = &mut over => break End::done(TOKEN_EXPIRED),
        }
    };
    // without this the shell would keep running in the container
    let _ = shell
        .send(tungstenite::Message::Binary(vec![STDIN, 0x04].into()))
        .await;
    let _ = shell.close(None).await;
    end
}

/// Returns the browser's input in the API server's format; `None` for a text that is not
/// understood.
fn frame(message: &ws::Message) -> Option<bytes::Bytes> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Control {
        Resize { columns: u16, rows: u16 },
    }
    let (channel, content) = match message {
        ws::Message::Binary(typed) => (STDIN, typed.to_vec()),
        ws::Message::Text(text) => {
            let Control::Resize { columns, rows } = serde_json::from_str(text).ok()?;
            let size = json!({ "Width": columns, "Height": rows });
            (RESIZE, size.to_string().into_bytes())
        }
        _ => return None,
    };
    let mut frame = Vec::with_capacity(content.len() + 1);
    frame.push(channel);
    frame.extend(content);
    Some(frame.into())
}

/// Reads the status that the API server sends at the end.
fn ended(status: &[u8]) -> End {
    let status: Value = serde_json::from_slice(status).unwrap_or_default();
    if status["status"] == "Success" {
        return End {
            exit_code: Some(0),
            ..End::done("The shell has ended.")
        };
    }
    let exit_code = status
        .pointer("/details/causes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|cause| cause["reason"] == "ExitCode")
        .and_then(|cause| cause["message"].as_str())
        .and_then(|code| code.parse().ok());
    match exit_code {
        Some(127 | 126) => End {
            message: "This image has no shell, so no terminal can be opened in it.".to_owned(),
            missing: None,
            exit_code,
            outcome: Outcome::Failed,
        },
        Some(code) => End {
            message: format!("The shell has ended with exit code {code}."),
            missing: None,
            exit_code,
            outcome: Outcome::Done,
        },
        None => {
            let message = status["message"].as_str().unwrap_or("no reason was given");
            let no_shell = message.contains("no such file") || message.contains("not found");
            End {
                message: if no_shell {
                    "This image has no shell, so no terminal can be opened in it.".to_owned()
                } else {
                    format!("The terminal has ended: {message}.")
                },
                missing: None,
                exit_code: None,
                outcome: Outcome::Failed,
            }
        }
    }
}

async fn allowed(
    services: &Services,
    caller: &Caller,
    target: &Target,
) -> Result<(), ServiceError> {
    let (api, _) = services.api(caller, target.cluster).await?;
    let question = RightQuestion {
        verb: "get".to_owned(),
        group: String::new(),
        resource: "pods".to_owned(),
        subresource: "exec".to_owned(),
        namespace: Some(target.namespace.clone()),
        name: Some(target.pod.clone()),
    };
    if reviews::review_now(&api, &question).await?.allowed {
        Ok(())
    } else {
        Err(ServiceError::lacks(question))
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
